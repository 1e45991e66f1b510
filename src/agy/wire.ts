/**
 * First pure layer: a JSON value from the CLI's stdout becomes an `AgyEvent`.
 *
 * Total and tolerant: it never throws, takes frames with extra or missing members, and keeps what it does not know as
 * `unknown` so that somebody can count it. No policy lives here. The frame facts come from the recordings in `probes/`
 * (CLI versions 1.1.8 to 1.3.2).
 */
import { type Fields, fields, isFields } from './fields.ts'

/**
 * Token counts as the CLI words them: cache reads are disjoint from the input, thinking is part of the output. Results
 * of 1.1.8 do not tell the last two.
 */
export interface AgyUsage {
  readonly input: number
  readonly output: number
  readonly thinking?: number
  readonly cacheRead?: number
}

/** What a tool frame says of its call. `parameters` lacks file contents, which the CLI strips. */
export interface AgyTool {
  readonly name?: string
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly output?: string
  readonly error?: string
}

/** One `step_update` frame. The pair of conversation id and index is the only identity that a step has. */
export interface AgyStep {
  readonly conversationId?: string
  readonly index?: number
  readonly state: 'ACTIVE' | 'DONE' | 'ERROR' | 'unknown'
  /** The CLI's own word, also when it is a new one. */
  readonly type: string
  readonly text?: string
  readonly usage?: AgyUsage
  readonly tool?: AgyTool
  /** One line for each subagent that the step started. */
  readonly subagents?: readonly string[]
}

/** The `result` frame that closes a turn of the CLI. */
export interface AgyResult {
  readonly conversationId?: string
  readonly status: string
  readonly response: string
  readonly error?: string
  readonly usage?: AgyUsage
  /** Names of the actions that headless mode denied by itself. */
  readonly deniedActions: readonly string[]
}

/** One decoded line of the CLI's stdout, with the names of members that this version does not know. */
export type AgyEvent = AgyKnownEvent & { readonly strangeMembers: readonly string[] }

type AgyKnownEvent =
  | {
      readonly kind: 'init'
      readonly conversationId?: string
      readonly model?: string
      readonly permissionMode?: string
    }
  | { readonly kind: 'step'; readonly step: AgyStep }
  | { readonly kind: 'result'; readonly result: AgyResult }
  | { readonly kind: 'command-result'; readonly name: string; readonly data: unknown }
  | { readonly kind: 'unknown'; readonly event: string }

/** While it is put together: an ill-typed member counts as missing, and a missing one is left out. */
type Writable<T> = { -readonly [K in keyof T]: T[K] }

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const filled = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
/** No run has more tokens; what is above is no count, and sums of such figures would not be exact. */
const MOST_TOKENS = 1e12
const count = (value: unknown): number =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) <= MOST_TOKENS ? (value as number) : 0

function usage(value: unknown): AgyUsage | undefined {
  if (!isFields(value)) return undefined
  return {
    input: count(value.input_tokens),
    output: count(value.output_tokens),
    ...(value.thinking_tokens === undefined ? {} : { thinking: count(value.thinking_tokens) }),
    ...(value.cache_read_tokens === undefined ? {} : { cacheRead: count(value.cache_read_tokens) }),
  }
}

function errorText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  return text(fields(value).message) ?? JSON.stringify(value)
}

function tool(step: Fields): AgyTool | undefined {
  const info = step.tool_info
  const name = filled(fields(info).name) ?? filled(step.tool_name)
  if (!isFields(info) && name === undefined) return undefined
  const tool: Writable<AgyTool> = {}
  if (name !== undefined) tool.name = name
  if (!isFields(info)) return tool
  const output = text(info.output)
  const error = errorText(info.error)
  if (isFields(info.parameters)) tool.parameters = info.parameters
  if (output !== undefined) tool.output = output
  if (error !== undefined) tool.error = error
  return tool
}

function subagents(step: Fields): readonly string[] | undefined {
  const list = fields(step.subagent_info).subagents
  if (!Array.isArray(list)) return undefined
  return list.map(entry => {
    const agent = fields(entry)
    const who = [filled(agent.role), filled(agent.type_name)].filter(part => part !== undefined).join(', ')
    return `${who || 'subagent'}: ${text(agent.initial_prompt) ?? ''}`.trimEnd()
  })
}

