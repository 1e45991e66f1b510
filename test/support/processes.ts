/** Asks the machine about its processes. */
import { readFileSync } from 'node:fs'

/** Whether a process runs; one that has ended may wait for some time until its parent takes note of it. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
