/**
 * The rules that a dsh session log keeps, for both generations of its format (format 0 and v4), checked over a list of
 * events. Pure: says everything that is wrong, each by the stable name of its rule, and repairs nothing.
 *
 * Read from dsh's public source: `packages/core/session/src/{invariant,repair,surface}.ts` and, for v4,
 * `packages/session/session-format-v3-to-v4/src/relationships.ts`.
 */
import { isDeepStrictEqual } from 'node:util'
import { KNOWN_SESSION_EVENT_TYPES, TOOL_OUTCOME_UNKNOWN } from '@deepseek-ai/dsh-session'
import { type Fields, fields } from '../agy/fields.ts'
import { hostRepair, isSeq, type LogEvent, list, readResult, readSurfaceOp } from './log-file.ts'

export type { LogEvent }

/** Each rule by its stable name, with what it asks for. */
export const LOG_RULES = [
  { name: 'seq-contiguous', asks: 'sequence numbers count up from 0 without a gap' },
  { name: 'known-event-type', asks: 'every event type is known to dsh, or the event is marked ignorable' },
  { name: 'surface-op', asks: 'exactly the events that make messages carry a surfaceOp, append or a whole replace' },
  { name: 'sources-allowed', asks: 'message events alone cite others, and only an assistant message cites none' },
  { name: 'stream-once', asks: 'an assistant message cites its chunks or carries its own stream, never both' },
  { name: 'sources-earlier', asks: 'cited events are earlier ones' },
  { name: 'sources-unique', asks: 'an event is cited once' },
  { name: 'replace-range', asks: 'a replace names two events of the surface, the first of them first' },
  { name: 'replace-cites-shadowed', asks: 'a replace cites every event that it shadows' },
  { name: 'replace-result', asks: 'a replaced result stands in a turn and changes the content of one result only' },
  { name: 'head-first', asks: 'a system message is appended as the first event of the surface' },
  { name: 'head-in-step', asks: 'a system message names the open turn and step' },
  { name: 'head-replaced-alone', asks: 'a system message replaces the head and nothing else, and nothing else does' },
  { name: 'turn-start-number', asks: 'a turn starts with the number after the last one' },
  { name: 'turn-start-while-open', asks: 'a turn starts while none is open' },
  { name: 'turn-end-number', asks: 'the open turn ends under its own number' },
  { name: 'turn-end-in-step', asks: 'a turn ends while no step is open' },
  { name: 'step-start-turn', asks: 'a step starts in the open turn' },
  { name: 'step-start-number', asks: 'steps count up from 1 in each turn' },
  { name: 'step-start-while-open', asks: 'a step starts while none is open' },
  { name: 'step-end-number', asks: 'the open step ends under its own number' },
  { name: 'step-scope', asks: "a step's messages, chunks, attempts, calls and results name the open turn and step" },
  { name: 'turn-scope', asks: 'request and todo events stand inside a turn' },
  { name: 'one-message-per-step', asks: 'a step has at most one assistant message' },
  { name: 'advertised-once', asks: 'an id is advertised once in a step' },
  { name: 'call-advertised', asks: 'a call was advertised by a message of its step' },
  { name: 'call-started-once', asks: 'a call starts once, and before its result' },
  { name: 'call-equal', asks: 'name and arguments of a call are byte-equal to the advertised block' },
  { name: 'result-shape', asks: 'a result is the one tool-result block of a user message, or a tool message' },
  { name: 'result-advertised', asks: 'a result answers a call that a message of its step advertised' },
  { name: 'result-once', asks: 'a call has one result' },
  { name: 'result-before-call', asks: "a result without a call is exactly the host's not-started repair" },
  { name: 'unknown-outcome-error', asks: "an outcome-unknown result is an error under the host's name for it" },
  { name: 'unknown-outcome-source', asks: 'an outcome-unknown result cites its call and nothing else' },
  { name: 'call-unresolved', asks: 'a step or turn ends after every call of it has its result' },
  { name: 'open-tail', asks: 'a complete log does not end inside a turn' },
] as const

