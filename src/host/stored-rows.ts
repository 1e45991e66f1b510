/**
 * One row of a stored log. The first generation packs runs of chunks into one row and unpacks them by
 * `decodeStorageRecord`; the later one stores no chunks and exports nothing of the kind: a row is an event (`eventLine` in
 * `packages/session/session-persistence-jsonl/src/format.ts`).
 */
import { type HostApi, INSTALLED } from './generation.ts'

/** The events of one parsed row. */
export function eventsOfRow(row: unknown, { session }: HostApi = INSTALLED): readonly unknown[] {
  const decode = session.decodeStorageRecord as ((row: unknown) => readonly unknown[]) | undefined
  return decode === undefined ? [row] : decode(row)
}
