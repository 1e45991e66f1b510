/**
 * The events of a session's log: a list on the session in the first generation, a snapshot on demand in the later one
 * (`snapshotEvents` in `packages/core/session/src/index.ts`, which keeps the snapshot until the next append).
 */
import type { Session, SessionEvent } from '@deepseek-ai/dsh-session'

interface LaterSession {
  snapshotEvents(): readonly SessionEvent[]
}

/** All events of a session, oldest first. */
export function eventsOf(session: Session): readonly SessionEvent[] {
  return session.events ?? (session as unknown as LaterSession).snapshotEvents()
}