/** Stable name of a rule of {@link LOG_RULES}. */
export type LogRule = (typeof LOG_RULES)[number]['name']

/** One broken rule. */
export interface LogViolation {
  readonly rule: LogRule
  /** Sequence number of the event that breaks it. */
  readonly seq: number
  /** One sentence: the event, what was found, and what the rule asks for. */
  readonly message: string
}

const ASKS = new Map<LogRule, string>(LOG_RULES.map(({ name, asks }) => [name, asks]))
/** What later generations know beside the types of the installed one. */
const LATER_EVENT_TYPES =
  'assistant/attempt deliverables/presented developer/message feedback/message-delete feedback/message-put ' +
  'image/offload model/selection session-log-deepseek/delivery-accepted subagent/catalog subagent/catalog-unknown ' +
  'subagent/model-selection-policy system/message tool/ptc-dispatch tool/ptc-dispatch-start workspace/changes'
const KNOWN: ReadonlySet<string> = new Set([...KNOWN_SESSION_EVENT_TYPES, ...LATER_EVENT_TYPES.split(' ')])
const SURFACE: ReadonlySet<string> = new Set(
  ['system', 'user', 'developer', 'assistant'].map(role => `${role}/message`).concat('tool/result'),
)

const TURN_SCOPED: ReadonlySet<string> = new Set(['request/header', 'request/context', 'todo/write'])
const STEP_SCOPED: ReadonlySet<string> = new Set(
  ['chunk', 'attempt', 'message']
    .map(what => `assistant/${what}`)
    .concat('developer/message', 'tool/call', 'tool/result'),
)
const isEdit = (event: LogEvent): boolean => typeof readSurfaceOp(event.surfaceOp) === 'object'

interface Call {
  readonly name: unknown
  readonly arguments: unknown
  callSeq?: number
  answered: boolean
}

/** Walks a log and collects what is wrong with it. */
class LogWalk {
  readonly violations: LogViolation[] = []
  private turn: number | undefined
  private step: number | undefined
  private lastTurn = 0
  private lastStep = 0
  private messages = 0
  private readonly surface: LogEvent[] = []
  private head: LogEvent | undefined
  private readonly calls = new Map<string, Call>()

  private expect(rule: LogRule, event: LogEvent, holds: boolean, found: string): void {
    if (holds) return
    this.violations.push({ rule, seq: event.seq, message: `${event.type} ${found}; expected: ${ASKS.get(rule)}` })
  }

  walk(event: LogEvent, index: number): void {
    this.expect('seq-contiguous', event, event.seq === index, `has number ${event.seq} where ${index} is due`)
    if (!KNOWN.has(event.type)) {
      this.expect('known-event-type', event, event.ignorable === true, 'is of a type that nobody knows')
      return
    }
    this.sources(event)
    const data = fields(event.data)
    if (SURFACE.has(event.type)) this.onSurface(event, data)
    else this.expect('surface-op', event, event.surfaceOp === undefined, 'carries a surfaceOp')
    if (TURN_SCOPED.has(event.type))
      this.expect('turn-scope', event, this.turn !== undefined, 'stands outside any turn')
    if (STEP_SCOPED.has(event.type) && !(event.type === 'tool/result' && isEdit(event))) {
      this.expect('step-scope', event, this.names(data), this.misplaced(data))
    }
    this.relations[event.type]?.(event, data)
  }

  /** The log is over. */
  end(last: LogEvent): void {
    this.expect('open-tail', last, this.turn === undefined, `is the last event, and turn ${this.turn} is open`)
  }

  private sources(event: LogEvent): void {
    const raw = event.sourceEventSeqs
    if (raw === undefined) return
    const cited = list(raw).filter(isSeq)
    const allowed = SURFACE.has(event.type) && Array.isArray(raw) && cited.length === raw.length
    const told = `cites ${shown(raw)}`
    this.expect('sources-allowed', event, allowed && (cited.length > 0 || event.type === 'assistant/message'), told)
    this.expect('sources-earlier', event, !cited.some(seq => seq >= event.seq), told)
    this.expect('sources-unique', event, new Set(cited).size === cited.length, told)
  }

