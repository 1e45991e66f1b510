/** Some versions of the CLI go on trying for minutes after they said that the quota is used up for hours. */
import { expect, onTestFinished, test } from 'vitest'
import { openReplayHost } from '../../src/cli/replay-host.ts'
import { cutChild } from '../support/cut-child.ts'
import { lastTurnEnd } from '../support/host.ts'
import { readProbe } from '../support/probes.ts'

const RETRIES = readProbe('23-429-retried').frames.toString('utf8').split('\n').slice(0, 4).join('\n').concat('\n')

async function endAfterRetries(stderr: string, cut: 'hold' | 'eof') {
  const host = await openReplayHost({ durable: false })
  onTestFinished(() => host.close())
  const recording = { frames: Buffer.from(RETRIES), stderr, exit: {} }
  const { session } = await host.play(agent => cutChild(recording, RETRIES.length, cut, agent))
  return lastTurnEnd(session)
}

test('the run is ended at once, with the time of the reset', async () => {
  const end = await endAfterRetries('RESOURCE_EXHAUSTED: Individual quota reached.\nResets in 2h18m58s.', 'hold')
  expect(end).toMatchObject({
    kind: 'error',
    error: { code: 'AGY_QUOTA', message: expect.stringContaining('resets in 2h18m58s') },
  })
})

test('a mere overload is left to the tries of the CLI', async () => {
  // The child leaves by itself: had it been stopped, its exit would not be told.
  const end = await endAfterRetries('Error 503: the model is overloaded', 'eof')
  expect(end).toMatchObject({ kind: 'error', error: { code: expect.not.stringMatching('AGY_QUOTA') } })
})
