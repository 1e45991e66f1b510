/**
 * The message that holds the result of a call. It is made by the host's own `createToolResultMessage`, which takes the same
 * input in both generations; reading it differs. The first has a user message with one `tool-result` block, the later one
 * a message of the role `tool` with the result on itself (`packages/llm/llm/src/message.ts`).
 */

/** The part of a message that is looked at. */
interface AnyMessage {
  readonly role: string
  readonly content: readonly object[]
}

/** As {@link AnyMessage}, in the later generation. */
interface LaterResult extends AnyMessage {
  readonly toolCallId: string
  readonly isError?: boolean
}

const isLater = (message: AnyMessage): message is LaterResult => message.role === 'tool'

const read = new WeakMap<object, object>()

/**
 * The message with its result in a block, as the first generation has it. The same message gives the same object each
 * time, so what was made of it once holds.
 */
export function withResultBlock<Message extends AnyMessage>(message: Message): Message {
  if (!isLater(message)) return message
  const known = read.get(message) as Message | undefined
  if (known !== undefined) return known
  const { toolCallId, isError = false, content } = message as LaterResult
  const first = { ...message, role: 'user', content: [{ type: 'tool-result', toolCallId, isError, content }] }
  read.set(message, first)
  return first as unknown as Message
}
