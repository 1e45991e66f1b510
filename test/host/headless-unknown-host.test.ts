/** A dsh that the engine does not know boots, refuses the engine's steps by name, and answers all others as ever. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type DshHome, driverRows, dsh, dshHome, startWeb } from '../support/dsh.ts'

const ALTER = pathToFileURL(join(import.meta.dirname, '..', 'support', 'altered-host.mjs')).href

function alteredHome(what: string): DshHome {
  const home = dshHome()
  Object.assign(home.env, { NODE_OPTIONS: `--import=${ALTER}`, DSH_ALTERED: what })
  return home
}

/** Ask one prompt of a provider; what the terminal shows, which ends with how the turn ended. */
async function ask(home: DshHome, provider: string, model: string): Promise<string> {
  const report = join(home.cwd, 'report.json')
  const rows = driverRows({ report, cwd: home.cwd, prompts: ['hello'], route: { provider, model } })
  const { stdout } = await dsh(home, ['--profile', 'headless', '--patch', home.overlay({ rows })])
  // Only a dsh that booted and came to the end of the turn reports.
  expect(JSON.parse(readFileSync(report, 'utf8'))).toHaveProperty('sessionId')
  return stdout
}

describe.each([
  ['a session format that nobody knows', 'it writes session format 7'],
  ['a turn machine that is built differently', ''],
  ['a package that is gone', "Cannot find package '@deepseek-ai/dsh-subprocess'"],
])('a dsh with %s', (what, found) => {
  test('refuses steps of the engine by name, with the way out, and starts no child', async () => {
    const home = alteredHome(what)
    const shown = await ask(home, 'agy', 'default')
    expect(shown).toContain('ended: failed, ENGINE_HOST_UNSUPPORTED: ')
    expect(shown).toContain(found)
    expect(shown).toContain('Pick a model of another provider')
    expect(home.received()).toEqual([])
  })

  test('answers other steps by its own loop', async () => {
    const shown = await ask(alteredHome(what), 'echo', 'echo-1')
    expect(shown).toContain('own loop')
    expect(shown).toContain('ended: completed')
  })
})

test('its web boots as well', async () => {
  const home = alteredHome('a session format that nobody knows')
  const web = await startWeb(home, home.overlay({}))
  expect((await fetch(web.base)).status).toBe(200)
})

test('what is altered is all that makes the difference', async () => {
  expect(await ask(alteredHome('nothing'), 'agy', 'default')).toContain('ended: completed')
})
