/**
 * The calls of a run whose every call has to be asked about: what was asked, what was decided, and whether the frames keep to it.
 *
 * The frame of a call comes 0.05 to 0.1 s before the hook is asked (two public drivers, 1.2.16; 2026-12-03), but either order is
 * taken. A call that goes through unasked, or in spite of a denial, is a breach.
 */
import { createHash } from 'node:crypto'
import type { AgyStep, AgyTool } from '../wire.ts'
import type { HookAsk } from './ask.ts'
import { kindOf } from './tools.ts'

/** Why a run cannot go on: the gate does not hold what it promises. */
export interface Breach {
  readonly code: 'AGY_GATE_BYPASSED' | 'AGY_GATE_TAMPERED'
  readonly message: string
}

/** A call by the two numbers that the hook names it by. */
export type CallPlace = Pick<HookAsk, 'conversationId' | 'stepIndex'>

type Verdict = 'pending' | 'allowed' | 'denied' | 'answered'

interface AskedCall {
  readonly place: CallPlace
  readonly name: string
  readonly args: unknown
  verdict: Verdict
  /** A frame has told its end. */
  isOver: boolean
}

/** A call that its frame has told, and that the hook has not been asked about. */
interface HeldCall {
  readonly id: string
  readonly tool: AgyTool
}

/**
 * Errors of calls that were not started: refused by the CLI before it asks anybody, denied by a hook or by the CLI itself, or cut
 * off with the whole run (recordings of 1.1.8 to 1.3.1, see probes 05, 13, 20 and 32).
 */
const NEVER_STARTED =
  /^(?:declaring permissions: |tool call denied by pre-tool hook|permission check failed |context canceled|interrupted$)/

/** Keeps the calls of one run, by the identity of their step. */
export class GatedCalls {
  private readonly asked = new Map<string, AskedCall>()
  private readonly held = new Map<string, HeldCall>()
  private readonly isGuarded: boolean
  private undecided: CallPlace[] = []
  private isCut = false
  private found: Breach | undefined

  /** @param isGuarded - whether a call that nobody allowed is a breach. */
  constructor(isGuarded: boolean) {
    this.isGuarded = isGuarded
  }

  /** What the frames and the hook do not agree on, if there is something. */
  get breach(): Breach | undefined {
    return this.found
  }

  /** The run is being stopped: a failure says no more whether its call was started. */
  cut(): void {
    this.isCut = true
  }

  /** Whether a call waits for the hook. */
  get isHolding(): boolean {
    return this.held.size > 0
  }

  /** Whether this call waits for the hook. */
  holds(step: string): boolean {
    return this.held.has(step)
  }

  /** Whether this call was asked about. */
  knows(step: string): boolean {
    return this.asked.has(step)
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
    return asked.isOver || asked.verdict === 'denied' || asked.verdict === 'answered'
  }

  /**
   * A frame says that a call has ended.
   *
   * @returns whether the call has its result already.
   */
  ends(step: string, frame: AgyStep): boolean {
    const tool = frame.tool ?? {}
    const asked = this.asked.get(step)
    if (asked === undefined) {
      const name = tool.name ?? this.held.get(step)?.tool.name
      this.held.delete(step)
      if (!this.mayEndUnasked(name, frame))
        this.breached(`"${name ?? 'a tool'}" ran although nobody was asked about it`)
      return false
    }
    this.compare(asked, tool)
    // A prompt of the CLI's own has nameless frames once it was asked about, and says nothing of what it did.
    const ran = this.hasRun(frame) && (tool.name !== undefined || frame.type !== 'unknown')
    if (ran && asked.verdict === 'pending') this.breached(`"${asked.name}" ran before anybody had decided on it`)
    if (ran && asked.verdict === 'denied') this.breached(`"${asked.name}" ran although it was denied`)
    const isTold = asked.isOver || asked.verdict === 'denied' || asked.verdict === 'answered'
    if (!asked.isOver && asked.verdict === 'pending') this.undecided.push(asked.place)
    asked.isOver = true
    return isTold
  }

  /**
   * The hook is asked about a call.
   *
   * @returns why it must be denied whatever the rules say.
   */
  asks(step: string, { conversationId, stepIndex, name, args }: HookAsk): string | undefined {
    if (this.asked.has(step)) return 'This step was asked about before; one step is one call.'
    const held = this.held.get(step)
    this.held.delete(step)
    const asked: AskedCall = {
      place: { conversationId, stepIndex },
      name,
      args: compact(args),
      verdict: 'pending',
      isOver: false,
    }
    this.asked.set(step, asked)
    if (held !== undefined) {
      return agrees(held.tool, asked) ? undefined : 'The CLI tells its host about another call than its hook.'
    }
    const looksAlike = [...this.held].some(
      ([other, { tool }]) => ofOneConversation(other, step) && tool.name === name && agrees(tool, asked),
    )
    return looksAlike ? 'The CLI tells its host another number of this step than its hook.' : undefined
  }

  /** The call of the step is decided on; the first decision stands. */
  decided(step: string, verdict: Exclude<Verdict, 'pending'>): void {
    const asked = this.asked.get(step)
    if (asked?.verdict === 'pending') asked.verdict = verdict
  }

  /** Calls that ended while they were still being decided on, each told once. */
  takeUndecided(): readonly CallPlace[] {
    const { undecided } = this
    if (undecided.length > 0) this.undecided = []
    return undecided
  }

  /** Calls that were told and never asked about; the run is over. */
  takeHeld(): readonly (HeldCall & { readonly step: string })[] {
    const held = [...this.held].map(([step, call]) => ({ step, ...call }))
    this.held.clear()
    return held
  }

  /** Whether the end of a call shows that it was started. */
  private hasRun({ state, tool }: AgyStep): boolean {
    if (state !== 'ERROR' && tool?.error === undefined) return true
    // A nameless failure tells nothing.
    return tool?.name !== undefined && !this.isCut && !NEVER_STARTED.test(tool.error ?? '')
  }

  /** What cannot have done anything, or was never started, needs nobody's word. */
  private mayEndUnasked(name: string | undefined, frame: AgyStep): boolean {
    if (name === 'finish' || (name === undefined && frame.type === 'finish')) return true
    const failed = frame.state === 'ERROR' || frame.tool?.error !== undefined
    if (!failed) return false
    return this.isCut || (name !== undefined && kindOf(name) === 'read') || NEVER_STARTED.test(frame.tool?.error ?? '')
  }

  private compare(asked: AskedCall, tool: AgyTool): void {
    const counts = asked.isOver || asked.verdict === 'allowed'
    if (counts && !agrees(tool, asked)) {
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

const ofOneConversation = (a: string, b: string): boolean =>
  a.slice(0, a.lastIndexOf('#')) === b.slice(0, b.lastIndexOf('#'))

/** Frames leave out some arguments; what both tell has to be the same. */
function agrees({ name, parameters = {} }: AgyTool, asked: Pick<AskedCall, 'name' | 'args'>): boolean {
  return (name === undefined || name === asked.name) && isPartOf(compact(parameters), asked.args)
}

/** Texts of calls are kept up to this length, in characters; a longer one, such as a whole file, by its digest. */
const KEPT = 256

function compact(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length <= KEPT ? value : `sha256 ${createHash('sha256').update(value).digest('hex')}`
  }
  if (Array.isArray(value)) return value.map(compact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, compact(inner)]))
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
  // A 64-bit number may be a text in one of the two, and is rounded in the other.
  if (typeof part === 'number' || typeof whole === 'number') return Number(part) === Number(whole)
  return part === whole
}
