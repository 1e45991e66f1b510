/** Whoever is not the hook of this run gets a denial in words, and nobody is asked for him. */
import { request } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { HookAnswer } from '../../../src/agy/hooks/ask.ts'
import { type Decide, HookServer, MAX_BODY_BYTES } from '../../../src/agy/hooks/server.ts'

const ASK = { conversationId: 'c', stepIdx: 2, toolCall: { name: 'run_command', args: { CommandLine: 'ls' } } }

async function serverWith(decide: Decide = async () => ({ decision: 'allow' })) {
  const asked = vi.fn(decide)
  const server = await HookServer.open(asked)
  onTestFinished(() => server.close())
  return { server, asked }
}

interface Sent {
  readonly status: number
  readonly answer: HookAnswer
}

function send(
  { url, token }: HookServer,
  {
    method = 'POST',
    path,
    body = JSON.stringify(ASK),
    headers = {},
  }: { method?: string; path?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sending = request(
      path === undefined ? url : new URL(path, url),
      { method, agent: false, headers: { authorization: `Bearer ${token}`, ...headers } },
      response => {
        let text = ''
        response.on('data', chunk => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, answer: JSON.parse(text || '{}') }))
      },
    )
    sending.on('error', reject)
    sending.end(body)
  })
}

test('the hook of the run is asked for, and hears the answer', async () => {
  const { server, asked } = await serverWith()
  expect(await send(server)).toEqual({ status: 200, answer: { decision: 'allow' } })
  expect(asked).toHaveBeenCalledExactlyOnceWith(
    { conversationId: 'c', stepIndex: 2, name: 'run_command', args: { CommandLine: 'ls' } },
    expect.any(AbortSignal),
  )
})

test('it listens on the loopback address alone, with a token of 256 bits that no other run has', async () => {
  const [one, two] = [await serverWith(), await serverWith()]
  expect(one.server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/decide$/)
  expect(one.server.token).toMatch(/^[0-9a-f]{64}$/)
  expect(one.server.token).not.toBe(two.server.token)
  expect(await send(one.server, { headers: { authorization: `Bearer ${two.server.token}` } })).toMatchObject({
    status: 401,
  })
})

test.each([
  ['no token', 401, { headers: { authorization: '' } }],
  ['a wrong token', 401, { headers: { authorization: `Bearer ${'0'.repeat(64)}` } }],
  ['a token that is too short', 401, { headers: { authorization: 'Bearer 0' } }],
  ['another way to sign in', 401, { headers: { authorization: 'Basic eA==' } }],
  ['another method', 405, { method: 'PUT' }],
  ['another path', 404, { path: '/decide/more' }],
  ['another host', 403, { headers: { host: 'evil.example' } }],
  ['another name of this host', 403, { headers: { host: 'localhost:80' } }],
  ['a page of a browser', 403, { headers: { origin: 'http://127.0.0.1' } }],
  ['a body that is too large', 413, { body: 'x'.repeat(MAX_BODY_BYTES + 1) }],
  ['a body that is no JSON', 400, { body: 'no' }],
  ['an empty body', 400, { body: '' }],
  ['no conversation', 400, { body: JSON.stringify({ ...ASK, conversationId: '' }) }],
  ['no step', 400, { body: JSON.stringify({ ...ASK, stepIdx: -1 }) }],
  ['a step that is no number', 400, { body: JSON.stringify({ ...ASK, stepIdx: '2' }) }],
  ['no tool', 400, { body: JSON.stringify({ ...ASK, toolCall: { args: {} } }) }],
  ['arguments that are no object', 400, { body: JSON.stringify({ ...ASK, toolCall: { name: 'x', args: [1] } }) }],
] as const)('%s is denied in words', async (_what, status, options) => {
  const { server, asked } = await serverWith()
  const sent = await send(server, options)
  expect(sent).toEqual({ status, answer: { decision: 'deny', reason: expect.stringMatching(/^[A-Z].*\.$/) } })
  expect(JSON.stringify(sent)).not.toContain(server.token)
  expect(asked).not.toHaveBeenCalled()
})

test('a failure of the host is a denial', async () => {
  const { server } = await serverWith(() => Promise.reject(new Error('broken')))
  expect(await send(server)).toEqual({ status: 500, answer: { decision: 'deny', reason: 'The host failed: broken' } })
})

test('one who leaves before the answer is known to be gone', async () => {
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>()
  const { server } = await serverWith((_ask, signal) => {
    signal.addEventListener('abort', () => resolve())
    isAsked()
    return new Promise(() => {})
  })
  const sending = request(server.url, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${server.token}` },
  })
  sending.on('error', () => {})
  sending.end(JSON.stringify(ASK))
  await asked
  sending.destroy()
  await gone
})

test('closed, it lets go of who waits and serves nobody', async () => {
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>()
  const { server } = await serverWith(() => {
    isAsked()
    return new Promise(() => {})
  })
  const waiting = send(server).catch(error => error as NodeJS.ErrnoException)
  await asked
  await server.close()
  expect(await waiting).toMatchObject({ code: 'ECONNRESET' })
  expect(server.isListening).toBe(false)
  await expect(send(server)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
