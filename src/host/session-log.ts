/**
 * The shapes of the session log in the host's generation that is installed (format 0): everything that the recorder
 * writes is made here, so that a later format is one more file beside this one.
 */
import type { LlmCallConfig, LlmCallConfigAdapterDefaults, Message, TokenUsage } from '@deepseek-ai/dsh-llm'
import {
  BlockAssembler,
  CallId,
  createAssistantMessage,
  createToolResultMessage,
  type StreamChunk,
} from '@deepseek-ai/dsh-llm'
import { canonicalHeader, headerEquals, interruptedTurnClosers, type Session } from '@deepseek-ai/dsh-session'

export { BlockAssembler, CallId, type Session, type StreamChunk, type TokenUsage }

/** One message of the history, and whether it was cut short. */
export interface HistoryItem {
  readonly message: Message
  readonly interrupted: boolean
}

/** The messages that a model is to see, oldest first: what a compaction replaced is gone. */
export function historyOf(session: Session): HistoryItem[] {
  const { events } = session
  return session.surface.nodes.flatMap(seq => {
    const event = events[seq]
    const message = event === undefined ? null : session.deriveEventMessage(event)
    if (event === undefined || message === null) return []
    return [{ message, interrupted: event.type === 'assistant/message' && event.data.interrupted === true }]
  })
}

/** Place of a step in the log. */
export interface StepPlace {
  readonly turn: number
  readonly step: number
}

/** What a hosted step was asked under. */
export interface RequestFacts {
  readonly config: LlmCallConfig
  readonly adapterDefaults: LlmCallConfigAdapterDefaults
  readonly contextWindow?: number
}

/**
 * Write the request's header and context where they differ from what the log says already.
 *
 * The header has no system prompt and no tools: the CLI is given neither, and the log says what was asked.
 *
 * @param firstOfProcess - whether nothing in this process has written a header for the session yet.
 */
export function appendRequest(session: Session, facts: RequestFacts, firstOfProcess: boolean): void {
  const { config, adapterDefaults, contextWindow } = facts
  const header = canonicalHeader({ config, adapterDefaults })
  const before = session.requestHeader()
  if (firstOfProcess) {
    session.append('request/header', { header, reason: before === undefined ? 'initial' : 'resume' })
  } else if (before === undefined || !headerEquals(before, header)) {
    session.append('request/header', { header, reason: 'change' })
  }
  const context = {
    provider: config.provider,
    model: config.model,
    ...(contextWindow === undefined ? {} : { contextWindow }),
  }
  const known = session.requestContext()
  const same =
    known?.provider === context.provider &&
    known.model === context.model &&
    known.contextWindow === context.contextWindow
  if (!same) session.append('request/context', context)
}

/** Write one live piece of the answer; returns its number in the log. */
export function appendChunk(session: Session, place: StepPlace, chunk: StreamChunk): number {
  return session.append('assistant/chunk', { ...place, chunk }).seq
}

/** Write the step's one message, made of the pieces that were written before. */
export function appendMessage(
  session: Session,
  place: StepPlace,
  message: {
    readonly content: ReturnType<BlockAssembler['blocks']>
    readonly config: LlmCallConfig
    readonly usage?: TokenUsage
    readonly interrupted: boolean
    readonly chunkSeqs: number[]
  },
): void {
  const { content, config, usage, interrupted, chunkSeqs } = message
  session.append(
    'assistant/message',
    {
      ...place,
      message: createAssistantMessage({ content, source: { provider: config.provider, model: config.model } }),
      ...(interrupted ? { interrupted } : {}),
      ...(usage === undefined ? {} : { usage }),
    },
    { surfaceOp: 'append', sourceEventSeqs: chunkSeqs },
  )
}

/** Write that a call started; returns its number in the log. */
export function appendCall(
  session: Session,
  place: StepPlace,
  call: { readonly id: string; readonly name: string; readonly arguments: string },
): number {
  return session.append('tool/call', {
    ...place,
    callId: CallId(call.id),
    name: call.name,
    arguments: call.arguments,
  }).seq
}

/** A change of a file, told with the result of the call that made it. */
interface ToldChange {
  readonly path: string
  readonly before: string | null
  readonly after: string
}

/** Write the result of a started call. Changes are kept as the host's own file tools keep them, which its diff cards read. */
export function appendResult(
  session: Session,
  place: StepPlace,
  result: {
    readonly id: string
    readonly text: string
    readonly isError: boolean
    readonly changes: readonly ToldChange[]
  },
  callSeq: number,
): void {
  const diffs = result.changes.map(({ path, before, after }) => ({ path, oldText: before || null, newText: after }))
  session.append(
    'tool/result',
    {
      ...place,
      message: createToolResultMessage({
        callId: CallId(result.id),
        content: [{ type: 'text', text: result.text }],
        isError: result.isError,
      }),
      ...(diffs.length > 0 && { meta: { diffs } }),
    },
    { surfaceOp: 'append', sourceEventSeqs: [callSeq] },
  )
}

/**
 * Give every open call of the open step the result that the host itself gives after a crash: "outcome unknown" for one
 * that started, "not started" for one that was only announced. Words and codes are the host's.
 */
export function closeOpenCalls(session: Session): void {
  for (const closer of interruptedTurnClosers(session.events)) {
    if (closer.type !== 'tool/result') continue
    session.append('tool/result', closer.data, {
      surfaceOp: 'append',
      ...(closer.sourceEventSeqs === undefined ? {} : { sourceEventSeqs: closer.sourceEventSeqs }),
    })
  }
}
