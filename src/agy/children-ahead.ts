/**
 * Children that are started before there is a prompt for them: the CLI takes seconds before it can work, and needs no prompt for
 * that (agy 1.1.18, the recording 12; 2026-12-01). How many wait and for how long is bounded, since some versions are not idle
 * while they wait.
 */
import type { StartedAhead } from '../engine/contract.ts'

/** Limits of all children that wait. */
export interface AheadLimits {
  /** Children that wait at once, beside those that run; `0` starts none ahead. */
  readonly max: number
  /** Longest time that one waits from the moment that it was started, in milliseconds. */
  readonly idleMs: number
}

/** None: no recording shows how a real CLI waits for minutes. */
export const DEFAULT_AHEAD: AheadLimits = { max: 0, idleMs: 60_000 }

/** What a waiting child has to offer: its own end, and to put everything away. */
interface Waiting {
  readonly left: Promise<unknown>
  discard(): Promise<void>
}

/** One child that waits, or is being started for that. */
export class ChildAhead<Child extends Waiting> implements StartedAhead {
  private readonly starting: Promise<Child | undefined>
  private readonly stopping = new AbortController()
  private readonly timer: NodeJS.Timeout
  private readonly onOver: () => void
  private isTaken = false

  /**
   * @param start - starts the child; it may fail, which nobody hears of.
   * @param onOver - nothing waits any more.
   */
  constructor(start: (signal: AbortSignal) => Promise<Child | undefined>, idleMs: number, onOver: () => void) {
    this.onOver = onOver
    this.timer = setTimeout(() => this.end(), idleMs)
    this.timer.unref()
    this.starting = start(this.stopping.signal).catch(() => undefined)
    void this.starting.then(child => (child === undefined ? this.end() : child.left.then(() => this.end())))
  }

  /**
   * Take the child, if it still waits: from here on it is the caller's.
   *
   * @param signal - breaks its start off, if that is still under way.
   */
  async take(signal: AbortSignal): Promise<Child | undefined> {
    if (this.isTaken || this.stopping.signal.aborted) return undefined
    this.isTaken = true
    this.over()
    const stop = (): void => this.stopping.abort()
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await this.starting
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  end(): void {
    void this.ended()
  }

  /** The same, and wait until nothing is left. */
  async ended(): Promise<void> {
    if (this.isTaken) return
    this.stopping.abort()
    this.over()
    await (await this.starting)?.discard()
  }

  private over(): void {
    clearTimeout(this.timer)
    this.onOver()
  }
}

/** All children that wait. */
export class ChildrenAhead<Child extends Waiting> {
  private readonly limits: AheadLimits
  private readonly waiting = new Set<ChildAhead<Child>>()
  private isClosed = false

  constructor(limits: AheadLimits) {
    this.limits = limits
  }

  /** How many wait. */
  get size(): number {
    return this.waiting.size
  }

  /** Start one; the one that waits longest makes room for it. */
  start(start: (signal: AbortSignal) => Promise<Child | undefined>): ChildAhead<Child> | undefined {
    if (this.limits.max === 0 || this.isClosed) return undefined
    const [oldest] = this.waiting
    if (oldest !== undefined && this.waiting.size >= this.limits.max) oldest.end()
    const ahead: ChildAhead<Child> = new ChildAhead(start, this.limits.idleMs, () => this.waiting.delete(ahead))
    this.waiting.add(ahead)
    return ahead
  }

  /** End all, and start no more. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([...this.waiting].map(ahead => ahead.ended()))
  }
}
