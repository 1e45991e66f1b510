/**
 * Second pure layer: the CLI's events become the engine's neutral events.
 *
 * Deterministic: the same frames give the same events, byte for byte. Deltas and the closing envelope are reconciled
 * here, duplicates are dropped, and token counts are made to add up to the result's.
 */
import type { EngineEvent } from '../engine/contract.ts'
import { AnswerText, type Settlement } from './answer-text.ts'
import { deniesCall } from './denied-calls.ts'
import type { Decision, HookAsk } from './hooks/ask.ts'
import { type Breach, type CallPlace, GatedCalls } from './hooks/gated-calls.ts'
import { shownArguments } from './hooks/tools.ts'
import { TokenCount } from './tokens.ts'
import { OrderedEvents, ToolLedger } from './tool-ledger.ts'
import type { AgyEvent, AgyResult, AgyStep, AgyTool } from './wire.ts'

/** What the outcome needs to know of the frames once the run is over. */
export interface FoldSummary {
  /** The closing frame, if one came. */
  readonly result?: AgyResult
  /** Text of the answer that was told, in all segments. */
  readonly text: string
  /** Whether any frame was understood. */
  readonly understood: boolean
  /** Whether some tool ended without an error. */
  readonly toolSucceeded: boolean
  /** Messages of the tools that ended in an error. */
  readonly toolErrors: readonly string[]
}

const TOOL_STEPS: ReadonlySet<string> = new Set(['tool', 'subagent', 'finish'])

/** Tools whose DONE frame never has an output, or has a mere size: an empty one says nothing about a denial. */
const QUIET_TOOLS: ReadonlySet<string> = new Set([
  'write_to_file',
  'replace_file_content',
  'multi_replace_file_content',
  'sed_file',
  'view_file',
])

/** What the fold makes of a call that the CLI asks about. */
export interface AskedCall {
  readonly events: readonly EngineEvent[]
  /** Of its `tool-call`; a call of a subagent has none. */
  readonly id?: string
  /** It is denied already, and this is why. */
  readonly refusal?: string
}

type StepPlace = Pick<AgyStep, 'conversationId' | 'index'>

/** Folds the events of one run. */
export class Fold {
  private readonly order = new OrderedEvents()
  private readonly ledger = new ToolLedger()
  private readonly text = new AnswerText()
  private readonly tokens = new TokenCount()
  private readonly finishedResponses = new Set<string>()
  private readonly quiet = new Map<string, number>()
  private readonly strange = new Map<string, number>()
  private readonly scope: string
  private readonly gated: GatedCalls | undefined
  private conversation: string | undefined
  private last: StepPlace & { readonly key: string } = { conversationId: undefined, index: Number.NaN, key: '' }
  private parked: { name: string; event: Extract<EngineEvent, { type: 'tool-result' }> } | undefined
  private result: AgyResult | undefined
  private understood = false
  private begun = false
  private toolSucceeded = false
  private readonly toolErrors: string[] = []
  private failedModelCalls = 0

  /**
   * @param scope - of the run within its session: begins the ids of its calls.
   * @param gating - the CLI asks about each call before it makes it: a call is announced when it does, since it tells more
   *   of it then. `guarded`: what it does without a permission is a breach.
   */
  constructor(scope: string, gating?: 'guarded' | 'unguarded') {
    this.scope = scope
    this.gated = gating && new GatedCalls(gating === 'guarded')
  }

  /** Take the next event of the CLI; returns what can be told now. */
  push(event: AgyEvent): EngineEvent[] {
    for (const member of event.strangeMembers) this.tally(this.strange, `member "${member}"`)
    switch (event.kind) {
      case 'init':
        this.understood = true
        this.conversation ??= event.conversationId
        break
      case 'step':
        this.understood = true
        this.begun = true
        this.step(event.step)
        break
      case 'result':
        this.understood = true
        // One prompt is one turn: a second result would belong to nobody.
        if (this.result === undefined) this.close(event.result)
        break
      case 'command-result':
        this.understood = true
        this.notice('AGY_COMMAND_RESULT', `The CLI answered the command "${event.name}" by itself.`)
        break
      case 'unknown':
        this.tally(this.strange, `event "${event.event}"`)
        break
    }
    return this.order.take()
  }

  /** The CLI asks about a call before it makes it. */
  ask(ask: HookAsk): AskedCall {
    this.begun = true
    this.conversation ??= ask.conversationId
    const step = { conversationId: ask.conversationId, index: ask.stepIndex }
    const key = this.keyOf(step)
    const isNew = !this.gated?.knows(key)
    const known = this.ledger.callOf(key)
    const refusal = this.gated?.asks(key, ask) ?? (known && 'This step is over already.')
    if (ask.conversationId === this.conversation && isNew && known === undefined) {
      const tool = { name: ask.name, parameters: shownArguments(ask.args) }
      this.tell(...this.ledger.start(key, this.idOf(step), tool))
    }
    if (refusal !== undefined) {
      return { events: isNew ? this.decide(ask, { kind: 'denied', reason: refusal }) : this.order.take(), refusal }
    }
    const id = this.ledger.callOf(key)?.id
    return { events: this.order.take(), ...(id !== undefined && { id }) }
  }

