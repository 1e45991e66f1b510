/** Bounds how many children run at once, and how close together they start, over all sessions. */
import PQueue from 'p-queue'

/** Limits of all children together. */
export interface SlotLimits {
  /** Children at once. */
  readonly maxChildren: number
  /** Least time between two starts, in milliseconds. */
  readonly startGapMs: number
}

/**
 * Three or more cold starts at once hang or fail on some versions (antigravity-cli#573, agy 1.1.0; 2026). A child takes
 * some hundred megabytes.
 */
export const DEFAULT_SLOTS: SlotLimits = { maxChildren: 8, startGapMs: 500 }

/** Hands out the right to run a child, first come, first served. */
export class ChildSlots {
  private readonly queue: PQueue

  constructor({ maxChildren, startGapMs }: SlotLimits) {
    const gap = startGapMs > 0 ? { interval: startGapMs, intervalCap: 1, strict: true } : {}
    this.queue = new PQueue({ concurrency: maxChildren, ...gap })
  }

  /** Whether the next one has to wait until another child has ended. */
  get isFull(): boolean {
    return this.queue.pending + this.queue.size >= this.queue.concurrency
  }

  /**
   * Wait for a slot.
   *
   * @param signal - gives up waiting; a slot that is held is not taken away.
   * @returns gives the slot back.
   * @throws the signal's reason.
   */
  take(signal: AbortSignal): Promise<() => void> {
    const waiting = new AbortController()
    const giveUp = (): void => waiting.abort(signal.reason)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    return new Promise((resolve, reject) => {
      const hold = (): Promise<void> => {
        // From here on the slot is given back by its holder alone.
        signal.removeEventListener('abort', giveUp)
        return new Promise(release => resolve(release))
      }
      this.queue.add(hold, { signal: waiting.signal }).catch(reject)
    })
  }
}
