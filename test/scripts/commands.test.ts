/** The commands of the README, one after the other on one private host, as a newcomer gives them. */

import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { copyHome } from '../../scripts/private-host.mjs'
import { privateFolder } from '../support/folders.ts'
import { TEMPLATE_HOME } from '../support/global-setup.ts'

const ROOT = join(import.meta.dirname, '..', '..')

test('npm start, a resume, npm run web, and a resume again', async () => {
  const folder = privateFolder()
  copyHome(TEMPLATE_HOME, join(folder, 'home'))
  const script = (name: string, ...args: string[]) =>
    execa(process.execPath, [join(ROOT, 'scripts', name), ...args], {
      cwd: ROOT,
      env: { DSH_AGY_PRIVATE: folder },
      reject: false,
      detached: true,
      all: true,
    })

  const first = await script('start.mjs', 'what is in here?')
  expect(first.all).toContain('you: what is in here?')
  expect(first.all).toMatch(/^agy: /m)
  expect(first.all).toMatch(/tool bash .*\n {2}result\n/)
  expect(first.all).toMatch(/usage: \d+ tokens in.*\nended: completed\n/)
  expect(first.all).toMatch(/log valid: \d+ events, 1 turn$/m)
  expect(first.exitCode).toBe(0)

  const second = await script('start.mjs', '--resume', 'go on')
  expect(second.all).toContain('earlier messages of the session and the new one')
  expect(second.all).toMatch(/log valid: \d+ events, 2 turns$/m)
  expect(second.exitCode).toBe(0)

  const web = script('web.mjs')
  const pid = web.pid as number
  onTestFinished(() => void web.kill('SIGKILL'))
  const address = await new Promise<string>((resolve, reject) => {
    let output = ''
    web.all.on('data', chunk => {
      output += String(chunk)
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    })
    void web.then(() => reject(new Error(`the web ended before it served:\n${output}`)))
  })
  expect((await fetch(address)).status).toBe(200)
  // As Ctrl-C does it: to everybody of the terminal's group.
  process.kill(-pid, 'SIGINT')
  await web
  expect(() => process.kill(-pid, 0)).toThrow('ESRCH')
  await expect(fetch(address)).rejects.toThrow('fetch failed')

  const third = await script('start.mjs', '--resume', 'and on')
  expect(third.all).toMatch(/log valid: \d+ events, 3 turns$/m)
  expect(third.exitCode).toBe(0)
})

test('a resume without a session, and an unknown option, are told and end with 1', async () => {
  const env = { DSH_AGY_PRIVATE: privateFolder() }
  for (const [args, words] of [
    [['--resume', 'x'], 'no session to continue yet'],
    [['--frobnicate'], '--frobnicate'],
  ] as const) {
    const { exitCode, stderr } = await execa(process.execPath, [join(ROOT, 'scripts', 'start.mjs'), ...args], {
      env,
      reject: false,
    })
    expect(exitCode).toBe(1)
    expect(stderr).toContain(words)
  }
})
