/**
 * Whatever a child writes, the log is valid, nothing is lost or told twice, and the session goes on.
 *
 * `AGY_FUZZ_RUNS` and `AGY_FUZZ_SEED` set how many runs and which; a failure prints its seed and its smallest run.
 */
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { Session } from '@deepseek-ai/dsh-session'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { playingChild } from '../../src/cli/recording.ts'
import { openReplayHost, type ReplayHost } from '../../src/cli/replay-host.ts'
import type { EngineEvent } from '../../src/engine/contract.ts'
import { anyRun } from '../support/any-frames.ts'
import { cutChild } from '../support/cut-child.ts'
import { expectValidLog, lastTurnEnd, mountInvariants, shownText, storedText } from '../support/host.ts'
import { foldBytes, readProbe } from '../support/probes.ts'

const RUNS = Number(process.env.AGY_FUZZ_RUNS ?? 2_000)
const SEED = process.env.AGY_FUZZ_SEED
/** A host keeps its sessions, so after so many a new one is composed. */
const SESSIONS_PER_HOST = 250
const ANSWER = readProbe('01-text-answer')

let host: ReplayHost | undefined
let sessions = 0
async function hostForOneMore(): Promise<ReplayHost> {
  sessions += 1
  if (host === undefined || sessions % SESSIONS_PER_HOST === 0) {
    await host?.close()
    host = await openReplayHost({ mount: mountInvariants, durable: false })
  }
  return host
}

const ofType = <T extends EngineEvent['type']>(events: readonly EngineEvent[], type: T) =>
  events.filter((event): event is Extract<EngineEvent, { type: T }> => event.type === type)

const messages = (session: Session) => session.events.filter(event => event.type === 'assistant/message')

async function expectGoesOn(host: ReplayHost, agent: Agent): Promise<void> {
  const { session } = await host.play(() => playingChild(ANSWER), agent)
  expect(lastTurnEnd(session)).toEqual({ kind: 'completed' })
  expectValidLog(session)
}

test(`${RUNS} runs of arbitrary frames`, { timeout: 60_000 + RUNS * 50 }, async () => {
  await fc.assert(
    fc.asyncProperty(anyRun, async ({ bytes, cut }) => {
      const host = await hostForOneMore()
      const { session, events, agent } = await host.play(agent =>
        cutChild({ frames: bytes, stderr: '', exit: {} }, bytes.length, cut, agent),
      )
      expectValidLog(session)

      const folded = foldBytes(bytes)
      const reason = lastTurnEnd(session)
      const aborted = reason?.kind === 'aborted'
      const calls = session.events.filter(event => event.type === 'tool/call').map(event => event.data.callId)
      expect(session.events.filter(event => event.type === 'tool/result')).toHaveLength(calls.length)
      const toldCalls: string[] = ofType(folded.events, 'tool-call').map(call => call.id)
      expect(new Set(toldCalls).size).toBe(toldCalls.length)
      // After a stop the host opens no further step, and what waited for one has nowhere to go.
      if (aborted) {
        const bettered = ofType(folded.events, 'text-settled').length > 0
        if (!bettered) expect(storedText(session).trimEnd()).toBe(shownText(session).trimEnd())
        expect(folded.summary.text.startsWith(storedText(session))).toBe(true)
        expect(toldCalls.slice(0, calls.length)).toEqual(calls)
        await expectGoesOn(host, agent)
        return
      }

      const end = events.at(-1)
      expect(ofType(events, 'end')).toEqual([end])
      if (end?.type !== 'end') return
      expect(reason).toMatchObject(
        end.outcome.kind === 'failed'
          ? { kind: 'error', error: { code: end.outcome.code } }
          : { kind: end.outcome.kind },
      )
      // Of a step that was cut short the host keeps no blank text.
      expect(storedText(session).trimEnd()).toBe(folded.summary.text.trimEnd())
      expect(calls).toEqual(toldCalls)
      const told = ofType(folded.events, 'usage').map(event => event.usage)
      const stored = messages(session).map(event => event.data.usage)
      for (const figure of ['inputTokens', 'outputTokens', 'cacheReadTokens', 'reasoningTokens'] as const) {
        const sum = (list: readonly ({ readonly [key in typeof figure]?: number } | undefined)[]) =>
          list.reduce((total, usage) => total + (usage?.[figure] ?? 0), 0)
        expect(sum(stored)).toBe(sum(told))
      }
      await expectGoesOn(host, agent)
    }),
    { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
  )
  await host?.close()
})
