/**
 * The calls of a run whose every call has to be asked about: what was asked, what was decided, and whether the frames keep to it.
 *
 * The frame of a call comes 0.05 to 0.1 s before the hook is asked (two public drivers, 1.2.16; 2026-12-03), but either order is
 * taken. A call that goes through unasked, or in spite of a denial, is a breach.
 */
import type { AgyStep, AgyTool } from '../wire.ts'
import type { HookAsk } from './ask.ts'
import { kindOf } from './tools.ts'

/** Why a run cannot go on: the gate does not hold what it promises. */
export interface Breach {
  readonly code: 'AGY_GATE_BYPASSED' | 'AGY_GATE_TAMPERED'
  readonly message: string
}

type State = 'asked' | 'allowed' | 'denied' | 'answered' | 'ended'

interface AskedCall {
  readonly name: string
  /** Forgotten when the call is over: they may hold whole files. */
  args: HookAsk['args']
  state: State
}

/** A call that its frame has told, and that the hook has not been asked about. */
interface HeldCall {
  readonly id: string
  readonly tool: AgyTool
}

/** Errors of calls that the CLI gave up before it asked anybody (recordings of 1.1.18; another hook's denial: probe 32). */
const NEVER_STARTED = /^(?:declaring permissions: |tool call denied by pre-tool hook)/

/** Keeps the calls of one run, by the identity of their step. */
export class GatedCalls {
  private readonly asked = new Map<string, AskedCall>()
  private readonly held = new Map<string, HeldCall>()
  private readonly isGuarded: boolean
  private found: Breach | undefined

  /** @param isGuarded - whether a call that nobody allowed is a breach. */
  constructor(isGuarded: boolean) {
    this.isGuarded = isGuarded
  }

  /** What the frames and the hook do not agree on, if there is something. */
  get breach(): Breach | undefined {
    return this.found
  }

  /** Whether a call waits for the hook. */
  get isHolding(): boolean {
    return this.held.size > 0
  }

  /** Whether this call waits for the hook. */
  holds(step: string): boolean {
    return this.held.has(step)
  }

  stateOf(step: string): State | undefined {
    return this.asked.get(step)?.state
  }

  /**
   * A frame says that a call runs.
   *
   * @returns whether it is told already, or waits until it is asked about.
   */
  starts(step: string, id: string, tool: AgyTool): boolean {
    const asked = this.asked.get(step)
    if (asked === undefined) {
      this.held.set(step, { id, tool: { ...this.held.get(step)?.tool, ...tool } })
      return true
    }
    this.compare(asked, tool)
    return asked.state !== 'asked' && asked.state !== 'allowed'
  }

  /**
   * A frame says that a call has ended.
   *
   * @returns whether the call has its result already.
   */
  ends(step: string, frame: AgyStep): boolean {
    const tool = frame.tool ?? {}
    const failed = frame.state === 'ERROR' || tool.error !== undefined
    const asked = this.asked.get(step)
    if (asked === undefined) {
      const name = tool.name ?? this.held.get(step)?.tool.name ?? 'unknown'
      this.held.delete(step)
      if (!mayEndUnasked(name, frame, failed)) this.breached(`"${name}" ran although nobody was asked about it`)
      return false
    }
    this.compare(asked, tool)
    switch (asked.state) {
      case 'asked':
        if (!failed) this.breached(`"${asked.name}" ran before anybody had decided on it`)
        settle(asked, 'ended')
        return false
      case 'allowed':
        settle(asked, 'ended')
        return false
      case 'denied':
        if (!failed && frame.type !== 'unknown') this.breached(`"${asked.name}" ran although it was denied`)
        return true
      case 'answered':
      case 'ended':
        return true
    }
  }

  /**
   * The hook is asked about a call.
   *
   * @returns why it must be denied whatever the rules say.
   */
  asks(step: string, { name, args }: HookAsk): string | undefined {
    if (this.asked.has(step)) return 'This step was asked about before; one step is one call.'
    const held = this.held.get(step)
    this.held.delete(step)
    const asked: AskedCall = { name, args, state: 'asked' }
    this.asked.set(step, asked)
    if (held !== undefined && !agrees(held.tool, asked))
      return 'The CLI tells its host about another call than its hook.'
    if (held === undefined && [...this.held.values()].some(({ tool }) => tool.name === name && agrees(tool, asked))) {
      return 'The CLI tells its host another number of this step than its hook.'
    }
    return undefined
  }

  decided(step: string, state: 'allowed' | 'denied' | 'answered'): void {
    const asked = this.asked.get(step)
    if (asked?.state !== 'asked') return
    if (state === 'allowed') asked.state = state
    else settle(asked, state)
  }

  /** Calls that were told and never asked about; the run is over. */
  takeHeld(): readonly (HeldCall & { readonly step: string })[] {
    const held = [...this.held].map(([step, call]) => ({ step, ...call }))
    this.held.clear()
    return held
  }

  private compare(asked: AskedCall, tool: AgyTool): void {
    if ((asked.state === 'allowed' || asked.state === 'ended') && !agrees(tool, asked)) {
      this.breached(`another call ran than "${asked.name}", which had been asked about`)
    }
  }

  private breached(what: string): void {
    if (!this.isGuarded) return
    this.found ??= {
      code: 'AGY_GATE_BYPASSED',
      message: `The CLI does not keep to dsh's approvals: ${what}. The run was ended; an action may already have happened.`,
    }
  }
}

function settle(asked: AskedCall, state: State): void {
  asked.state = state
  asked.args = {}
}

/** What cannot have done anything, or was never started, needs nobody's word. */
function mayEndUnasked(name: string, { type, tool }: AgyStep, failed: boolean): boolean {
  if (type === 'finish' || name === 'finish') return true
  return failed && (kindOf(name) === 'read' || NEVER_STARTED.test(tool?.error ?? ''))
}

/** Frames leave out some arguments; what both tell has to be the same. */
function agrees({ name, parameters = {} }: AgyTool, asked: { readonly name: string; readonly args: unknown }): boolean {
  return (name === undefined || name === asked.name) && isPartOf(parameters, asked.args)
}

function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.length === whole.length && part.every((item, at) => isPartOf(item, whole[at]))
  }
  if (typeof part === 'object' && part !== null) {
    if (typeof whole !== 'object' || whole === null) return false
    const other = whole as Readonly<Record<string, unknown>>
    return Object.entries(part).every(([key, value]) => !Object.hasOwn(other, key) || isPartOf(value, other[key]))
  }
  // A 64-bit number may be a text in one of the two.
  return String(part) === String(whole)
}
