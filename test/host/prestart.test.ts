/** Children that are started ahead of their prompts: used where they fit, gone where they do not, and never to be seen in the log. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { SessionId } from '@deepseek-ai/dsh-session'
import { expect, onTestFinished, test, vi } from 'vitest'
import { privateFolder, STAND_IN } from '../support/folders.ts'
import { command, gatedHost, scenario } from '../support/gated.ts'
import { expectValidLog, lastTurnEnd, say, startHost, storedText, type TestHost } from '../support/host.ts'

/** What the CLI does: it starts up and says so, and then wants a prompt. */
const CHILD = [{ init: true }, { read: true }, { answer: 'hello' }]

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Wait until the stand-in was started so many times. */
const started = (host: TestHost, times: number) =>
  vi.waitFor(() => expect(host.starts()).toHaveLength(times), { timeout: 20_000, interval: 10 })

const gone = (pid: number | undefined) =>
  vi.waitFor(() => expect(isAlive(pid ?? 0)).toBe(false), { timeout: 20_000, interval: 10 })

/** A host whose children wait, and a temporary folder in which nothing may be left. */
async function host(prestart: object = { max: 1 }, child: readonly object[] = CHILD, more: object = {}) {
  const temporary = privateFolder()
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const env = { AGY_STANDIN_SCENARIO: scenario(...child) }
  const opened = await startHost({ auxiliary: 'off', prestart, env, ...more })
  const runFolders = () => readdirSync(temporary).filter(name => name.startsWith('dsh-agy-run-'))
  return { ...opened, runFolders }
}

/** The log without what differs from session to session. */
const recorded = ({ session }: Agent) =>
  JSON.stringify(session.events.map(({ type, data }) => ({ type, data })))
    .replaceAll(/"id":"[0-9a-f-]{36}"/g, '"id":"…"')
    .replaceAll(/"timestamp":\d+/g, '"timestamp":0')

test('a session that is opened has its first child started, and its next one after each answer', async () => {
  const subject = await host()
  const agent = await subject.create()
  await started(subject, 1)
  for (const turn of [1, 2, 3]) {
    await say(agent, `question ${turn}`)
    expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
    await started(subject, turn + 1)
  }
  expectValidLog(agent.session)
  expect(storedText(agent.session)).toBe('hellohellohello')
  const pids = subject.pids()
  expect(pids.slice(0, 3).some(isAlive)).toBe(false)
  expect(isAlive(pids[3] ?? 0)).toBe(true)
  expect(subject.runFolders()).toHaveLength(1)
  await subject.ctx.fiber.dispose()
  expect(isAlive(pids[3] ?? 0)).toBe(false)
  expect(subject.runFolders()).toEqual([])
})

test('what is recorded is the same', async () => {
  const logs: string[] = []
  for (const prestart of [{ max: 0 }, { max: 2 }]) {
    const subject = await host(prestart)
    const agent = await subject.create()
    if (prestart.max > 0) await started(subject, 1)
    for (const question of ['one', 'two']) await say(agent, question)
    logs.push(recorded(agent).replaceAll(subject.cwd, '/workspace'))
  }
  expect(logs[1]).toBe(logs[0])
})

test('nothing is started ahead where it is off, which it is by default', async () => {
  const subject = await host({})
  const agent = await subject.create()
  await say(agent, 'hello')
  expect(subject.starts()).toHaveLength(1)
  expect(subject.pids().some(isAlive)).toBe(false)
})

test('a child that waits too long is ended, and the next step starts its own', async () => {
  const subject = await host({ max: 1, idleMs: 3_000 })
  const agent = await subject.create()
  await started(subject, 1)
  await gone(subject.pids()[0])
  await vi.waitFor(() => expect(subject.runFolders()).toEqual([]))
  await say(agent, 'hello')
  expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
  expect(subject.starts().length).toBeGreaterThanOrEqual(2)
})

test('no more wait than may, and the newest session has its child', async () => {
  const subject = await host({ max: 2 })
  for (const at of [1, 2, 3]) {
    await subject.create()
    await started(subject, at)
  }
  await gone(subject.pids()[0])
  expect(subject.pids().slice(1).every(isAlive)).toBe(true)
})

test.each([
  ['another model', { model: 'gemini-3.8-flash-high' }],
  ['a model of another provider', { provider: 'echo', model: 'echo' }],
])('%s ends the child that waits', async (_, route) => {
  const subject = await host()
  const agent = await subject.create()
  await started(subject, 1)
  const stop = subject.ctx.on('agent/request', async (_request, next) => ({ ...(await next()), ...route }))
  await say(agent, 'hello')
  stop()
  expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
  expectValidLog(agent.session)
  await gone(subject.pids()[0])
  const models = subject.starts().map(argv => argv.find(arg => arg.startsWith('--model=')))
  expect(models.slice(0, 2)).toEqual('provider' in route ? [undefined] : [undefined, '--model=gemini-3.8-flash-high'])
})

