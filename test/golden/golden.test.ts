/**
 * What each recording becomes, kept as files: the engine's events and the durable log. `npm run probes:update` writes
 * them anew and shows the difference.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { becomingOf, GOLDEN_FILES } from '../../src/cli/becoming.ts'
import { openReplayHost, type ReplayHost } from '../../src/cli/replay-host.ts'
import { holdTime } from '../../src/cli/still-time.ts'
import { mountInvariants } from '../support/host.ts'
import { probeNames, readProbe } from '../support/probes.ts'

const folder = mkdtempSync(join(tmpdir(), 'dsh-agy-golden-'))
let host: ReplayHost
let letGo: () => void
beforeAll(async () => {
  vi.stubEnv('TMPDIR', folder)
  letGo = holdTime()
  host = await openReplayHost({ mount: mountInvariants })
})
afterAll(async () => {
  await host.close()
  letGo()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

describe.each(probeNames)('%s', name => {
  test('becomes the events and the log that it always became', async () => {
    const { events, log } = await becomingOf(host, readProbe(name))
    await expect(events).toMatchFileSnapshot(`${name}/${GOLDEN_FILES.events}`)
    await expect(log).toMatchFileSnapshot(`${name}/${GOLDEN_FILES.log}`)
  })
})