  private onSurface(event: LogEvent, data: Fields): void {
    const op = readSurfaceOp(event.surfaceOp)
    this.expect('surface-op', event, op !== undefined, `carries ${shown(event.surfaceOp)}`)
    const system = event.type === 'system/message'
    if (system) this.expect('head-in-step', event, this.names(data), this.misplaced(data))
    if (op === undefined || op === 'append') {
      if (system) this.expect('head-first', event, this.surface.length === 0, 'comes after the surface has begun')
      this.surface.push(event)
    } else {
      const { start, end } = op
      const from = this.surface.findIndex(({ seq }) => seq === start)
      const to = this.surface.findIndex(({ seq }) => seq === end)
      const range = from !== -1 && to >= from
      this.expect('replace-range', event, range, `replaces ${start} to ${end}, which is no range now`)
      if (!range) return
      const shadowed = this.surface.splice(from, to - from + 1, event)
      const uncited = shadowed.filter(({ seq }) => !list(event.sourceEventSeqs).includes(seq))
      this.expect('replace-cites-shadowed', event, uncited.length === 0, `cites ${uncited.length} too few`)
      const alone = shadowed.length === 1 && shadowed[0] === this.head
      const ofHead = system ? alone : this.head === undefined || !shadowed.includes(this.head)
      this.expect('head-replaced-alone', event, ofHead, `replaces ${start} to ${end}`)
      if (event.type === 'tool/result') this.expectRewrite(event, shadowed)
    }
    if (system) this.head = event
  }

  private expectRewrite(event: LogEvent, [original, ...more]: readonly LogEvent[]): void {
    const { content: _, ...now } = readResult(event)
    const { content: __, ...before } = readResult(original ?? event)
    const one = original?.type === 'tool/result' && more.length === 0 && isDeepStrictEqual(now, before)
    this.expect('replace-result', event, one && this.turn !== undefined, 'changes more, or stands outside a turn')
  }

  private readonly relations: Readonly<Record<string, (event: LogEvent, data: Fields) => void>> = {
    'turn/start': (event, data) => this.turnStart(event, data),
    'turn/end': (event, data) => this.turnEnd(event, data),
    'step/start': (event, data) => this.stepStart(event, data),
    'step/end': (event, data) => this.stepEnd(event, data),
    'assistant/message': (event, data) => this.message(event, data),
    'tool/call': (event, data) => this.call(event, data),
    // A replaced result is an edit of the surface: nothing ran.
    'tool/result': (event, data) => isEdit(event) || this.result(event, data),
  }

  private names({ turn, step }: Fields): boolean {
    return this.turn !== undefined && this.step !== undefined && turn === this.turn && step === this.step
  }

  private misplaced({ turn, step }: Fields): string {
    return `names turn ${turn}, step ${step} where turn ${this.turn ?? 'none'}, step ${this.step ?? 'none'} is open`
  }

  private turnStart(event: LogEvent, { turn }: Fields): void {
    const due = this.lastTurn + 1
    this.expect('turn-start-while-open', event, this.turn === undefined, `starts while turn ${this.turn} is open`)
    this.expect('turn-start-number', event, turn === due, `starts turn ${turn} where ${due} is due`)
    this.turn = this.lastTurn = isSeq(turn) ? turn : due
    this.lastStep = 0
    this.step = undefined
    this.calls.clear()
  }

  private turnEnd(event: LogEvent, { turn }: Fields): void {
    this.expect('turn-end-in-step', event, this.step === undefined, `ends while step ${this.step} is open`)
    const fits = this.turn !== undefined && turn === this.turn
    this.expect('turn-end-number', event, fits, `ends turn ${turn} where ${this.turn ?? 'none'} is open`)
    this.expectResolved(event)
    this.turn = this.step = undefined
  }

  private stepStart(event: LogEvent, { turn, step }: Fields): void {
    const due = this.lastStep + 1
    const fits = this.turn !== undefined && turn === this.turn
    this.expect('step-start-turn', event, fits, `starts in turn ${turn} where ${this.turn ?? 'none'} is open`)
    this.expect('step-start-while-open', event, this.step === undefined, `starts while step ${this.step} is open`)
    this.expect('step-start-number', event, step === due, `starts step ${step} where ${due} is due`)
    this.step = this.lastStep = isSeq(step) ? step : due
    this.messages = 0
    this.calls.clear()
  }

