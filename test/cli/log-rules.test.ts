/**
 * The rules can fail: for each rule one log that breaks it, and it alone. And they pass what dsh itself writes: a text
 * answer, calls, more steps, a crash that the host repaired, a compaction, in the shapes of both generations.
 */
import { interruptedTurnClosers, type SessionEvent } from '@deepseek-ai/dsh-session'
import { describe, expect, test } from 'vitest'
import { checkLog, LOG_RULES, type LogEvent, type LogRule } from '../../src/cli/log-rules.ts'

type Draft = Omit<LogEvent, 'seq'> & { readonly seq?: number }
type Extra = Pick<LogEvent, 'surfaceOp' | 'sourceEventSeqs'>

/** Number drafts as a log does, where they do not say otherwise. */
const log = (...drafts: readonly Draft[]): LogEvent[] => drafts.map((draft, seq) => ({ seq, time: 1, ...draft }))

const AT = { turn: 1, step: 1 }
const APPEND: Extra = { surfaceOp: 'append' }
const replace = (start: number, end = start): Extra => ({
  surfaceOp: { op: 'replace', start, end },
  sourceEventSeqs: Array.from({ length: end - start + 1 }, (_, index) => start + index),
})

const turnStart = (turn = 1): Draft => ({ type: 'turn/start', data: { turn } })
const turnEnd = (turn = 1): Draft => ({ type: 'turn/end', data: { turn, reason: { kind: 'completed' } } })
const stepStart = (step = 1, turn = 1): Draft => ({ type: 'step/start', data: { turn, step } })
const stepEnd = (step = 1, turn = 1): Draft => ({ type: 'step/end', data: { turn, step } })
const user = (extra = APPEND): Draft => ({ type: 'user/message', data: { role: 'user', content: [] }, ...extra })
const system = (extra = APPEND, step = 1): Draft => ({
  type: 'system/message',
  data: { turn: 1, step, message: { role: 'system', content: [] } },
  ...extra,
})
const chunk = (step = 1): Draft => ({ type: 'assistant/chunk', data: { turn: 1, step, chunk: { type: 'finish' } } })

const ask = (id: string, name = 'read', args = '{"a":1}') => ({ type: 'tool-call', id, name, arguments: args })
const says = (content: readonly object[] = [], extra = APPEND, step = 1): Draft => ({
  type: 'assistant/message',
  data: { turn: 1, step, message: { role: 'assistant', content } },
  ...extra,
})
/** An answer in the later shape. */
const streamed: Draft = {
  type: 'assistant/message',
  data: { ...AT, message: { role: 'assistant', content: [] }, stream: [] },
  ...APPEND,
}
const call = (callId: string, name = 'read', args = '{"a":1}'): Draft => ({
  type: 'tool/call',
  data: { ...AT, callId, name, arguments: args },
})

const OK = { isError: false, content: [{ type: 'text', text: 'done' }] }
/** A result in the shape of format 0. */
const result = (callId: string, extra = APPEND, facts: object = {}, { isError, content } = OK): Draft => ({
  type: 'tool/result',
  data: {
    ...AT,
    message: {
      id: `result-${callId}`,
      role: 'user',
      source: { kind: 'tool', callId },
      content: [{ type: 'tool-result', toolCallId: callId, isError, content }],
    },
    ...facts,
  },
  ...extra,
})
/** A result of call `a` in the shape of format 0, around any content. */
const resultOf = (content: readonly object[]): Draft => ({
  type: 'tool/result',
  data: { ...AT, message: { role: 'user', source: { kind: 'tool', callId: 'a' }, content } },
  ...APPEND,
})
/** A result in the later shape. */
const laterResult = (
  toolCallId: string,
  id = `result-${toolCallId}`,
  facts: object = {},
  what: object = OK,
): Draft => ({
  type: 'tool/result',
  data: {
    ...AT,
    message: { id, role: 'tool', source: { kind: 'tool', callId: toolCallId }, toolCallId, ...what },
    ...facts,
  },
  ...APPEND,
})

/** What the host adds to a log that a crash ended. */
const closers = (events: readonly LogEvent[]): SessionEvent[] =>
  interruptedTurnClosers(events as unknown as SessionEvent[])
const repaired = (...drafts: readonly Draft[]): LogEvent[] => {
  const events = log(...drafts)
  return [...events, ...closers(events)]
}
/** The host's not-started result for a call that was only advertised. */
const NOT_STARTED = repaired(turnStart(), stepStart(), says([ask('a')]))[3] as LogEvent
const UNKNOWN = { error: { name: 'ToolOutcomeUnknownError', code: 'TOOL_OUTCOME_UNKNOWN' } }
const FAILED = { ...OK, isError: true }

