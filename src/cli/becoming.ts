/**
 * What a recording becomes: the engine's events and the durable log, as texts that are the same each time. The golden files
 * of `test/golden` hold both, and `probes check` compares with them.
 */
import { readFileSync } from 'node:fs'
import type { Outcome } from '../engine/contract.ts'
import { playingChild, type Recording } from './recording.ts'
import type { ReplayHost } from './replay-host.ts'

/** Names of the golden files of one recording. */
export const GOLDEN_FILES = { events: 'events.jsonl', log: 'log.jsonl' } as const

/** A recording that was played. */
export interface Becoming {
  /** The engine's events, one a line. */
  readonly events: string
  /** The durable log, without what is drawn by lot. */
  readonly log: string
  /** How it ended; absent if the engine did not say. */
  readonly outcome?: Outcome
  /** Path of the log as it was written. */
  readonly logFile: string
}

/**
 * Play a recording. The clocks must be held still, see `holdTime`: pieces of text are joined by time.
 *
 * @param host - gives each recording a session of its own.
 */
export async function becomingOf(host: ReplayHost, recording: Recording): Promise<Becoming> {
  const { session, events } = await host.play(() => playingChild(recording))
  const logFile = host.logOf(session)
  const end = events.find(event => event.type === 'end')
  return {
    events: events.map(event => `${JSON.stringify(event)}\n`).join(''),
    log: withoutChance(readFileSync(logFile, 'utf8')),
    ...(end && { outcome: end.outcome }),
    logFile,
  }
}

/** The log without what is drawn by lot: the session's number, its messages' ids, and the folder that it works in. */
function withoutChance(log: string): string {
  const { id, cwd } = JSON.parse(log.slice(0, log.indexOf('\n'))) as { id: string; cwd: string }
  const messages: string[] = []
  return log
    .replaceAll(cwd, '/workspace')
    .replaceAll(`"${id}"`, '"session"')
    .replaceAll(/"id":"([0-9a-f-]{36})"/g, (_all, message: string) => {
      if (!messages.includes(message)) messages.push(message)
      return `"id":"message-${messages.indexOf(message) + 1}"`
    })
}
