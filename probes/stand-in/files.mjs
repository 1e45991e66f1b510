/** Files by which a test tells the stand-in that its time has come. */
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Wait until something is at a path; rejects when the signal is aborted. */
export async function appears(path, { signal } = {}) {
  while (!existsSync(path)) await pause(5, undefined, { signal })
}
