/** The hook program as the CLI starts it: it prints a decision whatever happens, since silence would be taken for consent. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HOOK_ENV, hookSpec } from '../../../src/agy/hooks/files.ts'
import { HookServer } from '../../../src/agy/hooks/server.ts'
import { privateFolder } from '../../support/folders.ts'

const INPUT = JSON.stringify({ conversationId: 'c', stepIdx: 2, toolCall: { name: 'run_command', args: {} } })

/** Run the command of the hook as the CLI does, by a shell. */
async function hook(env: Record<string, string>, { shell = hookSpec(1).command, input = INPUT } = {}) {
  const { stdout, exitCode } = await execa('sh', ['-c', shell], {
    env: { PATH: process.env.PATH ?? '', ...env },
    extendEnv: false,
    cwd: privateFolder(),
    input,
    reject: false,
  })
  return { exitCode, answer: stdout === '' ? undefined : JSON.parse(stdout) }
}

const envOf = (url: string, token = 't') => ({ [HOOK_ENV.url]: url, [HOOK_ENV.token]: token })

/** A server that answers everybody with these words. */
async function saying(words: string, destroy = false): Promise<Record<string, string>> {
  const server = createServer((request, response) => {
    request.resume()
    if (destroy) request.socket.destroy()
    else response.end(words)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return envOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}/decide`)
}

test.each([[{ decision: 'allow' } as const], [{ decision: 'deny', reason: 'not "this"\n日本 – 😀' } as const]])(
  'prints the word of the host: %j',
  async word => {
    const server = await HookServer.open(async () => word)
    onTestFinished(() => server.close())
    expect(await hook(envOf(server.url, server.token))).toEqual({ exitCode: 0, answer: word })
  },
)

describe('denies in words', () => {
  const DENIED = {
    exitCode: 0,
    answer: { decision: 'deny', reason: expect.stringMatching(/^dsh could not be asked: ./) },
  }

  test('when nobody listens', async () => {
    const server = await HookServer.open(async () => ({ decision: 'allow' }))
    await server.close()
    expect(await hook(envOf(server.url, server.token))).toEqual(DENIED)
  })

  test.each([
    ['no address', {}],
    ['no token', { [HOOK_ENV.url]: 'http://127.0.0.1:1/decide' }],
    ['an address that is none', envOf('nowhere')],
  ])('with %s', async (_what, env) => {
    expect(await hook(env)).toEqual(DENIED)
  })

  test.each([
    '',
    '{}',
    'null',
    '7',
    'yes',
    '{"decision":"ask"}',
    '{"decision":"deny"}',
    '{"decision":"ALLOW"}',
    '{"decision":"allow"}{}',
  ])('when the host answers %j', async words => {
    expect(await hook(await saying(words))).toEqual(DENIED)
  })

  test('when the host hangs up', async () => {
    expect(await hook(await saying('', true))).toEqual(DENIED)
  })

  test('when the token is wrong', async () => {
    const server = await HookServer.open(async () => ({ decision: 'allow' }))
    onTestFinished(() => server.close())
    expect(await hook(envOf(server.url))).toEqual({
      exitCode: 0,
      answer: { decision: 'deny', reason: 'This run knows no such token.' },
    })
  })
})

test('passes nothing on that is no part of a decision', async () => {
  expect(await hook(await saying('{"decision":"allow","overwrite":{"CommandLine":"rm"}}'))).toEqual({
    exitCode: 0,
    answer: { decision: 'allow' },
  })
})

test('fails where it cannot print', async () => {
  const { exitCode } = await hook(envOf('http://127.0.0.1:1/decide'), { shell: `${hookSpec(1).command} > /dev/full` })
  expect(exitCode).toBe(2)
})

test('is found where a path holds what a shell would take apart', () => {
  expect(hookSpec(1).command).toMatch(/^'[^']+' '[^']+program\.ts'$/)
})

test('waits longer than the host', () => {
  expect(hookSpec(1_800_000).timeoutSeconds).toBe(1860)
})
