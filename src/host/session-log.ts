/**
 * What the recorder writes into a session's log, and the history that is read from it. Where the host's generations differ,
 * the difference lies in a file of its own beside this one; what is named here is the same in both.
 */
import type { LlmCallConfig, LlmCallConfigAdapterDefaults, Message, TokenUsage } from '@deepseek-ai/dsh-llm'
import { BlockAssembler, createAssistantMessage, createToolResultMessage, type StreamChunk } from '@deepseek-ai/dsh-llm'
import { canonicalHeader, headerEquals, interruptedTurnClosers, type Session } from '@deepseek-ai/dsh-session'
import { callId } from './call-id.ts'
import type { LiveAnswer, StepPlace } from './live-answer.ts'
import { eventsOf } from './session-events.ts'
import { withResultBlock } from './tool-result.ts'

export { BlockAssembler, callId, eventsOf, type LiveAnswer, type Session, type StepPlace, type StreamChunk }

/** One message of the history, and whether it was cut short. */
export interface HistoryItem {
  readonly message: Message
  readonly interrupted: boolean
}

/** Messages of the later generation that tell a model of dsh's own system prompt and tools, which the CLI has not. */
const OF_DSH_ALONE: ReadonlySet<string> = new Set(['system/message', 'developer/message'])

/** The messages that a model is to see, oldest first: what a compaction replaced is gone. */
export function historyOf(session: Session): HistoryItem[] {
  const events = eventsOf(session)
  return session.surface.nodes.flatMap(seq => {
    const event = events[seq]
    if (event === undefined || OF_DSH_ALONE.has(event.type)) return []
    const message = session.deriveEventMessage(event)
    if (message === null) return []
    const interrupted = event.type === 'assistant/message' && event.data.interrupted === true
    return [{ message: withResultBlock(message), interrupted }]
  })
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

/** Write the step's one message, made of the pieces that were shown before. */
export function appendMessage(
  answer: LiveAnswer,
  {
    content,
    config,
    usage,
    interrupted,
  }: {
    readonly content: ReturnType<BlockAssembler['blocks']>
    readonly config: LlmCallConfig
    readonly usage?: TokenUsage
    readonly interrupted: boolean
  },
): void {
  answer.settle({
    message: createAssistantMessage({ content, source: { provider: config.provider, model: config.model } }),
    ...(interrupted ? { interrupted } : {}),
    ...(usage === undefined ? {} : { usage }),
  })
}

/** Write that a call started; returns its number in the log. */
export function appendCall(
  session: Session,
  place: StepPlace,
  call: { readonly id: string; readonly name: string; readonly arguments: string },
): number {
  return session.append('tool/call', {
    ...place,
    callId: callId(call.id),
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
        callId: callId(result.id),
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
  for (const closer of interruptedTurnClosers(eventsOf(session))) {
    if (closer.type !== 'tool/result') continue
    session.append('tool/result', closer.data, {
      surfaceOp: 'append',
      ...(closer.sourceEventSeqs === undefined ? {} : { sourceEventSeqs: closer.sourceEventSeqs }),
    })
  }
}
