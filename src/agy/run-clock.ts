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

/** Runs until one of its limits is reached, or it is stopped. */
export class RunClock {
  private readonly limits: RunLimits
  private readonly onLimit: (limit: Limit) => void
  private readonly deadline: NodeJS.Timeout
  private silence: NodeJS.Timeout
  /** Bound of the silence under way; none before the first word. */
  private silenceMs: number | undefined

  constructor(limits: RunLimits, onLimit: (limit: Limit) => void) {
    this.limits = limits
    this.onLimit = onLimit
    this.deadline = setTimeout(onLimit, limits.deadlineMs, 'deadline')
    this.silence = setTimeout(onLimit, limits.firstFrameMs, 'first-frame')
  }

  /** Something was said; the silence starts anew. */
  heard(toolOpen: boolean): void {
    const limit = toolOpen ? this.limits.toolStallMs : this.limits.stallMs
    if (limit === this.silenceMs) {
      this.silence.refresh()
      return
    }
    clearTimeout(this.silence)
    this.silenceMs = limit
    this.silence = setTimeout(this.onLimit, limit, 'stall')
  }

  stop(): void {
    clearTimeout(this.deadline)
    clearTimeout(this.silence)
  }
}