  private stepEnd(event: LogEvent, data: Fields): void {
    this.expect('step-end-number', event, this.names(data), this.misplaced(data))
    this.expectResolved(event)
    this.step = undefined
  }

  private expectResolved(event: LogEvent): void {
    const open = [...this.calls].filter(([, { answered }]) => !answered).map(([id]) => id)
    this.expect('call-unresolved', event, open.length === 0, `leaves ${open.join(', ')} without a result`)
    this.calls.clear()
  }

  private message(event: LogEvent, data: Fields): void {
    if (!isEdit(event)) this.messages += 1
    const twice = data.stream !== undefined && event.sourceEventSeqs !== undefined
    this.expect('stream-once', event, !twice, 'does both')
    this.expect('one-message-per-step', event, this.messages <= 1, `is number ${this.messages} of its step`)
    for (const block of list(fields(data.message).content).map(fields)) {
      if (block.type !== 'tool-call') continue
      const id = String(block.id)
      this.expect('advertised-once', event, !this.calls.has(id), `advertises ${id} again`)
      this.calls.set(id, { name: block.name, arguments: block.arguments, answered: false })
    }
  }

  private call(event: LogEvent, data: Fields): void {
    const id = String(data.callId)
    const call = this.calls.get(id)
    this.expect('call-advertised', event, call !== undefined, `starts ${id}`)
    if (call === undefined) return
    this.expect('call-started-once', event, call.callSeq === undefined && !call.answered, `starts ${id} again`)
    const equal = call.name === data.name && call.arguments === data.arguments
    this.expect('call-equal', event, equal, `starts ${id} with other words than were advertised`)
    call.callSeq ??= event.seq
  }

  private result(event: LogEvent, data: Fields): void {
    const { shape, id, facts, content } = readResult(event)
    this.expect('result-shape', event, shape, `for ${id} is of neither shape`)
    const call = this.calls.get(id)
    this.expect('result-advertised', event, call !== undefined, `answers ${id}`)
    if (call === undefined) return
    this.expect('result-once', event, !call.answered, `answers ${id} again`)
    if (call.answered) return
    call.answered = true
    const cited = event.sourceEventSeqs
    if (call.callSeq === undefined) {
      const repair = hostRepair(id, event.seq, data, false)
      const same = isDeepStrictEqual({ facts, content }, { facts: repair.facts, content: repair.content })
      this.expect('result-before-call', event, same && cited === undefined, `answers ${id}, which never started`)
    } else if (fields(facts.error).code === TOOL_OUTCOME_UNKNOWN) {
      const repair = hostRepair(id, event.seq, data, true)
      const same = isDeepStrictEqual(facts.error, repair.facts.error) && facts.isError === true
      this.expect('unknown-outcome-error', event, same, `for ${id} has error ${shown(facts.error)}`)
      const told = `for ${id} cites ${shown(cited)}, not ${call.callSeq}`
      this.expect('unknown-outcome-source', event, isDeepStrictEqual(cited, [call.callSeq]), told)
    }
  }
}

/**
 * Check a whole log.
 *
 * @param events - the events in the order of the log.
 * @param options - `complete`: a log that ends inside a turn is wrong too. By default it is not: the host repairs it at
 *   its next open.
 * @returns what is wrong, in log order; empty for a valid log.
 */
export function checkLog(events: readonly LogEvent[], { complete = false } = {}): LogViolation[] {
  const walk = new LogWalk()
  for (const [index, event] of events.entries()) walk.walk(event, index)
  const last = events.at(-1)
  if (complete && last !== undefined) walk.end(last)
  return walk.violations
}

const MOST_SHOWN = 200

/** A value in a sentence. */
function shown(value: unknown): string {
  try {
    return JSON.stringify(value)?.slice(0, MOST_SHOWN) ?? 'nothing'
  } catch {
    return 'something that is nested too deep'
  }
}
