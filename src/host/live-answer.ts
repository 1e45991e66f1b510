/**
 * How an answer streams, and what of the stream is stored.
 *
 * In the first generation each piece is a durable `assistant/chunk` event, and the message cites them. In the later one the
 * pieces are `agent/assistant-stream` frames beside the log, and the message carries its own compressed stream; one that
 * came to no message is an `assistant/attempt` (`packages/core/agent-loop/src/assistant-stream.ts`,
 * `packages/llm/llm/src/assistant-stream.ts`).
 */
import type { AssistantMessage, StreamChunk, TokenUsage } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import { type HostApi, INSTALLED } from './generation.ts'

/** Place of a step in the log. */
export interface StepPlace {
  readonly turn: number
  readonly step: number
}

/** What a step's one message says. */
export interface StepMessage {
  readonly message: AssistantMessage
  readonly usage?: TokenUsage
  readonly interrupted?: true
}

/** The stream of one step's answer. A write that the host refuses has changed nothing, and may be tried again. */
export interface LiveAnswer {
  /** Show one piece. */
  push(chunk: StreamChunk): void
  /** Write the message that the pieces became. */
  settle(message: StepMessage): void
  /** The pieces became no message: nothing more will come. */
  drop(): void
}

/** One counter of an agent, shared with its own loop, so that nothing is numbered twice. */
export type Counter = () => number

/** What the later generation's frames need of an agent. */
export interface FrameSource {
  /** Tell the agent's listeners. */
  emit(frame: object): void
  readonly nextAttempt: Counter
  readonly nextRevision: Counter
}

/** The part of the later generation's accumulator that is used. */
interface Accumulator {
  push(timed: { readonly time: number; readonly chunk: StreamChunk }): {
    readonly time: number
    readonly chunk: StreamChunk
  }
  snapshot(): readonly object[]
}

/** The later generation's way to append, which the installed types do not know. */
type Append = (type: string, data: object, intent?: object) => { readonly seq: number }

/** Whether the host has frames and compressed streams in the place of durable pieces. */
export const storesNoChunks = ({ llm }: HostApi): boolean => typeof llm.AssistantStreamAccumulator === 'function'

/**
 * Open the answer of a step.
 *
 * @param frames - of the agent; absent in the first generation, which has none.
 */
export function openAnswer(
  session: Session,
  place: StepPlace,
  frames?: FrameSource,
  host: HostApi = INSTALLED,
): LiveAnswer {
  if (!storesNoChunks(host) || frames === undefined) return durableAnswer(session, place)
  const Stream = host.llm.AssistantStreamAccumulator as new () => Accumulator
  return framedAnswer(session, place, frames, new Stream())
}

function durableAnswer(session: Session, place: StepPlace): LiveAnswer {
  const chunkSeqs: number[] = []
  return {
    push(chunk) {
      chunkSeqs.push(session.append('assistant/chunk', { ...place, chunk }).seq)
    },
    settle(message) {
      session.append('assistant/message', { ...place, ...message }, { surfaceOp: 'append', sourceEventSeqs: chunkSeqs })
    },
    drop() {},
  }
}

function framedAnswer(session: Session, place: StepPlace, frames: FrameSource, stream: Accumulator): LiveAnswer {
  const append: Append = session.append.bind(session) as unknown as Append
  let attemptId: string | undefined
  let index = 0
  const emit = (frame: object): void => frames.emit({ ...frame, attemptId, revision: frames.nextRevision() })
  const end = (eventType: string, seq: number): void => {
    if (attemptId === undefined) return
    emit({ type: 'end', index, outcome: { kind: 'committed', eventType, seq } })
    attemptId = undefined
  }
  return {
    push(chunk) {
      if (attemptId === undefined) {
        attemptId = `${session.id}:${frames.nextAttempt()}`
        emit({ type: 'start', ...place })
      }
      emit({ type: 'chunk', index, ...stream.push({ time: Date.now(), chunk }) })
      index += 1
    },
    settle(message) {
      const data = { ...place, ...message, stream: [...stream.snapshot()] }
      end('assistant/message', append('assistant/message', data, { surfaceOp: 'append' }).seq)
    },
    drop() {
      if (attemptId === undefined) return
      const data = { ...place, stream: [...stream.snapshot()] }
      end('assistant/attempt', append('assistant/attempt', data).seq)
    },
  }
}
