/** Pipes that somebody holds, logs that do not come, readers that do not come back: nothing of it keeps a run from ending. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { AgyLoop, type AgyLoopOptions } from '../../src/agy/agy-loop.ts'
import { runToEnd } from '../../src/agy/process.ts'
import { VersionBook } from '../../src/agy/version.ts'
import type { EngineEvent, StepRequest } from '../../src/engine/contract.ts'
import { privateFolder } from '../support/folders.ts'
import { putProgram } from '../support/machine.ts'
import { isRunning } from '../support/processes.ts'

const PATH = process.env.PATH ?? ''
const LIMITS = { startGapMs: 0, exitGraceMs: 300, killGraceMs: 300 }
const VERSION = '[ "$1" = --version ] && echo 1.3.2 && exit'
const frame = (event: string, body: object): string =>
  `echo '${JSON.stringify({ event, conversation_id: 'c', [event]: body })}'`
const INIT = frame('init', { cwd: '/', tools: [] })
const DONE = frame('result', { conversation_id: 'c', status: 'SUCCESS', response: 'hello', usage: {} })

function program(script: string): string {
  const folder = privateFolder()
  putProgram(folder, 'agy', script)
  return join(folder, 'agy')
}

function loopOf(script: string, more: Partial<AgyLoopOptions> = {}): AgyLoop {
  return new AgyLoop({ bin: program(script), env: {}, parentEnv: () => ({ PATH }), ...LIMITS, ...more })
}

const request = (more: Partial<StepRequest> = {}): StepRequest => ({
  cwd: privateFolder(),
  permissions: { confined: true, everythingAllowed: false },
  prompt: { files: [], text: () => 'hi' },
  scope: 't1s1',
  signal: new AbortController().signal,
  durable: Promise.resolve(),
  ...more,
})

async function outcomeOf(run: AsyncGenerator<EngineEvent>): Promise<unknown> {
  for await (const event of run) if (event.type === 'end') return event.outcome
  return undefined
}

const pidIn = (file: string) =>
  vi.waitFor(
    () => {
      const pid = Number(readFileSync(file, 'utf8'))
      expect(pid).toBeGreaterThan(0)
      return pid
    },
    { timeout: 10_000 },
  )

describe('a short-lived program', () => {
  test('whose helper holds its pipe ends with the helper', async () => {
    const pid = join(privateFolder(), 'pid')
    const file = program(`sleep 600 & echo $! > ${pid}; echo 1.3.2; exit 0`)
    expect(await runToEnd(file, [], { PATH }, 60_000)).toMatchObject({
      stdout: '1.3.2\n',
      exitCode: 0,
      timedOut: false,
    })
    expect(isRunning(await pidIn(pid))).toBe(false)
  })

  test('that takes too long ends with all that it started', async () => {
    const pid = join(privateFolder(), 'pid')
    const file = program(`sleep 600 & echo $! > ${pid}; wait`)
    const answer = await runToEnd(file, [], { PATH }, 300)
    expect(answer).toMatchObject({ timedOut: true })
    expect(isRunning(await pidIn(pid))).toBe(false)
  })

  test('that cannot be started says why', async () => {
    expect(await runToEnd('/nowhere/at/all', [], { PATH }, 300)).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('ENOENT'),
      timedOut: false,
    })
  })
})

describe('a run ends', () => {
  test('although the program left a helper with the pipe of its version', async () => {
    const script = `[ "$1" = --version ] && { sleep 600 & echo 1.3.2; exit; }; read l; ${INIT}; ${DONE}`
    const loop = loopOf(script, { versions: new VersionBook() })
    expect(await outcomeOf(loop.run(request()))).toMatchObject({ kind: 'completed' })
  })

  test.each([1, 2])('although a helper outside its group writes to its pipe %i now and then', async pipe => {
    const pid = join(privateFolder(), 'pid')
    const helper = `setsid sh -c 'echo $$ > ${pid}; while :; do echo working >&${pipe}; sleep 0.1; done' &`
    const loop = loopOf(`read l; ${helper} while [ ! -s ${pid} ]; do sleep 0.05; done; ${INIT}; ${DONE}`)
    onTestFinished(() => void process.kill(-Number(readFileSync(pid, 'utf8')), 'SIGKILL'))
    expect(await outcomeOf(loop.run(request()))).toMatchObject({ kind: 'completed' })
    await loop.dispose()
  })

  test('when it is stopped, although the log does not become durable', async () => {
    const stop = new AbortController()
    const run = loopOf(`${VERSION}; read l; ${INIT}; ${DONE}`).run(
      request({ signal: stop.signal, durable: new Promise(() => {}) }),
    )
    const outcome = outcomeOf(run)
    await pause(50)
    stop.abort()
    expect(await outcome).toMatchObject({ kind: 'aborted' })
  })
})

describe('the engine is closed', () => {
  test('although the reader of a run does not come back', async () => {
    const words = frame('step_update', {
      conversation_id: 'c',
      step_index: 1,
      step_type: 'agent_response',
      state: 'ACTIVE',
      text_delta: 'x'.repeat(400),
    })
    const loop = loopOf(`read l; ${INIT}; i=0; while [ $i -lt 2000 ]; do ${words}; i=$((i+1)); done; sleep 600`)
    const run = loop.run(request())
    let next = await run.next()
    while (!next.done && next.value.type !== 'text') next = await run.next()
    await loop.dispose()
    await run.return()
    expect(loop.load.running).toBe(0)
  })

  test('and leaves no question for the version behind', async () => {
    const file = join(privateFolder(), 'pid')
    const loop = loopOf(`[ "$1" = --version ] && { echo $$ > ${file}; exec sleep 600; }; exit`, {
      versions: new VersionBook(),
    })
    const outcome = outcomeOf(loop.run(request()))
    const pid = await pidIn(file)
    await loop.dispose()
    expect(isRunning(pid)).toBe(false)
    expect(await outcome).toMatchObject({ kind: 'aborted' })
  })
})
