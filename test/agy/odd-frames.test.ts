/** Frames made to trip over: names that every object has, and nesting without end. */
import { describe, expect, test } from 'vitest'
import { Fold } from '../../src/agy/fold.ts'
import { FrameParser } from '../../src/agy/frames.ts'
import { decodeFrame } from '../../src/agy/wire.ts'

function foldLines(...lines: readonly string[]) {
  const [parser, fold] = [new FrameParser(), new Fold('t1s1')]
  const frames = parser.parse(lines.map(text => ({ text })))
  const events = frames.flatMap(frame => ('value' in frame ? fold.push(decodeFrame(frame.value)) : []))
  return { events: [...events, ...fold.finish()], problems: frames.filter(frame => 'problem' in frame).length }
}

const tool = (info: string) =>
  `{"event":"step_update","step_update":{"conversation_id":"c","step_index":2,"state":"DONE","step_type":"tool","tool_info":${info}}}`
const nested = (depth: number, open = '[', close = ']') => `${open.repeat(depth)}${close.repeat(depth)}`

describe.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('the name %s', name => {
  test.each([
    ['of an event', `{"event":"${name}","${name}":{"a":1}}`],
    ['of a member', `{"event":"init","init":{"${name}":1}}`],
    ['of a state', `{"event":"step_update","step_update":{"step_index":2,"state":"${name}","step_type":"tool"}}`],
    ['of a step', `{"event":"step_update","step_update":{"step_index":2,"state":"DONE","step_type":"${name}"}}`],
    ['of a tool', tool(`{"name":"${name}","parameters":{"${name}":{"${name}":1}},"output":"x"}`)],
    ['of an argument', tool(`{"name":"run_command","parameters":{"CommandLine":"ls","${name}":1},"output":"x"}`)],
  ])('%s is read like any other', (_what, line) => {
    expect(() => foldLines(line)).not.toThrow()
  })

  test('of a denied action is read like any other', () => {
    const result = `{"event":"result","result":{"status":"SUCCESS","response":"x","denied_actions":[{"action":"${name}"}]}}`
    const { events } = foldLines(tool('{"name":"run_command","parameters":{"CommandLine":"ls"}}'), result)
    expect(events.find(({ type }) => type === 'tool-result')).toMatchObject({ isError: true })
  })
})

describe('nesting', () => {
  test.each([3_000, 9_000, 200_000])('of %s levels is cut off, and the call is told all the same', depth => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const deep = open === '[' ? nested(depth) : `${open.repeat(depth)}1${close.repeat(depth)}`
      const lines = [
        tool(`{"name":"run_command","parameters":{"CommandLine":"ls","More":${deep}},"output":"x"}`),
        tool(`{"name":"run_command","parameters":{"CommandLine":"rm"},"error":${deep}}`),
      ]
      const { events, problems } = foldLines(...lines)
      expect(problems).toBe(0)
      expect(events.filter(({ type }) => type === 'tool-call')).toHaveLength(2)
      expect(JSON.stringify(events[0])).toContain('…')
    }
  })

  test('as any recording has it stays whole', () => {
    const { events } = foldLines(tool(`{"name":"x","parameters":{"a":${nested(150)}},"output":"${'y'.repeat(2_000)}"}`))
    expect(events[0]).toMatchObject({ arguments: `{"a":${nested(150)}}` })
  })
})
