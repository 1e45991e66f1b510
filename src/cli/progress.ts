/** Says on stderr what is being done, once it takes longer than a second. */
import type { Io } from './command-line.ts'

/** From the last word until the next one, in milliseconds. */
const PATIENCE_MS = 1_000

/** What is larger takes longer than a second, and lets no timer through meanwhile. */
export const LONG_BYTES = 32 * 1024 * 1024

// A replay may hold the clocks of this process still.
const { setTimeout, clearTimeout } = globalThis
const now = performance.now.bind(performance)

/** What a command is at; nothing is written for one that is done at once. */
export class Progress {
  private readonly io: Pick<Io, 'err'>
  private told = now()
  private timer: NodeJS.Timeout | undefined

  constructor(io: Pick<Io, 'err'>) {
    this.io = io
  }

  /**
   * Take up the next piece of work.
   *
   * @param work - what is done now, as the end of "I am …".
   * @param isLong - known to take long without letting a timer through, so it is said at once.
   */
  at(work: string, isLong = false): void {
    clearTimeout(this.timer)
    const left = this.told + PATIENCE_MS - now()
    if (isLong || left <= 0) this.tell(work)
    else this.timer = setTimeout(() => this.tell(work), left)
    this.timer?.unref()
  }

  /** There is nothing left to do. */
  done(): void {
    clearTimeout(this.timer)
  }

  private tell(work: string): void {
    this.told = now()
    this.io.err(`· ${work} …`)
  }
}
