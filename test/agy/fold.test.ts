import { describe, expect, test } from 'vitest'
import { Fold } from '../../src/agy/fold.ts'
import { decodeFrame } from '../../src/agy/wire.ts'
import type { EngineEvent } from '../../src/engine/contract.ts'

const step = (index: number, state: string, type: string, more: object = {}) => ({
  event: 'step_update',
  step_update: { conversation_id: 'c', step_index: index, state, step_type: type, ...more },
})
const tool = (index: number, state: string, info: object) =>
  step(index, state, 'tool', { tool_name: 'run_command', tool_info: { name: 'run_command', ...info } })
const text = (index: number, state: string, delta: string, more: object = {}) =>
  step(index, state, 'agent_response', { text_delta: delta, ...more })
const result = (more: object) => ({ event: 'result', result: { conversation_id: 'c', status: 'SUCCESS', ...more } })
const ls = { parameters: { CommandLine: 'ls' } }

function fold(...frames: unknown[]): EngineEvent[] {
  const machine = new Fold('t1s1')
  const events = frames.flatMap(frame => machine.push(decodeFrame(frame)))
  return [...events, ...machine.finish()]
}

/** Short form of events: `+id` call, `=id` result, `!id` failed result, `"text"`. */
const story = (events: readonly EngineEvent[]) =>
  events.flatMap(event => {
    if (event.type === 'tool-call') return [`+${event.id}`]
    if (event.type === 'tool-result') return [`${event.isError ? '!' : '='}${event.id}`]
    if (event.type === 'text') return [`"${event.text}"`]
    if (event.type === 'text-settled') return [`settled "${event.text}"`]
    return []
  })

describe('calls', () => {
  test('ACTIVE twice is one call', () => {
    expect(story(fold(tool(1, 'ACTIVE', ls), tool(1, 'ACTIVE', ls), tool(1, 'DONE', { output: 'x' })))).toEqual([
      '+t1s1-c-tool-1',
      '=t1s1-c-tool-1',
    ])
  })

  test('DONE twice is one result', () => {
    expect(
      story(fold(tool(1, 'ACTIVE', ls), tool(1, 'DONE', { output: 'x' }), tool(1, 'DONE', { output: 'x' }))),
    ).toEqual(['+t1s1-c-tool-1', '=t1s1-c-tool-1'])
  })

  test('DONE without ACTIVE is announced first', () => {
    expect(story(fold(tool(1, 'DONE', { ...ls, output: 'x' })))).toEqual(['+t1s1-c-tool-1', '=t1s1-c-tool-1'])
  })

  test('ERROR is an error result with its words', () => {
    const events = fold(
      tool(1, 'ACTIVE', ls),
      tool(1, 'ERROR', { error: { type: 'TOOL_ERROR', message: 'no such file' } }),
    )
    expect(events.at(-1)).toEqual({ type: 'tool-result', id: 't1s1-c-tool-1', text: 'no such file', isError: true })
  })

  test('parameters that arrive only on DONE are announced with the call', () => {
    const events = fold(tool(1, 'ACTIVE', {}), tool(1, 'DONE', { ...ls, output: 'x' }))
    expect(events[0]).toEqual({
      type: 'tool-call',
      id: 't1s1-c-tool-1',
      name: 'bash',
      arguments: '{"command":"ls","description":"ls"}',
    })
    expect(story(events)).toEqual(['+t1s1-c-tool-1', '=t1s1-c-tool-1'])
  })

  test('a call that never told its parameters is announced all the same', () => {
    expect(story(fold(tool(1, 'ACTIVE', {})))).toEqual(['+t1s1-c-tool-1'])
  })

  test('a call that opens while another is open waits, and so does the text behind it', () => {
    expect(
      story(
        fold(
          tool(1, 'ACTIVE', ls),
          tool(2, 'ACTIVE', ls),
          text(3, 'ACTIVE', 'hm'),
          tool(2, 'DONE', { output: 'b' }),
          tool(1, 'DONE', { output: 'a' }),
        ),
      ),
    ).toEqual(['+t1s1-c-tool-1', '=t1s1-c-tool-1', '+t1s1-c-tool-2', '=t1s1-c-tool-2', '"hm"'])
  })

  test('what waited for a call that never ends comes out behind it', () => {
    expect(
      story(fold(tool(1, 'ACTIVE', ls), tool(2, 'DONE', { ...ls, output: 'b' }), text(3, 'ACTIVE', 'hm'))),
    ).toEqual(['+t1s1-c-tool-1', '+t1s1-c-tool-2', '=t1s1-c-tool-2', '"hm"'])
  })

  test('an index used again for another call gets an id of its own', () => {
    const other = { parameters: { CommandLine: 'pwd' } }
    expect(
      story(
        fold(
          tool(1, 'DONE', { ...ls, output: 'a' }),
          tool(1, 'ACTIVE', other),
          tool(1, 'DONE', { ...other, output: 'b' }),
        ),
      ),
    ).toEqual(['+t1s1-c-tool-1', '=t1s1-c-tool-1', '+t1s1-c-tool-1-2', '=t1s1-c-tool-1-2'])
  })

  test('without a conversation id the scope names the call', () => {
    const frame = {
      event: 'step_update',
      step_update: { step_index: 4, state: 'DONE', step_type: 'tool', tool_name: 'x', tool_info: { output: 'y' } },
    }
    expect(story(fold(frame))).toEqual(['+t1s1-tool-4', '=t1s1-tool-4'])
  })

  test('a step of another conversation is no step of ours with the same number', () => {
    const foreign = (state: string, info: object) => {
      const frame = tool(1, state, info)
      return { ...frame, step_update: { ...frame.step_update, conversation_id: 'other' } }
    }
    expect(
      story(
        fold(
          tool(1, 'ACTIVE', ls),
          foreign('ACTIVE', ls),
          foreign('DONE', { output: 'b' }),
          tool(1, 'DONE', { output: 'a' }),
        ),
      ),
    ).toEqual(['+t1s1-c-tool-1', '=t1s1-c-tool-1', '+t1s1-other-tool-1', '=t1s1-other-tool-1'])
  })

  test('a conversation id that comes late is of the same call', () => {
    const early = {
      event: 'step_update',
      step_update: { step_index: 1, state: 'ACTIVE', step_type: 'tool', tool_info: { name: 'run_command', ...ls } },
    }
    expect(story(fold(early, tool(1, 'DONE', { output: 'a' })))).toEqual(['+t1s1-tool-1', '=t1s1-tool-1'])
  })

  test('a DONE without output waits for one more frame, and is an error if that denies it', () => {
    const denied = fold(tool(1, 'ACTIVE', ls), tool(1, 'DONE', ls), result({ denied_actions: [{ action: 'command' }] }))
    expect(story(denied)).toEqual(['+t1s1-c-tool-1', '!t1s1-c-tool-1'])
    const fine = fold(tool(1, 'ACTIVE', ls), tool(1, 'DONE', ls), result({ denied_actions: [{ action: 'mcp' }] }))
    expect(story(fine)).toEqual(['+t1s1-c-tool-1', '=t1s1-c-tool-1'])
    const machine = new Fold('t1s1')
    machine.push(decodeFrame(tool(1, 'ACTIVE', ls)))
    expect(machine.push(decodeFrame(tool(1, 'DONE', ls)))).toEqual([])
    expect(story(machine.push(decodeFrame(text(2, 'ACTIVE', 'x'))))).toEqual(['=t1s1-c-tool-1', '"x"'])
  })
})

