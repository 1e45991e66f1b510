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
  private readonly onOver: (end?: Promise<void>) => void
  private isTaken = false
  private ending: Promise<void> | undefined

  /**
   * @param start - starts the child; it may fail, which nobody hears of.
   * @param onOver - nothing waits any more: it was taken, or it is being ended.
   */
  constructor(
    start: (signal: AbortSignal) => Promise<Child | undefined>,
    idleMs: number,
    onOver: (end?: Promise<void>) => void,
  ) {
    this.onOver = onOver
    this.timer = setTimeout(() => void this.end(), idleMs)
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
    if (this.isTaken || this.ending !== undefined) return undefined
    this.isTaken = true
    clearTimeout(this.timer)
    this.onOver()
    const stop = (): void => this.stopping.abort()
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await this.starting
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  end(): Promise<void> {
    if (this.isTaken) return Promise.resolve()
    if (this.ending === undefined) {
      clearTimeout(this.timer)
      this.ending = this.discard()
      this.onOver(this.ending)
    }
    return this.ending
  }

  private async discard(): Promise<void> {
    this.stopping.abort()
    await (await this.starting)?.discard()
  }
}

/** All children that wait. */
export class ChildrenAhead<Child extends Waiting> {
  private readonly limits: AheadLimits
  private readonly waiting = new Set<ChildAhead<Child>>()
  /** Those that are being ended: they are not gone yet. */
  private readonly ending = new Set<Promise<void>>()
  private isClosed = false

  constructor(limits: AheadLimits) {
    this.limits = limits
  }

  /** Start one; the one that waits longest makes room for it. */
  start(start: (signal: AbortSignal) => Promise<Child | undefined>): ChildAhead<Child> | undefined {
    if (this.limits.max === 0 || this.isClosed) return undefined
    const [oldest] = this.waiting
    if (oldest !== undefined && this.waiting.size >= this.limits.max) void oldest.end()
    const ahead: ChildAhead<Child> = new ChildAhead(start, this.limits.idleMs, end => {
      this.waiting.delete(ahead)
      if (end !== undefined) this.follow(end)
    })
    this.waiting.add(ahead)
    return ahead
  }

  /** Let `close` wait for an end that is under way. */
  follow(end: Promise<void>): void {
    const over = end.catch(() => {}).then(() => void this.ending.delete(over))
    this.ending.add(over)
  }

  /** End all, and start no more; resolves when none is left. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.all([...this.waiting].map(ahead => ahead.end()))
    await Promise.all(this.ending)
  }
}