const opened = [turnStart(), stepStart()]
const closed = [stepEnd(), turnEnd()]
const asked = [...opened, says([ask('a')])]
const started = [...asked, call('a')]
const inStep = (...drafts: readonly Draft[]) => log(...opened, ...drafts, ...closed)
const broken = (events: readonly LogEvent[], complete = false) => [
  ...new Set(checkLog(events, { complete }).map(violation => violation.rule)),
]

/** Logs that break the rule of their name, and no other. */
const BREAKS: Readonly<Record<LogRule, LogEvent[]>> = {
  'seq-contiguous': log(turnStart(), { ...turnEnd(), seq: 2 }),
  'known-event-type': log({ type: 'agy/thing', data: {} }),
  'surface-op': inStep(user({})),
  'sources-allowed': inStep(user({ ...APPEND, sourceEventSeqs: [] })),
  'stream-once': inStep(chunk(), { ...streamed, sourceEventSeqs: [2] }),
  'sources-earlier': inStep(user({ ...APPEND, sourceEventSeqs: [2] })),
  'sources-unique': inStep(user({ ...APPEND, sourceEventSeqs: [0, 0] })),
  'replace-range': inStep(user(), user(), user({ ...replace(2, 3), surfaceOp: { op: 'replace', start: 3, end: 2 } })),
  'replace-cites-shadowed': inStep(user(), user(), user({ ...replace(2, 3), sourceEventSeqs: [2] })),
  'replace-result': log(...started, result('a'), result('a', replace(4), {}, FAILED), ...closed),
  'head-first': inStep(user(), system()),
  'head-in-step': log(turnStart(), system(), turnEnd()),
  'head-replaced-alone': inStep(system(), user(), user(replace(2, 3))),
  'turn-start-number': log(turnStart(2), turnEnd(2)),
  'turn-start-while-open': log(turnStart(), turnStart(2), turnEnd(2)),
  'turn-end-number': log(turnStart(), turnEnd(2)),
  'turn-end-in-step': log(turnStart(), stepStart(), turnEnd()),
  'step-start-turn': log(turnStart(), stepStart(1, 2), ...closed),
  'step-start-number': log(turnStart(), stepStart(2), stepEnd(2), turnEnd()),
  'step-start-while-open': log(...opened, stepStart(2), stepEnd(2), turnEnd()),
  'step-end-number': log(...opened, stepEnd(2), turnEnd()),
  'step-scope': inStep(says([], APPEND, 2)),
  'turn-scope': log({ type: 'todo/write', data: { todos: [] } }),
  'one-message-per-step': inStep(says(), says()),
  'advertised-once': log(...opened, says([ask('a'), ask('a')]), call('a'), result('a'), ...closed),
  'call-advertised': inStep(says([]), call('a')),
  'call-started-once': log(...started, call('a'), result('a'), ...closed),
  'call-equal': log(...asked, call('a', 'read', '{"a": 1}'), result('a'), ...closed),
  'result-shape': log(...started, resultOf(OK.content), ...closed),
  'result-advertised': inStep(says([]), result('a')),
  'result-once': log(...started, result('a'), result('a'), ...closed),
  'result-before-call': log(...asked, result('a'), ...closed),
  'unknown-outcome-error': log(...started, result('a', { ...APPEND, sourceEventSeqs: [3] }, UNKNOWN), ...closed),
  'unknown-outcome-source': log(...started, result('a', APPEND, UNKNOWN, FAILED), ...closed),
  'call-unresolved': log(...started, ...closed),
  'open-tail': log(...opened),
}

describe('a log that breaks one rule is refused by the name of that rule', () => {
  test.each(Object.entries(BREAKS))('%s', (rule, events) => {
    expect(broken(events, rule === 'open-tail')).toEqual([rule])
  })

  test('every rule has such a log, and each has its own name', () => {
    const names = LOG_RULES.map(({ name }) => name)
    expect(Object.keys(BREAKS).sort()).toEqual([...names].sort())
    expect(new Set(names).size).toBe(names.length)
  })

  test('and the violation names the event, what was found and what was due', () => {
    expect(checkLog(BREAKS['turn-start-number'])).toEqual([
      {
        rule: 'turn-start-number',
        seq: 0,
        message: 'turn/start starts turn 2 where 1 is due; expected: a turn starts with the number after the last one',
      },
    ])
  })
})

