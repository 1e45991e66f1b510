import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type DshHome, driverRows, dsh, dshHome, expectValid } from '../support/dsh.ts'

/** Ask prompts in one process; returns the session's id. */
async function converse(
  home: DshHome,
  probe: string,
  prompts: readonly string[],
  more: { resume?: string; route?: { provider: string; model: string }; plugin?: boolean } = {},
): Promise<{ sessionId: string; stdout: string; exitCode: number | undefined }> {
  const { plugin = true, ...rest } = more
  const report = join(home.cwd, 'report.json')
  const overlay = home.overlay({ probe, plugin, rows: driverRows({ report, cwd: home.cwd, prompts, ...rest }) })
  const { stdout, stderr, exitCode } = await dsh(home, ['--profile', 'headless', '--patch', overlay])
  if (exitCode !== 0) throw new Error(`dsh ended with ${exitCode}:\n${stdout}\n${stderr}`)
  return { ...JSON.parse(readFileSync(report, 'utf8')), stdout, exitCode }
}

describe('the real headless dsh', () => {
  test('answers one task with its own front end', async () => {
    const home = dshHome()
    const overlay = home.overlay({
      rows: [{ id: 'agent-default-model', config: { provider: 'agy', model: 'default' } }],
    })
    const { stdout, stderr, exitCode } = await dsh(home, ['--profile', 'headless', '--patch', overlay, 'say hello'])
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: 'HELLO_AGY\n', stderr: '', exitCode: 0 })
    for (const events of (await home.logs()).values()) expectValid(events)
  })

  test.each(['01-text-answer', '02-two-tools'])(
    'takes two turns and, in a second process, a third (%s)',
    async probe => {
      const home = dshHome()
      const { sessionId } = await converse(home, probe, ['my name is Ada', 'what is my name?'])
      expectValid((await home.logs()).get(sessionId))
      await converse(home, probe, ['and once more?'], { resume: sessionId })
      expectValid((await home.logs()).get(sessionId))

      const [first, second, third] = home.received().map(start => start.prompt)
      expect(second).toContain('| my name is Ada')
      expect(third).toContain('| my name is Ada')
      expect(third).toContain('| what is my name?')
      expect(third).toContain('| and once more?')
      const bodyOf = (prompt: string | undefined) => prompt?.slice(0, prompt.indexOf('\n# end of log')) ?? '<none>'
      expect(second?.startsWith(bodyOf(first))).toBe(true)
      expect(third?.startsWith(bodyOf(second))).toBe(true)
    },
  )

  test.each([
    ['read-only', true, false],
    ['workspace-write', true, false],
    ['danger-full-access', false, true],
  ])('in the mode %s passes --sandbox: %s, --dangerously-skip-permissions: %s', async (mode, confined, everything) => {
    const home = dshHome()
    home.env.DSH_PERMISSION_MODE = mode
    await converse(home, '01-text-answer', ['hello'])
    const argv = home.received().at(-1)?.argv ?? []
    expect(argv.includes('--sandbox')).toBe(confined)
    expect(argv.includes('--dangerously-skip-permissions')).toBe(everything)
  })

  test('without the package boots its own loop and opens the old session', async () => {
    const home = dshHome()
    const { sessionId } = await converse(home, '02-two-tools', ['hello'])
    const removed = await dsh(home, ['plugin', '--profile', 'headless', 'remove', 'dsh-loop-engine-agy'])
    expect(removed.exitCode).toBe(0)
    const { stdout } = await converse(home, '', ['who answers?'], {
      resume: sessionId,
      plugin: false,
      route: { provider: 'echo', model: 'echo-1' },
    })
    expect(stdout).toContain('own loop')
    expectValid((await home.logs()).get(sessionId))
  })
})
