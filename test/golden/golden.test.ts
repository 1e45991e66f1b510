/**
 * What each recording becomes, kept as files: the engine's events and the durable log. `npm run probes:update` writes
 * them anew and shows the difference.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { playingChild } from '../../src/cli/recording.ts'
import { openReplayHost, type ReplayHost } from '../../src/cli/replay-host.ts'
import { mountInvariants } from '../support/host.ts'
import { probeNames, readProbe } from '../support/probes.ts'

const folder = mkdtempSync(join(tmpdir(), 'dsh-agy-golden-'))
let host: ReplayHost
beforeAll(async () => {
  vi.stubEnv('TMPDIR', folder)
  // Time stands still, so that pieces of text are joined in one way only.
  vi.useFakeTimers({ now: 0, toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] })
  host = await openReplayHost({ mount: mountInvariants })
})
afterAll(async () => {
  await host.close()
  vi.useRealTimers()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const jsonLines = (values: readonly unknown[]): string => values.map(value => `${JSON.stringify(value)}\n`).join('')

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

describe.each(probeNames)('%s', name => {
  test('becomes the events and the log that it always became', async () => {
    const { session, events } = await host.play(() => playingChild(readProbe(name)))
    await expect(jsonLines(events)).toMatchFileSnapshot(`${name}/events.jsonl`)
    await expect(withoutChance(readFileSync(host.logOf(session), 'utf8'))).toMatchFileSnapshot(`${name}/log.jsonl`)
  })
})