const STATES: ReadonlySet<unknown> = new Set(['ACTIVE', 'DONE', 'ERROR'])

function step(value: Fields): AgyStep {
  const step: Writable<AgyStep> = {
    state: STATES.has(value.state) ? (value.state as AgyStep['state']) : 'unknown',
    type: filled(value.step_type) ?? 'unknown',
  }
  const conversationId = filled(value.conversation_id)
  if (conversationId !== undefined) step.conversationId = conversationId
  if (Number.isSafeInteger(value.step_index)) step.index = value.step_index as number
  // No recording holds a thinking delta; text_delta is the only text on the wire.
  const delta = filled(value.text_delta)
  if (delta !== undefined) step.text = delta
  const counted = usage(value.usage)
  if (counted !== undefined) step.usage = counted
  const called = tool(value)
  if (called !== undefined) step.tool = called
  const started = subagents(value)
  if (started !== undefined) step.subagents = started
  return step
}

function result(value: Fields): AgyResult {
  const denied = Array.isArray(value.denied_actions) ? value.denied_actions : []
  const result: Writable<AgyResult> = {
    status: filled(value.status) ?? 'unknown',
    response: text(value.response) ?? '',
    deniedActions: denied.map(entry => filled(fields(entry).action) ?? filled(fields(entry).display_name) ?? 'unknown'),
  }
  const conversationId = filled(value.conversation_id)
  if (conversationId !== undefined) result.conversationId = conversationId
  const error = filled(value.error)
  if (error !== undefined) result.error = error
  const counted = usage(value.usage)
  if (counted !== undefined) result.usage = counted
  return result
}

/** Members that a recording holds, whether they are read or not. */
const MEMBERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['init', new Set(['model', 'cwd', 'tools', 'permission_mode', 'expanded_commands', 'agent', 'json_schema'])],
  [
    'step_update',
    new Set([
      ...['conversation_id', 'step_index', 'state', 'step_type', 'text_delta', 'duration_seconds', 'usage'],
      ...['tool_name', 'tool_info', 'subagent_info'],
    ]),
  ],
  [
    'result',
    new Set([
      ...['conversation_id', 'status', 'response', 'error', 'duration_seconds', 'num_turns', 'usage', 'denied_actions'],
      ...['structured_output', 'json_schema', 'command'],
    ]),
  ],
])

const NONE: readonly string[] = []

function strangeMembers(top: Fields): readonly string[] {
  const kind = filled(top.event) ?? ''
  const known = MEMBERS.get(kind)
  if (known === undefined) return NONE
  let strange = NONE
  const body = fields(top[kind])
  // JSON gives its objects no inherited members, and to list the keys would make an array for each frame.
  for (const member in body) {
    if (!known.has(member)) strange = [...strange, `${kind}.${member}`]
  }
  return strange
}

/**
 * Decode one JSON value of the CLI's stdout.
 *
 * @param frame - any JSON value; a line of the stream.
 * @returns the event; a value of an unknown or missing kind becomes `unknown` with the kind's name.
 */
export function decodeFrame(frame: unknown): AgyEvent {
  const top = fields(frame)
  return Object.assign(decodeKnown(top), { strangeMembers: strangeMembers(top) })
}

function decodeKnown(top: Fields): AgyKnownEvent {
  switch (top.event) {
    case 'init': {
      const conversationId = filled(top.conversation_id)
      const { model, permission_mode } = fields(top.init)
      const init: Writable<Extract<AgyKnownEvent, { kind: 'init' }>> = { kind: 'init' }
      if (conversationId !== undefined) init.conversationId = conversationId
      if (filled(model) !== undefined) init.model = model as string
      if (filled(permission_mode) !== undefined) init.permissionMode = permission_mode as string
      return init
    }
    case 'step_update':
      return { kind: 'step', step: step(fields(top.step_update)) }
    case 'result':
      return { kind: 'result', result: result(fields(top.result)) }
    case 'command_result': {
      const command = fields(top.command)
      return { kind: 'command-result', name: filled(command.name) ?? 'unknown', data: command.data }
    }
    default:
      return { kind: 'unknown', event: filled(top.event) ?? 'unnamed' }
  }
}