describe('text', () => {
  test('a missing tail is told once', () => {
    expect(story(fold(text(1, 'ACTIVE', 'Hello'), result({ response: 'Hello world' })))).toEqual([
      '"Hello"',
      '" world"',
    ])
  })

  test('a response without any delta is the answer', () => {
    expect(story(fold(result({ response: 'Hello' })))).toEqual(['"Hello"'])
  })

  test('other words settle the last segment only', () => {
    const events = fold(
      text(1, 'DONE', 'First. '),
      tool(2, 'DONE', { ...ls, output: 'x' }),
      text(3, 'DONE', 'caf\uFFFD'),
      result({ response: 'First. café' }),
    )
    expect(story(events)).toEqual(['"First. "', '+t1s1-c-tool-2', '=t1s1-c-tool-2', '"caf\uFFFD"', 'settled "café"'])
  })

  test('words that contradict what is stored already are noted, and nothing is changed', () => {
    const events = fold(
      text(1, 'DONE', 'First. '),
      tool(2, 'DONE', { ...ls, output: 'x' }),
      result({ response: 'Other' }),
    )
    expect(story(events)).toEqual(['"First. "', '+t1s1-c-tool-2', '=t1s1-c-tool-2'])
    expect(events).toContainEqual(expect.objectContaining({ type: 'notice', code: 'AGY_TEXT_DIFFERS' }))
  })

  test('a repeated DONE adds neither text nor tokens', () => {
    const done = text(1, 'DONE', 'x', { usage: { input_tokens: 1, output_tokens: 1 } })
    expect(fold(done, done)).toHaveLength(2)
  })
})

describe('tokens', () => {
  const tokens = (input: number, output: number) => ({ usage: { input_tokens: input, output_tokens: output } })

  test('what the steps did not tell is told once', () => {
    const events = fold(text(1, 'DONE', 'x', tokens(10, 2)), result({ response: 'x', ...tokens(15, 3) }))
    expect(events.filter(event => event.type === 'usage').map(event => event.usage)).toEqual([
      { inputTokens: 10, outputTokens: 2 },
      { inputTokens: 5, outputTokens: 1 },
    ])
  })

  test('what cannot be a count is none', () => {
    const events = fold(text(1, 'DONE', 'x', tokens(Number.MAX_SAFE_INTEGER, 2)), result({ response: 'x' }))
    expect(events).toContainEqual({ type: 'usage', usage: { inputTokens: 0, outputTokens: 2 } })
  })

  test('a result below the steps is noted, and the steps are counted', () => {
    const events = fold(text(1, 'DONE', 'x', tokens(10, 2)), result({ response: 'x', ...tokens(5, 2) }))
    expect(events.filter(event => event.type === 'usage')).toHaveLength(1)
    expect(events).toContainEqual(expect.objectContaining({ code: 'AGY_USAGE_DIFFERS' }))
  })
})

test('what is not known is counted and told once', () => {
  const events = fold({ event: 'weather' }, { event: 'weather' }, step(1, 'DONE', 'dance'), 17, null)
  expect(events).toEqual([
    {
      type: 'notice',
      code: 'AGY_UNKNOWN_FRAMES',
      message:
        'The CLI sent what this version does not know: event "weather" ×2, step type "dance" ×1, event "unnamed" ×2.',
    },
  ])
})

test('ill-typed members count as missing', () => {
  expect(() =>
    fold({
      event: 'step_update',
      step_update: { step_index: 'x', text_delta: 7, step_type: [], usage: 'no', tool_info: 3 },
    }),
  ).not.toThrow()
  expect(
    fold({ event: 'result', result: { status: 3, response: {}, denied_actions: 'x', usage: { input_tokens: -4 } } }),
  ).toEqual([])
})
