/** The fold of a run whose every call is asked about: whatever comes first, there is one card, one result, and no lie. */
import { describe, expect, test } from 'vitest'
import { type Decision, Fold } from '../../src/agy/fold.ts'
import type { HookAsk } from '../../src/agy/hooks/ask.ts'
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
      ...(type === 'tool' && { tool_info: { name: 'run_command', parameters: { CommandLine: 'ls' }, ...info } }),
    },
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
      [
        { ask: ask(2) },
        { decide: ask(2), as: DENIED },
        frame(2, 'ERROR', {}, 'unknown'),
        frame(2, 'DONE', {}, 'unknown'),
      ],
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
    frame(2, 'ERROR', {}, 'unknown'),
    frame(2, 'DONE'),
  ]
  expect(play(moves)).toMatchObject({ story: [CARD, '=t1s1-c-tool-2 red'], breach: undefined })
})

test('a nameless frame ends a call that was allowed', () => {
  expect(play([{ ask: ask(2) }, { decide: ask(2), as: ALLOWED }, frame(2, 'DONE', {}, 'unknown')])).toMatchObject({
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
    ['a subagent was started unasked', [frame(2, 'DONE', {}, 'subagent')]],
  ])('is tripped when %s', (_what, moves) => {
    expect(play(moves).breach).toMatchObject({ code: 'AGY_GATE_BYPASSED' })
    expect(play(moves, 'unguarded').breach).toBeUndefined()
  })

  test.each([
    ['the answer is handed over', [frame(2, 'ACTIVE', { name: 'finish' }), frame(2, 'DONE', {}, 'finish')]],
    ['a read failed by itself', [frame(2, 'ERROR', { name: 'view_file', error: { message: 'none' } })]],
    ['a question was skipped by the CLI itself', [frame(2, 'DONE', {}, 'unknown')]],
  ])('is not tripped when %s', (_what, moves) => {
    expect(play(moves).breach).toBeUndefined()
  })
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
