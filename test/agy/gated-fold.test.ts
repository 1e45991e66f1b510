/** The fold of a run whose every call is asked about: whatever comes first, there is one card, one result, and no lie. */
import { describe, expect, test } from 'vitest'
import { Fold } from '../../src/agy/fold.ts'
import type { Decision, HookAsk } from '../../src/agy/hooks/ask.ts'
import { decodeFrame } from '../../src/agy/wire.ts'
import type { EngineEvent } from '../../src/engine/contract.ts'

const frame = (index: number, state: string, info: object = {}, type = 'tool') =>
  decodeFrame({
    event: 'step_update',
    step_update: {
      conversation_id: 'c',
      step_index: index,
      state,
      step_type: type,
      tool_info: { name: 'run_command', parameters: { CommandLine: 'ls' }, ...info },
    },
  })
/** A step of which the CLI tells no more than its state. */
const nameless = (index: number, state: string) =>
  decodeFrame({
    event: 'step_update',
    step_update: { conversation_id: 'c', step_index: index, state, step_type: 'unknown' },
  })
const ask = (stepIndex: number, more: Partial<HookAsk> = {}): HookAsk => ({
  conversationId: 'c',
  stepIndex,
  name: 'run_command',
  args: { CommandLine: 'ls', Cwd: '/w' },
  ...more,
})
const ALLOWED: Decision = { kind: 'allowed' }
const DENIED: Decision = { kind: 'denied', reason: 'no' }
const FAILED = { error: { message: 'exit status 1' } }
const RM = { parameters: { CommandLine: 'rm' } }
const BIG = { name: 'x', args: JSON.parse('{"Id":9007199254740993}') }
const DENIAL = { error: { message: 'tool call denied by pre-tool hook: no' } }

/** One call after the other: a frame, a call that is asked about, or a decision on it. */
type Move = ReturnType<typeof frame> | { readonly ask: HookAsk } | { readonly decide: HookAsk; readonly as: Decision }

function play(moves: readonly Move[], gating: 'guarded' | 'unguarded' = 'guarded') {
  const fold = new Fold('t1s1', gating)
  fold.push(decodeFrame({ event: 'init', conversation_id: 'c', init: {} }))
  const refusals: (string | undefined)[] = []
  const events = moves.flatMap((move): readonly EngineEvent[] => {
    if ('kind' in move) return fold.push(move)
    if ('decide' in move) return fold.decide(move.decide, move.as)
    const { events: told, refusal } = fold.ask(move.ask)
    refusals.push(refusal)
    return told
  })
  const story = [...events, ...fold.finish()].flatMap(event => {
    if (event.type === 'tool-call') return [`+${event.id} ${event.arguments}`]
    if (event.type === 'tool-result') return [`${event.isError ? '!' : '='}${event.id} ${event.text}`]
    return []
  })
  return { story, refusals, breach: fold.breach, summary: fold.summary() }
}

const CARD = '+t1s1-c-tool-2 {"command":"ls","description":"ls","workdir":"/w"}'

describe('a call is announced when it is asked about, with all that the hook tells', () => {
  test.each([
    [
      'after its frame',
      [frame(2, 'ACTIVE'), { ask: ask(2) }, { decide: ask(2), as: ALLOWED }, frame(2, 'DONE', { output: 'x' })],
    ],
    [
      'before its frame',
      [{ ask: ask(2) }, { decide: ask(2), as: ALLOWED }, frame(2, 'ACTIVE'), frame(2, 'DONE', { output: 'x' })],
    ],
    [
      'while its frame comes',
      [{ ask: ask(2) }, frame(2, 'ACTIVE'), { decide: ask(2), as: ALLOWED }, frame(2, 'DONE', { output: 'x' })],
    ],
    ['without a first frame', [{ ask: ask(2) }, { decide: ask(2), as: ALLOWED }, frame(2, 'DONE', { output: 'x' })]],
    [
      'with frames that come twice',
      [
        frame(2, 'ACTIVE'),
        frame(2, 'ACTIVE'),
        { ask: ask(2) },
        { decide: ask(2), as: ALLOWED },
        frame(2, 'ACTIVE'),
        frame(2, 'DONE', { output: 'x' }),
        frame(2, 'DONE', { output: 'x' }),
        frame(2, 'ACTIVE'),
      ],
    ],
  ])('%s', (_what, moves) => {
    expect(play(moves)).toMatchObject({ story: [CARD, '=t1s1-c-tool-2 x'], refusals: [undefined], breach: undefined })
  })
})

