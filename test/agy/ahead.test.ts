/** What may go wrong between the start of a child and its prompt, at the engine itself. */
import { mkdirSync, readdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { AgyLoop, type AgyLoopOptions } from '../../src/agy/agy-loop.ts'
import { VersionBook } from '../../src/agy/version.ts'
import type { EngineEvent, Gate, LikelyRequest, StartedAhead } from '../../src/engine/contract.ts'
import { privateFolder, STAND_IN } from '../support/folders.ts'
import { putProgram } from '../support/machine.ts'

const OK = [{ init: true }, { read: true }, { answer: 'hello' }]
const NOBODY: Gate = { decide: async () => ({ allowed: true }), ask: async () => ({ kind: 'nobody' }) }

function engine(child: readonly object[], more: Partial<AgyLoopOptions> = {}) {
  const [home, temporary] = [privateFolder(), privateFolder()]
  vi.stubEnv('TMPDIR', temporary)
  const scenario = join(privateFolder(), 'scenario.json')
  writeFileSync(scenario, JSON.stringify({ child }))
  const loop = new AgyLoop({
    bin: STAND_IN,
    startGapMs: 0,
    env: { AGY_STANDIN_SCENARIO: scenario, AGY_STANDIN_ECHO: join(privateFolder(), 'echo'), HOME: home },
    parentEnv: () => ({ PATH: process.env.PATH ?? '', HOME: home }),
    versions: new VersionBook(),
    prestart: { max: 1, idleMs: 60_000 },
    ...more,
  })
  onTestFinished(async () => {
    await loop.dispose()
    vi.unstubAllEnvs()
  })
  const cwd = join(privateFolder(), 'work')
  mkdirSync(cwd)
  const likely: LikelyRequest = { cwd, permissions: { confined: true, everythingAllowed: false }, gate: NOBODY }
  return {
    loop,
    home,
    cwd,
    /** Start a child ahead, and wait until it waits. */
    async ahead(): Promise<StartedAhead | undefined> {
      const started = loop.startAhead?.(likely)
      await vi.waitFor(() => expect(loop.load.waiting).toBe(1), { timeout: 20_000, interval: 5 })
      return started
    },
    likely,
    async run(ahead?: StartedAhead, asked: Partial<LikelyRequest> = {}): Promise<EngineEvent[]> {
      const prompt = { files: [], text: () => 'hi' }
      const request = { ...likely, ...asked, prompt, scope: 't1s1', signal: new AbortController().signal }
      const events: EngineEvent[] = []
      for await (const event of loop.run({ ...request, ...(ahead && { ahead }) })) events.push(event)
      return events
    },
    left: () => readdirSync(temporary).filter(name => name.startsWith('dsh-agy-run-')),
  }
}

const codes = (events: readonly EngineEvent[]): string[] =>
  events.flatMap(event => (event.type === 'notice' ? [event.code] : []))

test('a version that somebody else stopped asking for is still looked at', async () => {
  const folder = privateFolder()
  const asked = join(folder, 'asked')
  putProgram(folder, 'agy', `[ "$1" = --version ] && touch ${asked} && sleep 1 && echo 1.1.3 && exit; exec STAND_IN`)
  const subject = engine(OK, { bin: join(folder, 'agy') })
  const ahead = subject.loop.startAhead?.(subject.likely)
  await vi.waitFor(() => expect(readdirSync(folder)).toContain('asked'))
  const running = subject.run()
  await ahead?.end()
  expect((await running).at(-1)).toMatchObject({ outcome: { kind: 'failed', code: 'AGY_TOO_OLD' } })
})

test.each([
  ['made anew', (cwd: string) => rmSync(cwd, { recursive: true }), (cwd: string) => mkdirSync(cwd)],
  [
    'pointed elsewhere',
    (cwd: string) => rmSync(cwd, { recursive: true }),
    (cwd: string) => symlinkSync(privateFolder(), cwd),
  ],
])('a folder that was %s while the child waited gets a child of its own', async (_, remove, bring) => {
  const subject = engine(OK)
  const ahead = await subject.ahead()
  remove(subject.cwd)
  bring(subject.cwd)
  const events = await subject.run(ahead)
  expect(events.at(-1)).toMatchObject({ outcome: { kind: 'completed' } })
  expect(subject.loop.load.waiting).toBe(0)
  if (_ === 'pointed elsewhere') unlinkSync(subject.cwd)
})

test('a lost child does not use up the second try of a sign-in', async () => {
  const tooEarly = [{ read: true }, { frames: [0, 1], of: '22-not-signed-in' }, { exit: 1 }]
  const subject = engine([[{ init: true }, { read: true }, { exit: 1 }], tooEarly, OK])
  const events = await subject.run(await subject.ahead())
  expect(events.at(-1)).toMatchObject({ outcome: { kind: 'completed' } })
  expect(codes(events)).toEqual(['AGY_AHEAD_LOST', 'AGY_SIGN_IN_RETRIED'])
})

test.each([false, true])("other people's hooks are told of (started ahead: %s)", async isAhead => {
  const subject = engine(OK, { approvals: 'host' })
  mkdirSync(join(subject.home, '.gemini/config'), { recursive: true })
  const hook = { matcher: '*', hooks: [{ type: 'command', command: 'true' }] }
  const file = join(subject.home, '.gemini/config/hooks.json')
  writeFileSync(file, JSON.stringify({ mine: { PreToolUse: [hook] } }))
  expect(codes(await subject.run(isAhead ? await subject.ahead() : undefined))).toContain('AGY_OTHER_HOOKS')
})

test.each(['cli', 'host'] as const)(
  'nothing is left once the engine is disposed of (approvals: %s)',
  async approvals => {
    const subject = engine(OK, { approvals })
    const ahead = await subject.ahead()
    // Nobody waits for this end.
    void ahead?.end()
    await subject.loop.dispose()
    expect(subject.left()).toEqual([])
  },
)

test('a step does not wait for the end of a child that it has no use for', async () => {
  const gate = privateFolder()
  writeFileSync(join(gate, 'go'), '')
  const deaf = [{ ignore: ['SIGTERM'] }, { gate }, { init: true }, { wait: 60_000 }]
  const subject = engine([deaf, OK], { killGraceMs: 5_000 })
  const ahead = await subject.ahead()
  await vi.waitFor(() => expect(readdirSync(gate)).toHaveLength(2), { timeout: 20_000 })
  const events = await subject.run(ahead, { model: 'gemini-3.8-flash-high' })
  expect(events.at(-1)).toMatchObject({ outcome: { kind: 'completed' } })
  // The answer is there, and the other one still is too.
  expect(subject.left()).toHaveLength(1)
})

test('what runs is counted apart from what waits', async () => {
  const subject = engine([OK, [{ init: true }, { wait: 'signal' }]])
  await subject.ahead()
  expect(subject.loop.load).toMatchObject({ running: 0, waiting: 1 })
  const running = subject.run()
  await vi.waitFor(() => expect(subject.loop.load).toMatchObject({ running: 1, waiting: 1 }), { timeout: 20_000 })
  await subject.loop.dispose()
  await running
})
