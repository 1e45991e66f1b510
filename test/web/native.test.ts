/// <reference lib="dom" />
/** What a person meets in the real page: cards, failures, commands, stop, settings, in every light and width. */
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { type DshHome, dshHome, echoProviderRows, expectValid, startWeb } from '../support/dsh.ts'
import { privateFolder, STAND_IN } from '../support/folders.ts'
import {
  chromium,
  openPage,
  openRows,
  pickModel,
  pickPreset,
  picture,
  press,
  pressText,
  send,
  shows,
  type View,
} from '../support/page.ts'

const FAULTS = join(import.meta.dirname, '..', '..', 'probes', 'faults')
const MODEL = 'Gemini 3.8 Flash (High)'

/** A page with a workspace, its first notice read. */
async function open(home: DshHome, overlay: string, view: View = {}) {
  const web = await startWeb(home, overlay)
  await web.rpc('workspace.create', { path: home.cwd, name: 'ws' })
  const page = await openPage(web.base, view)
  await press(page, view.language === 'zh-CN' ? '继续' : 'Continue')
  /** Close the page and then its server, whose end the page would complain of. */
  const leave = async (): Promise<void> => {
    await page.close()
    await web.stop()
    for (const events of (await home.logs()).values()) expectValid(events)
  }
  return { web, page, leave }
}

/** A scenario of the stand-in, as its environment. */
function child(...actions: readonly object[]): Record<string, string> {
  const file = join(privateFolder(), 'scenario.json')
  writeFileSync(file, JSON.stringify({ child: [{ read: true }, { init: true }, ...actions] }))
  return { AGY_STANDIN_SCENARIO: file }
}

/** One call of each kind that has a card of its own. */
const calls = (cwd: string) => [
  { name: 'run_command', args: { CommandLine: 'make build', Cwd: cwd }, output: 'built in 2 s' },
  { name: 'view_file', args: { AbsolutePath: `${cwd}/old.txt` }, output: '2 lines, 21 bytes' },
  {
    name: 'write_to_file',
    args: { TargetFile: `${cwd}/new.txt`, CodeContent: 'first line\n' },
    shown: { TargetFile: `${cwd}/new.txt` },
  },
  {
    name: 'replace_file_content',
    args: { TargetFile: `${cwd}/new.txt`, TargetContent: 'first line', ReplacementContent: 'better line' },
    shown: { TargetFile: `${cwd}/new.txt` },
  },
  { name: 'find_by_name', args: { Pattern: '*.txt', SearchDirectory: cwd }, output: 'new.txt' },
  { name: 'grep_search', args: { Query: 'better', SearchPath: cwd }, output: 'new.txt:1' },
  { name: 'search_web', args: { query: 'weather in Delft' }, output: 'dry' },
  { name: 'read_url_content', args: { Url: 'https://example.com/' }, output: 'Example Domain' },
  {
    name: 'invoke_subagent',
    args: { Subagents: [{ Role: 'Reader', Prompt: 'read it', TypeName: 'research' }] },
    output: 'read',
  },
  { name: 'tool_of_tomorrow', args: { Later: true }, output: 'who knows' },
  { name: 'run_command', args: { CommandLine: 'false' }, error: 'exit status 1' },
]

