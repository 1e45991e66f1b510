/** Frames that no CLI has sent yet: well-formed and not, repeated and interleaved, ended in any way. */
import fc from 'fast-check'
import type { Cut } from './cut-child.ts'

/** What a child writes, and what ends it. */
export interface AnyRun {
  readonly bytes: Buffer
  readonly cut: Cut
}

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 3 })

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', 'a', 'ab', '\n', '\u2028', '\ud800', '\0', '</tool>', 'permission denied'),
)
const number = fc.oneof(
  fc.nat({ max: 1000 }),
  fc.constantFrom(-1, -0, 0.5, 1e300, Number.MAX_SAFE_INTEGER, 1e12, '7', null, true),
)
const usage = fc.oneof(
  fc.record(
    {
      input_tokens: number,
      output_tokens: number,
      thinking_tokens: number,
      cache_read_tokens: number,
      total_tokens: number,
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
)
const conversation = fc.constantFrom('c1', 'c1', 'c1', 'c2', '', undefined, 7)
const type = fc.oneof(
  { weight: 4, arbitrary: fc.constant('agent_response') },
  { weight: 4, arbitrary: fc.constant('tool') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...['subagent', 'finish', 'error_message', 'system_message', 'checkpoint', 'title', 'user_input', 'unknown'],
      ...['newer_than_we_know', '', undefined, 3],
    ),
  },
)
const toolInfo = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      name: maybe(fc.constantFrom('run_command', 'view_file', 'finish', '', '__proto__')),
      parameters: maybe(
        fc.oneof(
          fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 })),
          fc.jsonValue({ maxDepth: 1 }),
        ),
      ),
      output: maybe(words),
      error: maybe(fc.oneof(words, fc.record({ message: words }), fc.jsonValue({ maxDepth: 1 }))),
    }),
  },
  fc.jsonValue({ maxDepth: 1 }),
)
const step = fc
  .record({
    conversation_id: conversation,
    step_index: fc.constantFrom(0, 1, 2, 3, 3, 4, 5, -1, 2.5, '2', undefined),
    state: fc.constantFrom('ACTIVE', 'ACTIVE', 'DONE', 'DONE', 'ERROR', 'PAUSED', '', undefined),
    step_type: type,
    text_delta: maybe(words),
    usage: maybe(usage),
    tool_name: maybe(fc.constantFrom('run_command', 'view_file', '')),
    tool_info: maybe(toolInfo),
    subagent_info: maybe(
      fc.oneof(fc.record({ subagents: fc.array(fc.jsonValue({ maxDepth: 1 })) }), fc.jsonValue({ maxDepth: 1 })),
    ),
    ahead_of_us: maybe(fc.constant(1)),
  })
  .map(body => ({ event: 'step_update', step_update: body }))
const result = fc
  .record({
    conversation_id: conversation,
    status: fc.constantFrom('SUCCESS', 'SUCCESS', 'ERROR', 'CANCELED', 'NEW', undefined),
    response: maybe(words),
    error: maybe(words),
    usage: maybe(usage),
    denied_actions: maybe(
      fc.oneof(
        fc.array(fc.record({ action: maybe(words), display_name: maybe(words) })),
        fc.jsonValue({ maxDepth: 1 }),
      ),
    ),
  })
  .map(body => ({ event: 'result', result: body }))
const init = fc.record({ conversation_id: conversation }).map(top => ({ event: 'init', ...top, init: { model: 'm' } }))
const line = fc.oneof(
  { weight: 12, arbitrary: step.map(frame => JSON.stringify(frame)) },
  { weight: 1, arbitrary: init.map(frame => JSON.stringify(frame)) },
  { weight: 1, arbitrary: fc.jsonValue().map(value => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '   ',
      '{',
      'null',
      '{}',
      '{"event":"result"}',
      '{"event":"step_update","step_update":[]}',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
)

/** A run: lines with a result somewhere or nowhere, a stretch of them said twice, any line ends, any end. */
export const anyRun: fc.Arbitrary<AnyRun> = fc
  .record({
    lines: fc.array(line, { maxLength: 24 }),
    closing: maybe(result.map(frame => JSON.stringify(frame))),
    after: fc.array(line, { maxLength: 2 }),
    again: fc.tuple(fc.nat({ max: 24 }), fc.nat({ max: 6 })),
    lineEnd: fc.constantFrom('\n', '\n', '\r\n', '\n\n'),
    torn: fc.boolean(),
    cut: fc.constantFrom<Cut>('eof', 'eof', 'kill', 'abort'),
  })
  .map(({ lines, closing, after, again: [from, count], lineEnd, torn, cut }) => {
    const repeated = [...lines.slice(0, from + count), ...lines.slice(from)]
    const all = [...repeated, ...(closing === undefined ? [] : [closing, ...after])].join(lineEnd)
    return { bytes: Buffer.from(torn ? all : `${all}${lineEnd}`), cut }
  })
