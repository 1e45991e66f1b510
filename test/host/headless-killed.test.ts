/** The whole host is killed at random moments: the next process opens the session, and its next turn works. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { driverRows, dsh, dshHome, expectValid } from '../support/dsh.ts'

/** Events of the two turns that are asked for; the recording has texts, calls and results in turn. */
const PROBE = '16-plan-mode-interleaved'
const EVENTS = 110
const MOMENTS = 8
const KILLER = {
  id: 'kill-host',
  name: pathToFileURL(join(import.meta.dirname, '..', 'support', 'kill-host.mjs')).href,
}

/** Other moments in each run; the test's name says which, and `AGY_KILL_AT` repeats one. */
const moments =
  process.env.AGY_KILL_AT === undefined
    ? Array.from({ length: MOMENTS }, () => randomInt(1, EVENTS + 1))
    : [Number(process.env.AGY_KILL_AT)]

describe('a host that is killed', () => {
  test.each([...new Set(moments)])('at event %i', async at => {
    const home = dshHome()
    const report = join(home.cwd, 'report.json')
    const start = (rows: readonly object[], prompts: readonly string[], resume?: string) => {
      const driver = driverRows({ report, cwd: home.cwd, prompts, ...(resume === undefined ? {} : { resume }) })
      const overlay = home.overlay({ probe: PROBE, rows: [...driver, ...rows] })
      return dsh(home, ['--profile', 'headless', '--patch', overlay])
    }
    const killed = await start([{ insert: [{ ...KILLER, config: { at } }] }], ['one', 'two'])
    expect(killed.signal).toBe('SIGKILL')

    const logs = await home.logs()
    // Before its first flush a session has no file yet; then there is nothing to go on with.
    const [sessionId] = logs.keys()
    const next = await start([], ['three'], sessionId)
    expect(next.stdout, next.stderr).toContain('ended: completed')
    const [events] = (await home.logs()).values()
    expectValid(events)
    if (sessionId === undefined) return
    // What was durable is still there, word for word.
    const before = logs.get(sessionId) ?? []
    expect(events?.slice(0, before.length)).toEqual(before)
    expect(home.received().at(-1)?.prompt).toContain('| three')
  })
})
