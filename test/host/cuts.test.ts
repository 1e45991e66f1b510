/** A run may stop at any moment: the log is valid, what was shown is there, and the session goes on. */
import type { Session } from '@deepseek-ai/dsh-session'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nameOutcome } from '../../src/agy/outcome.ts'
import { playingChild } from '../../src/cli/recording.ts'
import { openReplayHost, type ReplayHost } from '../../src/cli/replay-host.ts'
import { type Cut, cutChild, cutExit } from '../support/cut-child.ts'
import { expectValidLog, lastTurnEnd, mountInvariants, shownText, storedText } from '../support/host.ts'
import { foldBytes, probeNames, readProbe } from '../support/probes.ts'

const ANSWER = readProbe('01-text-answer')
const LF = 0x0a

let host: ReplayHost
beforeAll(async () => {
  host = await openReplayHost({ mount: mountInvariants, durable: false })
})
afterAll(() => host.close())

/** Byte counts after each frame and in the middle of each. */
function cutsOf(frames: Buffer): number[] {
  const cuts: number[] = []
  for (let start = 0; start < frames.length; ) {
    const lf = frames.indexOf(LF, start)
    const end = lf < 0 ? frames.length : lf + 1
    cuts.push(Math.floor((start + end) / 2), end)
    start = end
  }
  return [0, ...cuts]
}

/** Makes the session refuse the step's append of this number, once; remembers what was shown by then. */
function refuseAppend(session: Session, refusal: { readonly at: number; seen: number; shown: string }): void {
  const append = session.append.bind(session) as (type: string, ...rest: unknown[]) => unknown
  Object.assign(session, {
    append(type: string, ...rest: unknown[]) {
      if (/^(?:assistant|tool)\//.test(type)) {
        refusal.seen += 1
        if (refusal.seen === refusal.at) {
          refusal.shown = shownText(session)
          throw new Error('refused for the test')
        }
      }
      return append(type, ...rest)
    },
  })
}

/** The turn ended as its frames say, in a log that is whole, and another turn can be had. */
async function expectSound(session: Session, agent: Parameters<ReplayHost['play']>[1]): Promise<void> {
  expectValidLog(session)
  const next = await host.play(() => playingChild(ANSWER), agent)
  expect(lastTurnEnd(next.session)).toEqual({ kind: 'completed' })
  expect(storedText(next.session)).toContain(foldBytes(ANSWER.frames).summary.text)
  expectValidLog(next.session)
}

describe.each(probeNames)('%s, cut after and inside every frame', name => {
  const recording = readProbe(name)

  test.each<Cut>(['eof', 'kill', 'abort'])('by %s', async cut => {
    for (const bytes of cutsOf(recording.frames)) {
      const { session, agent } = await host.play(agent => cutChild(recording, bytes, cut, agent))
      const { summary } = foldBytes(recording.frames.subarray(0, bytes))
      const { outcome } = nameOutcome({
        ...summary,
        exit: cutExit(cut),
        stderr: recording.stderr,
        ...(cut === 'abort' && summary.result === undefined ? { stoppedBy: 'abort' } : {}),
      })
      expect(lastTurnEnd(session), `cut at byte ${bytes}`).toMatchObject(
        outcome.kind === 'failed'
          ? { kind: 'error', error: { code: outcome.code } }
          : { kind: outcome.kind, ...(outcome.kind === 'aborted' ? { reason: { kind: 'user' } } : {}) },
      )
      expect(storedText(session)).toBe(summary.text)
      await expectSound(session, agent)
    }
  })

  test('by an append that the host refuses, whichever', async () => {
    for (let refused = 1; ; refused += 1) {
      const refusal = { at: refused, seen: 0, shown: '' }
      const { session, agent } = await host.play(({ session }) => {
        if (refusal.seen === 0) refuseAppend(session, refusal)
        return playingChild(recording)
      })
      // The step's own appends are through once none is left to be refused.
      if (refusal.seen < refused) return
      expect(lastTurnEnd(session)).toMatchObject({ kind: 'error' })
      expect(storedText(session), `append ${refused}`).toContain(refusal.shown)
      await expectSound(session, agent)
    }
  })
})
