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
  readonly conversationId: string | undefined
  readonly index: number | undefined
  readonly state: 'ACTIVE' | 'DONE' | 'ERROR' | 'unknown'
  /** The CLI's own word, also when it is a new one. */
  readonly type: string
  readonly text: string | undefined
  readonly usage: AgyUsage | undefined
  readonly tool: AgyTool | undefined
  /** One line for each subagent that the step started. */
  readonly subagents: readonly string[] | undefined
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

/** All members are there, so that the most frequent frame of all is one object of one shape. */
const step = (value: Fields): AgyStep => ({
  conversationId: filled(value.conversation_id),
  index: Number.isSafeInteger(value.step_index) ? (value.step_index as number) : undefined,
  state: STATES.has(value.state) ? (value.state as AgyStep['state']) : 'unknown',
  type: filled(value.step_type) ?? 'unknown',
  // No recording holds a thinking delta; text_delta is the only text on the wire.
  text: filled(value.text_delta),
  usage: usage(value.usage),
  tool: tool(value),
  subagents: subagents(value),
})

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

const NONE: readonly string[] = []

/** Names of the members that no recording holds. */
function strangeMembers(top: Fields): readonly string[] {
  const kind = filled(top.event) ?? ''
  const isKnown = Object.hasOwn(KNOWN, kind) ? KNOWN[kind] : undefined
  if (isKnown === undefined) return NONE
  let strange = NONE
  const body = fields(top[kind])
  // JSON gives its objects no inherited members, and to list the keys would make an array for each frame.
  for (const member in body) {
    if (!isKnown(member)) strange = [...strange, `${kind}.${member}`]
  }
  return strange
}

/**
 * Members that a recording holds, whether they are read or not. Each member of each frame is looked up: a switch takes a
 * fraction of the time of a set.
 */
const KNOWN: Readonly<Record<string, (member: string) => boolean>> = {
  init(member) {
    switch (member) {
      case 'model':
      case 'cwd':
      case 'tools':
      case 'permission_mode':
      case 'expanded_commands':
      case 'agent':
      case 'json_schema':
        return true
      default:
        return false
    }
  },
  step_update(member) {
    switch (member) {
      case 'conversation_id':
      case 'step_index':
      case 'state':
      case 'step_type':
      case 'text_delta':
      case 'duration_seconds':
      case 'usage':
      case 'tool_name':
      case 'tool_info':
      case 'subagent_info':
        return true
      default:
        return false
    }
  },
  result(member) {
    switch (member) {
      case 'conversation_id':
      case 'status':
      case 'response':
      case 'error':
      case 'duration_seconds':
      case 'num_turns':
      case 'usage':
      case 'denied_actions':
      case 'structured_output':
      case 'json_schema':
      case 'command':
        return true
      default:
        return false
    }
  },
}

/**
 * Decode one JSON value of the CLI's stdout.
 *
 * @param frame - any JSON value; a line of the stream.
 * @returns the event; a value of an unknown or missing kind becomes `unknown` with the kind's name.
 */
export function decodeFrame(frame: unknown): AgyEvent {
  const top = fields(frame)
  const strange = strangeMembers(top)
  switch (top.event) {
    case 'init': {
      const conversationId = filled(top.conversation_id)
      const model = filled(fields(top.init).model)
      const permissionMode = filled(fields(top.init).permission_mode)
      return {
        kind: 'init',
        strangeMembers: strange,
        ...(conversationId !== undefined && { conversationId }),
        ...(model !== undefined && { model }),
        ...(permissionMode !== undefined && { permissionMode }),
      }
    }
    case 'step_update':
      return { kind: 'step', step: step(fields(top.step_update)), strangeMembers: strange }
    case 'result':
      return { kind: 'result', result: result(fields(top.result)), strangeMembers: strange }
    case 'command_result': {
      const { name, data } = fields(top.command)
      return { kind: 'command-result', name: filled(name) ?? 'unknown', data, strangeMembers: strange }
    }
    default:
      return { kind: 'unknown', event: filled(top.event) ?? 'unnamed', strangeMembers: strange }
  }
}