const secondTurn = (...drafts: readonly Draft[]) => log(...opened, ...closed, turnStart(2), ...drafts, turnEnd(2))
const block = (toolCallId: string) => ({ type: 'tool-result', toolCallId, ...OK })

describe('each other way to break a rule is refused too', () => {
  test.each<[string, LogRule, LogEvent[]]>([
    ['a log-only event with a surfaceOp', 'surface-op', log({ ...turnStart(), ...APPEND }, turnEnd())],
    ['half a replace', 'surface-op', inStep(user(), user({ ...replace(2), surfaceOp: { op: 'replace', start: 2 } }))],
    ['a log-only event with sources', 'sources-allowed', log(turnStart(), { ...turnEnd(), sourceEventSeqs: [0] })],
    ['sources that are no numbers', 'sources-allowed', inStep(user({ ...APPEND, sourceEventSeqs: ['0'] }))],
    ['a replaced node that a replace took', 'replace-range', inStep(user(), user(replace(2)), user(replace(2)))],
    [
      'a result replaced outside a turn',
      'replace-result',
      log(...started, result('a'), ...closed, result('a', replace(4))),
    ],
    ['a result in the place of a message', 'replace-result', log(...started, result('a'), result('a', replace(2)))],
    [
      'a result in the place of two',
      'replace-result',
      log(...started, result('a'), user(), result('a', replace(4, 5))),
    ],
    ['a second head appended', 'head-first', inStep(system(), system())],
    ['a head and more replaced by a head', 'head-replaced-alone', inStep(system(), user(), system(replace(2, 3)))],
    ['a head in the place of another message', 'head-replaced-alone', inStep(system(), user(), system(replace(3)))],
    ['a head under another step', 'head-in-step', inStep(system(APPEND, 2))],
    ['a turn that starts again', 'turn-start-number', log(turnStart(), turnEnd(), turnStart(), turnEnd())],
    ['a turn end without a turn', 'turn-end-number', log(turnEnd())],
    ['a step without a turn', 'step-start-turn', log(stepStart(), stepEnd())],
    ['a step number that goes on in the next turn', 'step-start-number', secondTurn(stepStart(2, 2), stepEnd(2, 2))],
    ['a step end without a step', 'step-end-number', log(turnStart(), ...closed)],
    ['a chunk outside a step', 'step-scope', log(turnStart(), chunk(), turnEnd())],
    ['a call after its step', 'step-scope', log(...started, result('a'), stepEnd(), call('a'), turnEnd())],
    ['a result after its step', 'step-scope', log(...started, stepEnd(), result('a'), turnEnd())],
    ['an attempt outside a step', 'step-scope', log({ type: 'assistant/attempt', data: AT })],
    ['a request header outside a turn', 'turn-scope', log({ type: 'request/header', data: {} })],
    ['a request context outside a turn', 'turn-scope', log({ type: 'request/context', data: {} })],
    ['a call of another name', 'call-equal', log(...asked, call('a', 'write'), result('a'), ...closed)],
    ['a call after its result', 'call-started-once', log(...asked, NOT_STARTED, call('a'), ...closed)],
    ['an id advertised again after its result', 'advertised-once', log(...started, result('a'), says([ask('a')]))],
    ['a call of the step before', 'call-advertised', log(...started, result('a'), stepEnd(), stepStart(2), call('a'))],
    ['a block of another call', 'result-shape', log(...started, resultOf([block('b')]), ...closed)],
    ['a second block', 'result-shape', log(...started, resultOf([block('a'), block('a')]), ...closed)],
    ['a repair with sources', 'result-before-call', log(...asked, { ...NOT_STARTED, sourceEventSeqs: [2] }, ...closed)],
    [
      'a repair under another number',
      'result-before-call',
      log(...opened, user(), ...asked.slice(2), { ...NOT_STARTED, seq: 4 }),
    ],
    ['a repair in other words', 'result-before-call', log(...asked, laterNotStarted('Try again.'), ...closed)],
    ['an advertised call at the turn end', 'call-unresolved', log(...asked, turnEnd())],
  ])('%s: %s', (_, rule, events) => {
    expect(broken(events)).toContain(rule)
  })
})

