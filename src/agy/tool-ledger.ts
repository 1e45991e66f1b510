/**
 * The calls of one run: who they are, which one is open, and what has to wait for it.
 *
 * The CLI has no call ids and no promise of order, while a dsh step may hold one open call at a time. So each call gets
 * a synthesized id, and everything that arrives while a call is open waits in line until that call has its result.
 */
import type { EngineEvent } from '../engine/contract.ts'
import { tellCall } from './vocabulary.ts'
import type { AgyTool } from './wire.ts'

/** One call of the run, in the CLI's own words. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string
  settled: boolean
}

type CallEvent = Extract<EngineEvent, { type: 'tool-call' | 'tool-result' }>

/** Puts the events of a run in an order that a dsh log can hold; each event costs the same, however many wait. */
export class OrderedEvents {
  private waiting: EngineEvent[] = []
  private next = 0
  /** Results that wait, by their call: one of them may pass all others as soon as its call is open. */
  private readonly results = new Map<string, EngineEvent>()
  private ready: EngineEvent[] = []
  private open: string | undefined

  /** Add an event; it comes out of `take` as soon as no open call stands before it. */
  push(event: EngineEvent): void {
    if (this.open !== undefined && !this.settlesOpenCall(event)) {
      this.waiting.push(event)
      if (event.type === 'tool-result') this.results.set(event.id, event)
      return
    }
    this.tell(event)
    if (this.waiting.length > 0) this.advance()
  }

  /** The run is over: an open call will never settle, so what waited for it comes out behind it. */
  release(): void {
    while (this.next < this.waiting.length) {
      this.open = undefined
      this.advance()
    }
  }

  /** All events that may be told now, in order. */
  take(): EngineEvent[] {
    const { ready } = this
    this.ready = []
    return ready
  }

  private tell(event: EngineEvent): void {
    if (event.type === 'tool-call') this.open = event.id
    if (event.type === 'tool-result') this.open = undefined
    this.ready.push(event)
  }

  private advance(): void {
    while (this.next < this.waiting.length) {
      const settled = this.open === undefined ? undefined : this.results.get(this.open)
      if (this.open !== undefined && settled === undefined) return
      const event = settled ?? (this.waiting[this.next] as EngineEvent)
      if (settled === undefined) this.next += 1
      // A result that passed others is met once more where it waited.
      if (event.type === 'tool-result' && !this.results.delete(event.id)) continue
      this.tell(event)
    }
    this.waiting = []
    this.next = 0
  }

  private settlesOpenCall(event: EngineEvent): boolean {
    return event.type === 'tool-result' && event.id === this.open
  }
}

/** Turns the CLI's repeated, partial or missing tool frames into one call and one result. */
export class ToolLedger {
  private readonly calls = new Map<string, Call>()
  private readonly uses = new Map<string, number>()
  private unsettled = 0
  /** Calls seen without parameters so far: they are announced when the parameters arrive, or with their result. */
  private readonly unannounced = new Map<string, { readonly id: string; readonly tool: AgyTool }>()

  /** Whether some call is under way. */
  get hasOpenCall(): boolean {
    return this.unannounced.size > 0 || this.unsettled > 0
  }

  /** Whether the step is a call that is under way. */
  isUnderWay(step: string): boolean {
    return this.unannounced.has(step) || this.calls.get(step)?.settled === false
  }

  /** The call of a step, if it was announced. */
  callOf(step: string): Call | undefined {
    return this.calls.get(step)
  }

  /**
   * A tool started, or said again that it runs.
   *
   * @param step - identity of the CLI's step.
   * @param id - given to its call; a step that holds a second call gives it the id with `-2`.
   * @returns the announcement, unless it was made before or the parameters are still to come.
   */
  start(step: string, id: string, tool: AgyTool): CallEvent[] {
    if (this.isRepeat(step, tool)) return []
    const known = { ...this.unannounced.get(step)?.tool, ...tool }
    if (known.parameters === undefined) {
      this.unannounced.set(step, { id, tool: known })
      return []
    }
    return [this.announce(step, id, known)]
  }

  /**
   * A tool ended. A tool that was never announced is announced first.
   *
   * @returns the call with its announcement, or nothing when the call has its result already.
   */
  end(step: string, id: string, tool: AgyTool): { call: Call; events: CallEvent[] } | undefined {
    const open = this.calls.get(step)
    if (open !== undefined && !open.settled) return { call: this.settle(open), events: [] }
    if (this.isRepeat(step, tool)) return undefined
    const events = [this.announce(step, id, { ...this.unannounced.get(step)?.tool, ...tool })]
    return { call: this.settle(this.calls.get(step) as Call), events }
  }

  /** Announce, with what is known of them, the calls that never told their parameters. */
  announceRest(): CallEvent[] {
    return [...this.unannounced].map(([step, { id, tool }]) => this.announce(step, id, tool))
  }

  /** The frame tells nothing new of a call that this step is known to have. */
  private isRepeat(step: string, tool: AgyTool): boolean {
    const call = this.calls.get(step)
    if (call === undefined) return false
    if (!call.settled) return true
    const sameName = tool.name === undefined || tool.name === call.name
    const sameArguments = tool.parameters === undefined || JSON.stringify(tool.parameters) === call.arguments
    return sameName && sameArguments
  }

  private settle(call: Call): Call {
    call.settled = true
    this.unsettled -= 1
    return call
  }

  private announce(step: string, id: string, tool: AgyTool): CallEvent {
    this.unannounced.delete(step)
    const use = (this.uses.get(step) ?? 0) + 1
    this.uses.set(step, use)
    const call: Call = {
      id: use === 1 ? id : `${id}-${use}`,
      name: tool.name ?? 'unknown',
      arguments: JSON.stringify(tool.parameters ?? {}),
      settled: false,
    }
    this.calls.set(step, call)
    this.unsettled += 1
    return { type: 'tool-call', id: call.id, ...tellCall(call.name, tool.parameters ?? {}) }
  }
}
