import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A private folder that is gone after the test. */
export function privateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-agy-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The stand-in for `agy`. */
export const STAND_IN = join(import.meta.dirname, '..', '..', 'probes', 'agy')