describe('a denied call has its result at once', () => {
  test.each([
    [
      'and the frame of its failure adds nothing',
      [
        frame(2, 'ACTIVE'),
        { ask: ask(2) },
        { decide: ask(2), as: DENIED },
        frame(2, 'ERROR', DENIAL),
        frame(2, 'ERROR', DENIAL),
      ],
    ],
    [
      'and neither does a nameless frame',
      [{ ask: ask(2) }, { decide: ask(2), as: DENIED }, nameless(2, 'ERROR'), nameless(2, 'DONE')],
    ],
    [
      'and a late first frame',
      [{ ask: ask(2) }, { decide: ask(2), as: DENIED }, frame(2, 'ACTIVE'), frame(2, 'ERROR', DENIAL)],
    ],
  ])('%s', (_what, moves) => {
    expect(play(moves)).toMatchObject({ story: [CARD, '!t1s1-c-tool-2 Denied: no'], breach: undefined })
  })
})

test('an answered question is a success, whatever its frame says', () => {
  const moves = [
    { ask: ask(2) },
    { decide: ask(2), as: { kind: 'answered', text: 'red' } as const },
    nameless(2, 'ERROR'),
    frame(2, 'DONE'),
  ]
  expect(play(moves)).toMatchObject({ story: [CARD, '=t1s1-c-tool-2 red'], breach: undefined })
})

test('a nameless frame ends a call that was allowed', () => {
  expect(play([{ ask: ask(2) }, { decide: ask(2), as: ALLOWED }, nameless(2, 'DONE')])).toMatchObject({
    story: [CARD, '=t1s1-c-tool-2 '],
    breach: undefined,
  })
})

test('a call that fails while it is being decided on has one result, and the decision comes too late', () => {
  const moves = [frame(2, 'ACTIVE'), { ask: ask(2) }, frame(2, 'ERROR', DENIAL), { decide: ask(2), as: DENIED }]
  expect(play(moves)).toMatchObject({
    story: [CARD, '!t1s1-c-tool-2 tool call denied by pre-tool hook: no'],
    breach: undefined,
  })
})

test('calls at once are told one after the other, and each keeps its own decision', () => {
  const moves = [
    frame(2, 'ACTIVE'),
    frame(3, 'ACTIVE'),
    { ask: ask(2) },
    { ask: ask(3) },
    { decide: ask(3), as: DENIED },
    { decide: ask(2), as: ALLOWED },
    frame(3, 'ERROR', DENIAL),
    frame(2, 'DONE', { output: 'x' }),
  ]
  expect(play(moves).story).toEqual([
    CARD,
    '=t1s1-c-tool-2 x',
    CARD.replace('tool-2', 'tool-3'),
    '!t1s1-c-tool-3 Denied: no',
  ])
})

test('a call that was never asked about and never ended is told all the same', () => {
  expect(play([frame(2, 'ACTIVE')])).toMatchObject({
    story: ['+t1s1-c-tool-2 {"command":"ls","description":"ls"}'],
    breach: undefined,
  })
})

describe('is refused before anybody is asked', () => {
  test.each([
    ['a second time', [{ ask: ask(2) }, { ask: ask(2) }], /asked about before/],
    ['with another name', [frame(2, 'ACTIVE'), { ask: ask(2, { name: 'view_file' }) }], /another call/],
    ['with another argument', [frame(2, 'ACTIVE'), { ask: ask(2, { args: { CommandLine: 'rm' } }) }], /another call/],
    ['with another number', [frame(2, 'ACTIVE'), { ask: ask(5) }], /another number/],
    ['after its end', [frame(2, 'ERROR', DENIAL), { ask: ask(2) }], /over already/],
  ])('%s', (_what, moves, words) => {
    expect(play(moves).refusals.at(-1)).toMatch(words)
  })

  test('but not because a frame holds less, or writes a number as a text', () => {
    const info = { parameters: { Size: 7, Items: [{ Name: 'a' }] } }
    const args = { Size: '7', Items: [{ Name: 'a', Content: 'x' }], More: true }
    expect(play([frame(2, 'ACTIVE', info), { ask: ask(2, { args }) }]).refusals).toEqual([undefined])
  })
})

