/// <reference lib="dom" />
/** A person in front of the real page decides on what the CLI wants to do. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test, vi } from 'vitest'
import type { LogEvent } from '../../src/cli/log-rules.ts'
import { type DshHome, dshHome, expectValid, startWeb } from '../support/dsh.ts'
import { privateFolder } from '../support/folders.ts'
import { chromium, openPage, pickModel, picture, press, send, shows } from '../support/page.ts'

const command = (CommandLine: string, output: string) => ({ name: 'run_command', args: { CommandLine }, output })
const question = { question: 'Which colour?', options: ['red', 'green'], is_multi_select: false }

/** A home whose CLI does these things and asks dsh before each of them. */
function gatedHome(...actions: readonly object[]) {
  const home = dshHome()
  const file = join(privateFolder(), 'scenario.json')
  writeFileSync(
    file,
    JSON.stringify({ child: [{ read: true }, { init: true }, ...actions, { answer: 'That is all.' }] }),
  )
  const config = { approvals: 'host', auxiliary: 'off' }
  return { home, overlay: home.overlay({ config, env: { AGY_STANDIN_SCENARIO: file } }) }
}

/** The page with a session that has been asked to build. */
async function started(home: DshHome, overlay: string) {
  const web = await startWeb(home, overlay)
  await web.rpc('workspace.create', { path: home.cwd, name: 'ws' })
  const page = await openPage(web.base)
  await press(page, 'Continue')
  await pickModel(page, 'Gemini 3.8 Flash (High)')
  await send(page, 'build it')
  return { web, page }
}

/** Wait until the page asks for an approval in these words. */
const asks = (page: Page, words: string) =>
  page.waitForFunction(
    text => document.querySelector('[data-approval-key]')?.textContent.replace(/\s+/g, ' ').includes(text),
    words,
    { timeout: 20_000 },
  )

const audit = (events: readonly LogEvent[]) =>
  events.flatMap(({ type, data }) =>
    /^approval\/(?:asked|decided)$/.test(type) ? [(data as { outcome?: string }).outcome ?? 'asked'] : [],
  )

// Left out only where no Chromium is installed and none can be.
describe.runIf(chromium !== undefined)('in the real page', () => {
  test('a command is refused, another allowed, a question answered; the log is valid and audited', async () => {
    const { home, overlay } = gatedHome(
      { tools: [command('rm -r build', 'never seen')] },
      { tools: [command('make build', 'built it')] },
      { tools: [{ name: 'ask_question', args: { questions: [question] }, prompt: true }] },
    )
    const { web, page } = await started(home, overlay)

    await asks(page, 'Antigravity wants to run a command (run_command): rm -r build')
    await picture(page, 'approval')
    await press(page, 'Reject')
    await shows(page, 'Denied: The user refused this call.')
    await asks(page, 'Antigravity wants to run a command (run_command): make build')
    await press(page, 'Allow once')
    await shows(page, 'Which colour?')
    await picture(page, 'question')
    await page.locator('[role=radio][aria-label=green]').click()
    await press(page, 'Submit')
    await shows(page, 'That is all.')
    await shows(page, '1/1 answered')
    await picture(page, 'denied-and-answered')
    const shown = await page.evaluate(() => document.body.textContent)
    expect(shown).not.toContain('never seen')

    await page.close()
    await web.stop()
    const [events = []] = [...(await home.logs()).values()]
    expectValid(events)
    expect(audit(events)).toEqual(['asked', 'rejected', 'asked', 'allowed-once'])
    const results = JSON.stringify(events.filter(({ type }) => type === 'tool/result'))
    expect(results).toContain('built it')
    expect(results).toContain('green')
  })

  test('Stop takes an open dialog away and leaves a valid log', async () => {
    const { home, overlay } = gatedHome({ tools: [command('rm -r build', 'never seen')] })
    const { web, page } = await started(home, overlay)
    await asks(page, 'rm -r build')
    const [sessionId = ''] = [...(await home.logs()).keys()]
    await web.rpc('session.cancel', { sessionId })
    await page.waitForSelector('textarea')
    const types = async () => (await web.history(sessionId)).map(({ type }) => type)
    await vi.waitFor(async () => expect(await types()).toContain('turn/end'), { timeout: 20_000 })
    await page.close()
    await web.stop()
    const [events = []] = [...(await home.logs()).values()]
    expectValid(events)
    expect(audit(events)).toEqual(['asked', 'cancelled'])
  })
})