  /** The call that was asked about is decided on. Without a permission it has its result at once, whatever frames follow. */
  decide({ conversationId, stepIndex: index }: HookAsk, decision: Decision): EngineEvent[] {
    const step = { conversationId, index }
    const key = this.keyOf(step)
    this.gated?.decided(key, decision.kind)
    if (decision.kind !== 'allowed' && this.ledger.isUnderWay(key)) {
      const ended = this.ledger.end(key, this.idOf(step), {})
      const denied = decision.kind === 'denied'
      const text = denied ? `Denied: ${decision.reason}` : decision.text
      if (ended !== undefined) this.tell({ type: 'tool-result', id: ended.call.id, text, isError: denied })
    }
    return this.order.take()
  }

  /** The child is being stopped: what fails from now on may fail for that. */
  cut(): void {
    this.gated?.cut()
  }

  /** Calls that ended while they were still being decided on: nobody waits for the decision any more. */
  takeUndecided(): readonly CallPlace[] {
    return this.gated?.takeUndecided() ?? []
  }

  /** What shows that the CLI does not keep to the decisions on its calls. */
  get breach(): Breach | undefined {
    return this.gated?.breach
  }

  /** No frame will follow; returns the rest. A call left open stays open: its closing is the recorder's. */
  finish(): EngineEvent[] {
    this.unpark(undefined)
    for (const { step, id, tool } of this.gated?.takeHeld() ?? []) this.tell(...this.ledger.start(step, id, tool))
    this.tell(...this.ledger.announceRest())
    this.tellCounts('AGY_QUIET_STEPS', 'The CLI took steps that it does not describe', this.quiet)
    this.tellCounts('AGY_UNKNOWN_FRAMES', 'The CLI sent what this version does not know', this.strange)
    this.order.release()
    return this.order.take()
  }

  /** Whether the closing frame came. */
  get isOver(): boolean {
    return this.result !== undefined
  }

  /** Whether the CLI took up the prompt: some step of it was told, or asked about. */
  get hasBegun(): boolean {
    return this.begun
  }

  /** Whether a tool is running. */
  get isToolOpen(): boolean {
    return this.ledger.hasOpenCall || (this.gated?.isHolding ?? false)
  }

  /** What the frames said in all. */
  summary(): FoldSummary {
    const { result, text, understood, toolSucceeded, toolErrors } = this
    return { ...(result && { result }), text: text.toString(), understood, toolSucceeded, toolErrors }
  }

  private tell(...events: EngineEvent[]): void {
    for (const event of events) {
      if (event.type === 'tool-call') this.text.store()
      this.order.push(event)
    }
  }

  private notice(code: string, message: string): void {
    this.tell({ type: 'notice', code, message })
  }

  private tally(counts: Map<string, number>, what: string): void {
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }

  private tellCounts(code: string, what: string, counts: ReadonlyMap<string, number>): void {
    if (counts.size === 0) return
    this.notice(code, `${what}: ${[...counts].map(([name, times]) => `${name} ×${times}`).join(', ')}.`)
  }

  private step(step: AgyStep): void {
    this.unpark(undefined)
    this.conversation ??= step.conversationId
    if (step.state === 'unknown') this.tally(this.strange, `state of a "${step.type}" step`)
    if (this.gated !== undefined && step.tool?.name !== undefined && !TOOL_STEPS.has(step.type)) {
      // Whatever the CLI calls the step: a tool is named in it.
      this.tool(step)
      return
    }
    switch (step.type) {
      case 'agent_response':
        this.response(step)
        return
      case 'tool':
      case 'subagent':
      case 'finish':
        this.tool(step)
        return
      case 'error_message':
        this.failedModelCalls += 1
        this.notice(
          'AGY_MODEL_CALL_FAILED',
          `A model call failed inside the CLI (${this.failedModelCalls} so far); the CLI decides whether it tries again.`,
        )
        return
      case 'user_input':
        return
      // They carry nothing to show: titles, reports of background work, questions that the CLI skipped by itself.
      case 'unknown':
        // A prompt of the CLI's own loses its name on the wire once it was asked about (1.2.16, a public driver; 2026-12-03).
        if (this.gated?.knows(this.keyOf(step))) {
          this.tool(step)
          return
        }
        this.tally(this.quiet, step.type)
        return
      case 'checkpoint':
      case 'system_message':
      case 'title':
        this.tally(this.quiet, step.type)
        return
      default:
        this.tally(this.strange, `step type "${step.type}"`)
    }
  }

