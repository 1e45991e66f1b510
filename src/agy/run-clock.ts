/** The clocks of one run: the time it may take in all, and the time it may be silent. */

/** Limits of one run, in milliseconds. */
export interface RunLimits {
  /** The whole run. */
  readonly deadlineMs: number
  /** Without a frame while no tool is open; start-up counts too. */
  readonly stallMs: number
  /** Without a frame while a tool is open: the CLI holds a background command for up to 30 minutes (1.2.9 and later). */
  readonly toolStallMs: number
}

/**
 * Two hours in all: longer than any recorded run, short enough that a forgotten child ends. Ten minutes of silence: start-up
 * takes up to 90 s, and the longest silence recorded inside a model call was 187 s.
 */
export const DEFAULT_LIMITS: RunLimits = {
  deadlineMs: 2 * 60 * 60_000,
  stallMs: 10 * 60_000,
  toolStallMs: 31 * 60_000,
}

/** Runs until one of its limits is reached, or it is stopped. */
export class RunClock {
  private readonly limits: RunLimits
  private readonly onStall: () => void
  private readonly deadline: NodeJS.Timeout
  private stall: NodeJS.Timeout

  constructor(limits: RunLimits, onDeadline: () => void, onStall: () => void) {
    this.limits = limits
    this.onStall = onStall
    this.deadline = setTimeout(onDeadline, limits.deadlineMs)
    this.stall = setTimeout(onStall, limits.stallMs)
  }

  /** A frame came; the silence starts anew. */
  heard(toolOpen: boolean): void {
    clearTimeout(this.stall)
    this.stall = setTimeout(this.onStall, toolOpen ? this.limits.toolStallMs : this.limits.stallMs)
  }

  stop(): void {
    clearTimeout(this.deadline)
    clearTimeout(this.stall)
  }
}
