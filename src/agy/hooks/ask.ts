/** What the CLI hands to its hook before each call: one JSON object (captures of agy 1.1.7 to 1.2.16; 2026-12-03). */
import { fields, isFields } from '../fields.ts'

/** A call that the CLI wants to make. */
export interface HookAsk {
  /** Of the run itself, or of one of the CLI's own subagents. */
  readonly conversationId: string
  /** The `step_index` of the call's frames. */
  readonly stepIndex: number
  readonly name: string
  /** Whole arguments in most captures, with the contents that frames leave out. */
  readonly args: Readonly<Record<string, unknown>>
}

/** What the hook answers. The reason of a denial reaches the model. */
export type HookAnswer = { readonly decision: 'allow' } | { readonly decision: 'deny'; readonly reason: string }

/** A denial, with its reason for the model. */
export const deny = (reason: string): HookAnswer => ({ decision: 'deny', reason })

/**
 * Read the hook's input.
 *
 * @param body - what the hook program was given.
 * @returns the call, or why it is none.
 */
export function parseAsk(body: string): HookAsk | { readonly problem: string } {
  let input: unknown
  try {
    input = JSON.parse(body)
  } catch {
    return { problem: 'it is not JSON' }
  }
  const { conversationId, stepIdx, toolCall } = fields(input)
  if (typeof conversationId !== 'string' || conversationId === '') return { problem: 'it names no conversation' }
  if (typeof stepIdx !== 'number' || !Number.isSafeInteger(stepIdx) || stepIdx < 0)
    return { problem: 'it names no step' }
  const { name, args } = fields(toolCall)
  if (typeof name !== 'string' || name === '') return { problem: 'it names no tool' }
  if (args !== undefined && !isFields(args)) return { problem: 'its arguments are no object' }
  return { conversationId, stepIndex: stepIdx, name, args: args ?? {} }
}

/** What was decided on a call that the CLI asked about. */
export type Decision =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly reason: string }
  /** It was a question to the user; the text is what came of it. */
  | { readonly kind: 'answered'; readonly text: string }