// Left out only where no Chromium is installed and none can be.
describe.runIf(chromium !== undefined)('in the real page', () => {
  test.each(['Antigravity', 'Standard mode'])('calls have the cards of the host (%s)', async preset => {
    const home = dshHome()
    writeFileSync(join(home.home, 'settings.yaml'), 'permission:\n  defaultPreset: danger-full-access\n')
    const env = child(...calls(home.cwd).map(call => ({ tools: [call] })), { answer: 'That is all.' })
    const { page, leave } = await open(home, home.overlay({ config: { approvals: 'host', auxiliary: 'off' }, env }))
    if (preset === 'Antigravity') {
      await press(page, 'Standard mode')
      await pickPreset(page, preset)
    } else {
      await pickModel(page, MODEL)
    }
    await send(page, 'try everything')
    await shows(page, 'That is all.')
    await picture(page, `cards-${preset === 'Antigravity' ? 'preset' : 'standard'}`)
    await openRows(page)
    for (const words of [
      'built in 2 s',
      '2 lines, 21 bytes',
      'first line',
      'better line',
      'new.txt:1',
      'weather in Delft',
    ]) {
      await shows(page, words)
    }
    for (const words of ['Example Domain', 'subagent', 'tool_of_tomorrow', 'exit status 1']) await shows(page, words)
    await page.setViewportSize({ width: 1200, height: 2400 })
    await picture(page, `cards-open-${preset === 'Antigravity' ? 'preset' : 'standard'}`)
    await leave()
  })

  test('each family of failures is a sentence in the chat, and says what to do', async () => {
    const home = dshHome()
    const { page } = await open(
      home,
      home.overlay({ config: { auxiliary: 'off' }, env: { AGY_STANDIN_SCENARIOS: FAULTS } }),
    )
    await pickModel(page, MODEL)
    for (const [fault, code, words] of [
      ['environment-not-signed-in', 'AGY_NOT_SIGNED_IN', 'Run `agy` once in a terminal and sign in'],
      ['exit-quota-zero', 'AGY_QUOTA', 'it resets in 2h18m58s'],
      ['frames-denied', 'AGY_PERMISSION_DENIED', 'needed a permission that headless agy cannot ask for'],
      ['signals-killed', 'AGY_KILLED', 'Send the message again'],
      ['exit-print-timeout', 'AGY_PRINT_TIMEOUT', ''],
      ['frames-tool-never-ends', 'was interrupted after it was recorded', 'done'],
    ] as const) {
      await send(page, `fault:${fault}`)
      await shows(page, code)
      await shows(page, words)
    }
    await page.setViewportSize({ width: 1200, height: 1400 })
    await picture(page, 'failures')
  })

  test('Stop ends the run at once and keeps the partial answer', async () => {
    const home = dshHome()
    const text = {
      event: 'step_update',
      step_update: {
        conversation_id: 'odd',
        step_index: 1,
        state: 'ACTIVE',
        step_type: 'agent_response',
        text_delta: 'The beginning of an',
      },
    }
    const env = child({ line: JSON.stringify(text) }, { wait: 'signal' })
    const { page, leave } = await open(home, home.overlay({ config: { auxiliary: 'off' }, env }))
    await pickModel(page, MODEL)
    await send(page, 'tell me')
    await shows(page, 'The beginning of an')
    await picture(page, 'streaming')
    await press(page, 'Stop generating')
    await page.waitForSelector('button[aria-label="Send message"]')
    await shows(page, 'The beginning of an')
    await page.reload({ waitUntil: 'load' })
    await shows(page, 'The beginning of an')
    await picture(page, 'stopped')
    await leave()
  })

  test('/agy answers from what is known', async () => {
    const home = dshHome()
    const bin = join(privateFolder(), 'agy')
    symlinkSync(STAND_IN, bin)
    const { page } = await open(home, home.overlay({ config: { bin, auxiliary: 'off' } }))
    await pickModel(page, MODEL)
    await send(page, 'hello')
    await shows(page, 'HELLO_AGY')
    await send(page, '/agy status')
    await shows(page, 'gemini-3.8-flash-high of "agy"; workspace-write, approvals: cli')
    await send(page, '/agy models')
    await shows(page, '4 models')
    await send(page, '/agy doctor')
    await shows(page, 'nothing is in the way')
    await send(page, '/agy nonsense')
    await shows(page, 'Usage: /agy status | models | doctor')
    await openRows(page)
    await shows(page, 'children: 0 of 8 running')
    await shows(page, 'sign-in: signed in')
    await shows(page, 'auxiliary: "off"')
    await page.setViewportSize({ width: 1200, height: 1400 })
    await picture(page, 'commands')
    // One run, and no more for the commands.
    expect(home.received()).toHaveLength(1)
  })

  test('the model can be changed in mid-session, and the next run has it', async () => {
    const home = dshHome()
    const { page, leave } = await open(home, home.overlay({ config: { auxiliary: 'off' } }))
    await pickModel(page, MODEL)
    await send(page, 'one')
    await shows(page, 'HELLO_AGY')
    await pickModel(page, 'Claude Sonnet 4.6 (Thinking)')
    await send(page, 'two')
    await vi.waitFor(() => expect(home.received()).toHaveLength(2), { timeout: 20_000 })
    const models = home.received().map(({ argv }) => argv.filter(arg => arg.startsWith('--model=')))
    expect(models).toEqual([['--model=gemini-3.8-flash-high'], ['--model=claude-sonnet-4-6']])
    await page.waitForSelector('button[aria-label="Send message"]')
    await leave()
  })

  test('two sessions run side by side', async () => {
    const home = dshHome()
    const env = { AGY_STANDIN_SCENARIOS: FAULTS }
    const { page } = await open(home, home.overlay({ config: { auxiliary: 'off' }, env }))
    await pickModel(page, MODEL)
    await send(page, 'fault:signals-stop-in-text')
    await page.waitForSelector('button[aria-label="Stop generating"]')
    // The new one starts with the model that was picked last.
    await press(page, 'New session')
    await page.waitForSelector('textarea[placeholder^="Describe what"]')
    await send(page, 'hello')
    await shows(page, 'HELLO_AGY')
    await picture(page, 'side-by-side')
    await pressText(page, 'fault:signals-stop-in-text')
    await press(page, 'Stop generating')
    await page.waitForSelector('button[aria-label="Send message"]')
  })

  test('a missing program is said in the chat, while other providers answer', async () => {
    const home = dshHome()
    const overlay = home.overlay({ config: { bin: '/nowhere/agy', auxiliary: 'off' }, rows: echoProviderRows })
    const { page, web } = await open(home, overlay)
    await pickModel(page, "Antigravity's own choice")
    await send(page, 'who answers?')
    await shows(page, 'The configured bin "/nowhere/agy" does not exist.')
    await picture(page, 'missing-program')
    const { sessionId } = await web.rpc<{ sessionId: string }>('session.create', { cwd: home.cwd })
    await web.rpc('session.selectModel', { sessionId, provider: 'echo', model: 'echo-1' })
    await web.say(sessionId, 'and who here?')
    expect(JSON.stringify(await web.history(sessionId))).toContain('own loop')
  })

  test('the settings show that the engine is mounted', async () => {
    const home = dshHome()
    const { page } = await open(home, home.overlay({ config: { auxiliary: 'off' } }))
    await press(page, 'Settings')
    await pressText(page, 'Plugins')
    await pressText(page, 'Plugin list')
    await page.locator('input[placeholder="Search plugins"]').fill('loop-engine-agy')
    await press(page, 'loop-engine-agy')
    await shows(page, 'include:agy')
    await shows(page, 'Mounted')
    await picture(page, 'settings')
  })

  test('nothing stands out of the page, in dark and light, at any width', async () => {
    const home = dshHome()
    const tools = calls(home.cwd)
      .slice(0, 3)
      .map(call => ({ tools: [call] }))
    const env = child(...tools, { answer: `That is all, ${'a_very_long_word_'.repeat(12)}` })
    const { page } = await open(home, home.overlay({ config: { auxiliary: 'off' }, env }))
    await pickModel(page, MODEL)
    await send(page, 'try')
    await shows(page, 'That is all')
    for (const dark of [false, true]) {
      await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
      for (const width of [1200, 420]) {
        await page.setViewportSize({ width, height: 800 })
        await picture(page, `${dark ? 'dark' : 'light'}-${width}`)
        const [wide = 0, room = 0] = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          window.innerWidth,
        ])
        expect(wide).toBeLessThanOrEqual(room)
      }
    }
  })

  test('in Chinese the page is Chinese around our calls', async () => {
    const home = dshHome()
    const env = child({ tools: calls(home.cwd).slice(0, 1) }, { answer: '完成' })
    const { page } = await open(home, home.overlay({ config: { auxiliary: 'off' }, env }), { language: 'zh-CN' })
    await press(page, '标准模式')
    await pickPreset(page, 'Antigravity')
    await page.locator('textarea').fill('开始')
    await press(page, '发送消息')
    await shows(page, '完成')
    await picture(page, 'chinese')
  })
})