test('a program that was changed is started anew', async () => {
  const program = join(privateFolder(), 'agy')
  const wrapper = (comment: string) =>
    writeFileSync(program, `#!/bin/sh\n# ${comment}\nexec "${STAND_IN}" "$@"\n`, { mode: 0o755 })
  wrapper('old')
  const subject = await host({ max: 1 }, CHILD, { bin: program })
  const agent = await subject.create()
  await started(subject, 1)
  const [waiting] = subject.pids()
  wrapper('a newer one')
  await say(agent, 'hello')
  expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
  expect(isAlive(waiting ?? 0)).toBe(false)
  expect(subject.starts().length).toBeGreaterThanOrEqual(2)
})

test('a prompt with files starts a child of its own, that may read them', async () => {
  const subject = await host({ max: 1 }, CHILD, { transcript: { maxBytes: 20_000 } })
  const agent = await subject.create()
  await started(subject, 1)
  await say(agent, 'x'.repeat(30_000))
  expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
  const dirs = subject.starts().map(argv => argv.filter(arg => arg.startsWith('--add-dir=')).length)
  expect(dirs.slice(0, 2)).toEqual([1, 2])
})

test('a child that is gone when its prompt comes is replaced, once', async () => {
  const file = join(privateFolder(), 'scenario.json')
  writeFileSync(file, JSON.stringify({ child: [[{ init: true }, { read: true }, { exit: 1 }], CHILD] }))
  const subject = await host({ max: 1 }, CHILD, { env: { AGY_STANDIN_SCENARIO: file } })
  const agent = await subject.create()
  await started(subject, 1)
  await say(agent, 'hello')
  expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
  expect(storedText(agent.session)).toBe('hello')
  expectValidLog(agent.session)
})

test.each([
  ['told a call', { tools: [command('ls', { hook: 'none', silent: true })] }],
  ['was only seen to take up the prompt', { frames: [1, 2], of: '12-our-mode-one-turn' }],
])('a child that %s and was gone is not replaced: what it did would be done twice', async (_, action) => {
  const subject = await host({ max: 1 }, [{ init: true }, { read: true }, action, { exit: 1 }])
  const agent = await subject.create()
  await started(subject, 1)
  await say(agent, 'hello')
  expect(lastTurnEnd(agent.session)).toMatchObject({ kind: 'error', error: { code: 'AGY_CRASHED' } })
  expectValidLog(agent.session)
  expect(subject.starts()).toHaveLength(1)
})

test('a failure of the child that has nothing to do with its waiting is told once', async () => {
  const failing = [{ init: true }, { read: true }, { frames: [0, 99], of: '09-quota' }]
  const subject = await host({ max: 1 }, failing)
  const agent = await subject.create()
  await started(subject, 1)
  await say(agent, 'hello')
  expect(lastTurnEnd(agent.session)).toMatchObject({ kind: 'error', error: { code: 'AGY_QUOTA' } })
  expect(subject.starts()).toHaveLength(1)
})

test('a session that is closed takes its child with it', async () => {
  const subject = await host()
  const handle = await subject.ctx.agents.create({
    sessionId: SessionId('closed'),
    meta: { cwd: subject.cwd },
    agentOptions: { provider: 'agy', model: 'default' },
  })
  await started(subject, 1)
  await handle.dispose()
  await gone(subject.pids()[0])
  await vi.waitFor(() => expect(subject.runFolders()).toEqual([]))
})

test('a stop while the child still starts leaves nothing', async () => {
  const subject = await host({ max: 1 }, [{ wait: 'signal' }])
  const agent = await subject.create()
  agent.followup(createUserMessage({ content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } }))
  await started(subject, 1)
  agent.cancel({ kind: 'user' })
  await agent.whenIdle()
  expect(lastTurnEnd(agent.session)).toMatchObject({ kind: 'aborted' })
  expectValidLog(agent.session)
  for (const pid of subject.pids()) await gone(pid)
  await vi.waitFor(() => expect(subject.runFolders()).toEqual([]))
})

test('dsh decides on the calls of a child that was started ahead', async () => {
  const subject = await gatedHost(
    [{ tools: [command('ls')] }, { answer: 'done' }],
    { approves: () => 'allow-once' as never },
    { prestart: { max: 1 } },
  )
  const agent = await subject.create()
  await started(subject, 1)
  const [waiting] = subject.pids()
  await say(agent, 'list')
  expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
  expect(subject.asked).toHaveLength(1)
  expect(subject.pids()[0]).toBe(waiting)
  expect(isAlive(waiting ?? 0)).toBe(false)
  await subject.ctx.fiber.dispose()
  expect(subject.pids().some(isAlive)).toBe(false)
})