/** The not-started repair in the later shape, with the host's words unless others are given. */
function laterNotStarted(text?: string): Draft {
  const { data } = NOT_STARTED as unknown as SessionEvent<'tool/result'>
  const [{ content }] = data.message.content
  const what = { isError: true, content: text === undefined ? content : [{ type: 'text', text }] }
  return laterResult('a', data.message.id, { error: data.error }, what)
}

const compaction = [
  { type: 'compaction/start', data: {} },
  { type: 'compaction/summary', data: {} },
  user({ ...replace(2, 3), sourceEventSeqs: [6, 7, 2, 3] }),
  { type: 'compaction/end', data: {} },
]
const laterReplace = { surfaceOp: { op: 'replace', startSeq: 3, endSeq: 3 }, sourceEventSeqs: [3] }
const shortened = result('a', replace(4), {}, { ...OK, content: [{ type: 'text', text: '[cut]' }] })
const developer = { type: 'developer/message', data: { ...AT, message: { role: 'developer' } }, ...APPEND }
const again = [says([ask('a')]), call('a'), result('a')].map(draft => ({
  ...draft,
  data: { ...(draft.data as object), step: 2 },
}))
const closed2 = [stepEnd(2), turnEnd()]
const goesOn = (events: readonly LogEvent[]): LogEvent[] => {
  const more = [{ type: 'session/end-seed', data: {} }, turnStart(2), stepStart(1, 2), stepEnd(1, 2), turnEnd(2)]
  return [...events, ...more.map((draft, index) => ({ ...draft, seq: events.length + index }))]
}

describe('what dsh writes is accepted', () => {
  test.each<[string, LogEvent[]]>([
    ['nothing', []],
    ['a text answer', inStep(user(), chunk(), says([{ type: 'text' }], { ...APPEND, sourceEventSeqs: [3] }))],
    ['an answer of an empty stream', inStep(user(), says([], { ...APPEND, sourceEventSeqs: [] }))],
    ['an answer in the later shape', inStep(system(), user(), streamed)],
    ['a call', log(...started, result('a', { ...APPEND, sourceEventSeqs: [3] }), ...closed)],
    ['a call in the later shape', log(...started, laterResult('a'), ...closed)],
    [
      'two calls, answered in another order',
      log(...opened, says([ask('a'), ask('b')]), call('a'), call('b'), result('b'), result('a'), ...closed),
    ],
    ['two steps', log(...started, result('a'), stepEnd(), stepStart(2), says([], APPEND, 2), stepEnd(2), turnEnd())],
    ['two turns', log(...opened, ...closed, turnStart(2), stepStart(1, 2), stepEnd(1, 2), turnEnd(2))],
    ['an id that another step uses again', log(...started, result('a'), stepEnd(), stepStart(2), ...again, ...closed2)],
    ['a turn without a step', log(turnStart(), turnEnd())],
    ['a crash before the call started', repaired(...asked)],
    ['the same in the later shape', log(...asked, laterNotStarted(), ...closed)],
    ['a crash after the call started', repaired(...started)],
    ['a crash between two calls', repaired(...opened, says([ask('a'), ask('b')]), call('a'))],
    ['a repaired log that goes on', goesOn(repaired(...started))],
    ['a seed that ends inside a turn', log(...opened, { type: 'session/end-seed', data: {} }, ...closed)],
    ['a compaction', log(...opened, user(), says(), ...closed, ...compaction)],
    ['a compaction in the later shape', inStep(system(), user(), user(laterReplace))],
    ['a result cut down in its place', log(...started, result('a'), shortened, ...closed)],
    ['a head, and another in its place', inStep(system(), user(), system(replace(2)))],
    ['later events', inStep({ type: 'assistant/attempt', data: { ...AT, stream: [] } }, developer)],
    ['an unknown event that may be skipped', log({ type: 'agy/thing', data: {}, ignorable: true, ...APPEND })],
  ])('%s', (_, events) => {
    expect(checkLog(events, { complete: true })).toEqual([])
  })

  test('a log that ends inside a turn is legal, unless a complete one is asked for', () => {
    const events = log(...started)
    expect(checkLog(events)).toEqual([])
    expect(checkLog(events, { complete: true }).map(({ rule, seq }) => [rule, seq])).toEqual([['open-tail', 3]])
  })
})

test('an event whose data is no object breaks rules and nothing else', () => {
  const types = ['turn/start', 'step/start', 'assistant/message', 'tool/call', 'tool/result', 'step/end', 'turn/end']
  for (const data of [undefined, null, 'text', 7, []]) {
    expect(checkLog(log(...types.map(type => ({ type, data }))))).not.toEqual([])
  }
})