describe('the tripwire', () => {
  test.each([
    ['nobody was asked', [frame(2, 'ACTIVE'), frame(2, 'DONE')]],
    ['a failure shows that it was started', [frame(2, 'ERROR', { error: { message: 'exit 1' } })]],
    ['it ran before it was decided on', [{ ask: ask(2) }, frame(2, 'DONE')]],
    ['it ran in spite of a denial', [{ ask: ask(2) }, { decide: ask(2), as: DENIED }, frame(2, 'DONE')]],
    [
      'another call ran',
      [{ ask: ask(2) }, { decide: ask(2), as: ALLOWED }, frame(2, 'ACTIVE', { parameters: { CommandLine: 'rm' } })],
    ],
    [
      'another call followed under the same number',
      [{ ask: ask(2) }, { decide: ask(2), as: ALLOWED }, frame(2, 'DONE'), frame(2, 'DONE', { name: 'write_to_file' })],
    ],
    ['a subagent was started unasked', [frame(2, 'DONE', { name: 'invoke_subagent' }, 'subagent')]],
    [
      'another command followed under the same number',
      [
        { ask: ask(2) },
        { decide: ask(2), as: ALLOWED },
        frame(2, 'DONE'),
        frame(2, 'ACTIVE', RM),
        frame(2, 'DONE', RM),
      ],
    ],
    [
      'an unasked command is closed as if it handed over the answer',
      [frame(2, 'ACTIVE'), frame(2, 'DONE', {}, 'finish')],
    ],
    [
      'an unasked command has a step type of tomorrow',
      [frame(2, 'ACTIVE', {}, 'command'), frame(2, 'DONE', {}, 'command')],
    ],
    ['an unasked command has a step type that says nothing', [frame(2, 'DONE', {}, 'checkpoint')]],
    ['an unasked command has a nameless step type', [frame(2, 'DONE', {}, 'unknown')]],
    [
      'it ran in spite of a denial, under a nameless step type',
      [{ ask: ask(2) }, { decide: ask(2), as: DENIED }, frame(2, 'DONE', {}, 'unknown')],
    ],
    [
      'it ran in spite of a denial, and failed',
      [{ ask: ask(2) }, { decide: ask(2), as: DENIED }, frame(2, 'ERROR', FAILED)],
    ],
    ['it ran before it was decided on, and failed', [{ ask: ask(2) }, frame(2, 'ERROR', FAILED)]],
    [
      'it ran after all when it was denied too late',
      [{ ask: ask(2) }, frame(2, 'ERROR', DENIAL), { decide: ask(2), as: DENIED }, frame(2, 'DONE')],
    ],
  ])('is tripped when %s', (_what, moves) => {
    expect(play(moves).breach).toMatchObject({ code: 'AGY_GATE_BYPASSED' })
    expect(play(moves, 'unguarded').breach).toBeUndefined()
  })

  test.each([
    [
      'the answer is handed over',
      [frame(2, 'ACTIVE', { name: 'finish' }), frame(2, 'DONE', { name: 'finish' }, 'finish')],
    ],
    ['a read failed by itself', [frame(2, 'ERROR', { name: 'view_file', error: { message: 'none' } })]],
    ['a question was skipped by the CLI itself', [nameless(2, 'DONE')]],
    [
      "the CLI's own rules denied it",
      [
        frame(2, 'ERROR', {
          error: { message: 'permission check failed for write_file "/a": user denied permission' },
        }),
      ],
    ],
    [
      'it was cut off with the run',
      [frame(2, 'ACTIVE'), frame(2, 'ERROR', { error: { message: 'context canceled' } })],
    ],
    [
      'a number is a text, and too large to be exact',
      [
        { ask: ask(2, BIG) },
        { decide: ask(2, BIG), as: ALLOWED },
        frame(2, 'DONE', { name: 'x', parameters: { Id: '9007199254740993' } }),
      ],
    ],
  ])('is not tripped when %s', (_what, moves) => {
    expect(play(moves).breach).toBeUndefined()
  })
})

test('once the run is being stopped, a failure says nothing', () => {
  const fold = new Fold('t1s1', 'guarded')
  fold.push(frame(2, 'ACTIVE'))
  fold.cut()
  fold.push(frame(2, 'ERROR', FAILED))
  expect(fold.breach).toBeUndefined()
  fold.push(frame(3, 'DONE'))
  expect(fold.breach).toBeDefined()
})

test('a call that ends while it is being decided on is named once', () => {
  const fold = new Fold('t1s1', 'guarded')
  fold.ask(ask(2))
  fold.push(frame(2, 'ERROR', DENIAL))
  expect(fold.takeUndecided()).toEqual([{ conversationId: 'c', stepIndex: 2 }])
  expect(fold.takeUndecided()).toEqual([])
})

test('a subagent may ask about the same call as the one that waits', () => {
  const theirs = ask(5, { conversationId: 'd', args: { CommandLine: 'ls' } })
  expect(play([frame(2, 'ACTIVE'), { ask: theirs }]).refusals).toEqual([undefined])
})

test('a call of a subagent has no card, and its number is not that of the run', () => {
  const theirs = ask(2, { conversationId: 'd' })
  const moves = [
    { ask: theirs },
    { decide: theirs, as: DENIED },
    frame(2, 'ACTIVE'),
    { ask: ask(2) },
    { decide: ask(2), as: ALLOWED },
    frame(2, 'DONE', { output: 'x' }),
  ]
  expect(play(moves)).toMatchObject({
    story: [CARD, '=t1s1-c-tool-2 x'],
    refusals: [undefined, undefined],
    breach: undefined,
  })
})
