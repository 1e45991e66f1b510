/** The clocks of one run: the time it may take in all, and the time it may be silent. */

/** Limits of one run, in milliseconds. */
export interface RunLimits {
  /** The whole run. */
  readonly deadlineMs: number
  /** From the start until the first frame. */
  readonly firstFrameMs: number
  /** Without a frame while no tool is open. */
  readonly stallMs: number
  /** Without a frame while a tool is open: the CLI holds a background command for up to 30 minutes (1.2.9 and later). */
  readonly toolStallMs: number
}

/**
 * Two hours in all: longer than any recorded run, short enough that a forgotten child ends. Two minutes for the start: it
 * waits for MCP servers for up to 90 s. Ten minutes of silence: the longest recorded inside a model call was 187 s.
 */
export const DEFAULT_RUN_LIMITS: RunLimits = {
  deadlineMs: 2 * 60 * 60_000,
  firstFrameMs: 2 * 60_000,
  stallMs: 10 * 60_000,
  toolStallMs: 31 * 60_000,
}

/** Which limit was reached. */
export type Limit = 'deadline' | 'first-frame' | 'stall'

/** Runs until one of its limits is reached, or it is stopped. It stands still while a person is asked something. */
export class RunClock {
  private readonly limits: RunLimits
  private readonly onLimit: (limit: Limit) => void
  private deadline: NodeJS.Timeout
  private deadlineAt: number
  private silence: NodeJS.Timeout
  /** Bound of the silence under way; none before the first word. */
  private silenceMs: number | undefined
  private pauses = 0
  /** What is left until the deadline while the clock stands still. */
  private leftMs = 0

  constructor(limits: RunLimits, onLimit: (limit: Limit) => void) {
    this.limits = limits
    this.onLimit = onLimit
    this.deadline = setTimeout(onLimit, limits.deadlineMs, 'deadline')
    this.deadlineAt = performance.now() + limits.deadlineMs
    this.silence = setTimeout(onLimit, limits.firstFrameMs, 'first-frame')
  }

  /** Something was said; the silence starts anew. */
  heard(toolOpen: boolean): void {
    const limit = toolOpen ? this.limits.toolStallMs : this.limits.stallMs
    if (limit === this.silenceMs && this.pauses === 0) {
      this.silence.refresh()
      return
    }
    this.silenceMs = limit
    if (this.pauses === 0) this.startSilence()
  }

  /** Stand still until as many `resume` have followed. */
  pause(): void {
    this.pauses += 1
    if (this.pauses > 1) return
    this.stop()
    this.leftMs = Math.max(0, this.deadlineAt - performance.now())
  }

  /** Go on; the silence starts anew. */
  resume(): void {
    this.pauses -= 1
    if (this.pauses > 0) return
    this.deadline = setTimeout(this.onLimit, this.leftMs, 'deadline')
    this.deadlineAt = performance.now() + this.leftMs
    this.startSilence()
  }

  /** Nothing is waited for any more. */
  stop(): void {
    clearTimeout(this.deadline)
    clearTimeout(this.silence)
  }

  private startSilence(): void {
    clearTimeout(this.silence)
    const [ms, limit] =
      this.silenceMs === undefined
        ? [this.limits.firstFrameMs, 'first-frame' as const]
        : [this.silenceMs, 'stall' as const]
    this.silence = setTimeout(this.onLimit, ms, limit)
  }
}
