/**
 * The later generation of dsh (session format 4) as plain objects. That dsh cannot be installed, so this is the one place
 * where something stands in for the host: what is here has the shapes that `src/host/generation.ts` says where they were
 * read, and no more than the engine uses of them. It shows what the engine writes and reads there, not that such a dsh
 * takes it.
 */
import * as llm from '@deepseek-ai/dsh-llm'
import * as session from '@deepseek-ai/dsh-session'
import type { LogEvent } from '../../src/cli/log-rules.ts'
import type { HostApi } from '../../src/host/generation.ts'
import type { FrameSource } from '../../src/host/live-answer.ts'
import type { Session, StreamChunk } from '../../src/host/session-log.ts'

/** Keeps each piece as a record of its own, which the later generation's records allow. */
class AssistantStreamAccumulator {
  private readonly records: object[] = []
  push(timed: { time: number; chunk: StreamChunk }) {
    this.records.push({ type: 'chunk', ...timed })
    return timed
  }
  snapshot() {
    return Object.freeze([...this.records])
  }
}

const { CallId: _, ...rest } = llm

/** The later generation's exports: those of the installed one, but for what differs. */
export const LATER: HostApi = {
  llm: {
    ...rest,
    ToolCallId: (id: string) => id,
    AssistantStreamAccumulator,
    createSystemMessage: (text: string) => ({
      id: 'system-1',
      role: 'system',
      content: text === '' ? [] : [{ type: 'text', text }],
      source: { kind: 'system-prompt' },
    }),
  },
  session: { ...session, SESSION_FORMAT_VERSION: 4, decodeStorageRecord: undefined },
}

/** A session without `events`, inside turn 1, step 1. */
export function laterSession(): { session: Session; log: () => LogEvent[]; refuseNext: () => void } {
  const log: LogEvent[] = []
  let refuses = false
  const append = (type: string, data: object, intent: object = {}) => {
    if (refuses) {
      refuses = false
      throw new Error('refused')
    }
    const event = { type, seq: log.length, time: 1, data, ...intent }
    log.push(event)
    return event
  }
  append('turn/start', { turn: 1 })
  append('step/start', { turn: 1, step: 1 })
  const later = {
    id: 'session-1',
    append,
    snapshotEvents: () => [...log],
    get surface() {
      return { nodes: log.filter(event => event.surfaceOp === 'append').map(({ seq }) => seq) }
    },
    deriveEventMessage: ({ type, data }: LogEvent) =>
      type === 'user/message' ? data : (data as { message: { content: unknown[] } }).message,
    requestHeader: () => undefined,
    requestContext: () => undefined,
  }
  return {
    session: later as unknown as Session,
    log: () => log,
    refuseNext: () => {
      refuses = true
    },
  }
}

/** The frames of an agent, and what was told by them. */
export function frameSource(): FrameSource & { readonly told: Record<string, unknown>[] } {
  const told: Record<string, unknown>[] = []
  let attempts = 0
  let revisions = 0
  return {
    told,
    emit: frame => void told.push(frame as Record<string, unknown>),
    nextAttempt: () => ++attempts,
    nextRevision: () => ++revisions,
  }
}