  /**
   * Identity of a step: its index within its conversation. A frame without an id belongs to the run's own conversation,
   * whether that was told by then or not. Steps of the CLI's subagents were never seen on the wire; if one comes, it is
   * no step of ours with the same number.
   */
  private keyOf({ conversationId, index }: StepPlace): string {
    // One delta after the other is of the same step.
    if (this.last.index !== index || this.last.conversationId !== conversationId) {
      const foreign = conversationId !== undefined && conversationId !== this.conversation
      this.last = { conversationId, index, key: `${foreign ? conversationId : ''}#${index ?? 'unnumbered'}` }
    }
    return this.last.key
  }

  /** The scope keeps calls of two runs apart, whatever the CLI names its conversations: the host's page takes no id twice. */
  private idOf({ conversationId, index }: StepPlace): string {
    const conversation = conversationId ?? this.conversation
    const run = conversation === undefined ? this.scope : `${this.scope}-${conversation}`
    return `${run}-tool-${index ?? 'unnumbered'}`
  }

  private response(step: AgyStep): void {
    const key = this.keyOf(step)
    if (step.index !== undefined && this.finishedResponses.has(key)) return
    if (step.text !== undefined) {
      this.text.add(step.text)
      this.order.push({ type: 'text', text: step.text })
    }
    if (step.state === 'ACTIVE') return
    if (step.index !== undefined) this.finishedResponses.add(key)
    if (step.usage !== undefined) this.tell({ type: 'usage', usage: this.tokens.add(step.usage) })
  }

  private tool(step: AgyStep): void {
    const tool: AgyTool = step.tool ?? {}
    const key = this.keyOf(step)
    if (step.state !== 'DONE' && step.state !== 'ERROR') {
      if (this.gated?.starts(key, this.idOf(step), tool)) return
      this.tell(...this.ledger.start(key, this.idOf(step), tool))
      return
    }
    // `finish` and `subagent` close a call that was opened as a tool; alone they are steps of the CLI's own.
    if (step.type === 'finish' && !this.ledger.isUnderWay(key) && !this.gated?.holds(key)) return
    if (this.gated?.ends(key, step)) {
      if (tool.error !== undefined) this.toolErrors.push(tool.error)
      return
    }
    const ended = this.ledger.end(key, this.idOf(step), tool)
    if (ended === undefined) return
    this.tell(...ended.events)
    const { id, name } = ended.call
    const failed = step.state === 'ERROR' || tool.error !== undefined
    if (failed) {
      const message = tool.error ?? 'The tool failed; the CLI gave no reason.'
      this.toolErrors.push(message)
      this.tell({ type: 'tool-result', id, text: message, isError: true })
      return
    }
    const text = tool.output ?? step.subagents?.join('\n') ?? ''
    const event = { type: 'tool-result', id, text, isError: false } as const
    // agy 1.3.1 reports a denied call as DONE without output; only the result's denied_actions tells. So wait for one more frame.
    if (text === '' && step.type === 'tool' && !QUIET_TOOLS.has(name)) this.parked = { name, event }
    else this.settle(event)
  }

  private settle(event: Extract<EngineEvent, { type: 'tool-result' }>): void {
    if (event.isError) this.toolErrors.push(event.text)
    else this.toolSucceeded = true
    this.tell(event)
  }

  private unpark(result: AgyResult | undefined): void {
    if (this.parked === undefined) return
    const { name, event } = this.parked
    this.parked = undefined
    const denied = result !== undefined && deniesCall(result, name)
    this.settle(
      denied ? { ...event, isError: true, text: 'Permission denied: the CLI cannot ask in headless mode.' } : event,
    )
  }

  private close(result: AgyResult): void {
    this.result = result
    this.unpark(result)
    this.settleText(this.text.settle(result.response))
    const rest = this.tokens.settle(result.usage)
    if (rest === 'fewer') {
      this.notice('AGY_USAGE_DIFFERS', 'The CLI reported fewer tokens in all than in its steps; the steps are counted.')
    } else if (rest !== undefined) {
      this.tell({ type: 'usage', usage: rest })
    }
  }

  private settleText(settlement: Settlement | undefined): void {
    if (settlement === undefined) return
    if (settlement === 'differs') {
      this.notice(
        'AGY_TEXT_DIFFERS',
        'The CLI repeated its answer with other words than it streamed; the streamed text is kept.',
      )
    } else if ('tail' in settlement) {
      this.tell({ type: 'text', text: settlement.tail })
    } else {
      this.tell({ type: 'text-settled', text: settlement.instead })
    }
  }
}
