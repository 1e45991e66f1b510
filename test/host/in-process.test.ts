import { createUserMessage } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import { describe, expect, test } from 'vitest'
import { callsOf, command, DONE, scenario } from '../support/gated.ts'
import { expectValidLog, lastTurnEnd, say, startHost } from '../support/host.ts'

/** A host whose stand-in replays a probe. */
const hostWith = (probe: string, env: Record<string, string> = {}) =>
  startHost({ env: { AGY_STANDIN_PROBE: probe, ...env } })

const types = (session: Session) =>
  session.events.map(event => event.type).filter(type => !type.startsWith('agent/inbox') && type !== 'assistant/chunk')

const texts = (session: Session) =>
  session.events.flatMap(event =>
    event.type === 'assistant/message'
      ? [event.data.message.content.map(block => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')]
      : [],
  )

const headers = (session: Session) =>
  session.events.flatMap(event =>
    event.type === 'request/header'
      ? [`${event.data.reason} ${event.data.header.config.provider}/${event.data.header.config.model}`]
      : [],
  )

describe('a step on an agy model', () => {
  test('gives one message, made of the pieces that were shown', async () => {
    const host = await hostWith('01-text-answer')
    const agent = await host.create()
    await say(agent, 'hello')
    expect(types(agent.session)).toEqual([
      'turn/start',
      'step/start',
      'user/message',
      'request/header',
      'request/context',
      'assistant/message',
      'step/end',
      'turn/end',
    ])
    expect(texts(agent.session)).toEqual(['HELLO_AGY\n'])
    expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
    const message = agent.session.events.find(event => event.type === 'assistant/message')
    expect(message?.data.usage).toEqual({
      inputTokens: 5286,
      outputTokens: 90,
      cacheReadTokens: 8128,
      reasoningTokens: 86,
    })
    const shown = agent.session.events.flatMap(event =>
      event.type === 'assistant/chunk' && event.data.chunk.type === 'text-delta' ? [event.data.chunk.text] : [],
    )
    expect(shown.join('')).toBe('HELLO_AGY\n')
    expectValidLog(agent.session)
  })

  test('opens a dsh step for each call and for the text after them, while one child goes on', async () => {
    const host = await hostWith('02-two-tools')
    const agent = await host.create()
    await say(agent, 'write and read')
    expect(types(agent.session)).toEqual([
      'turn/start',
      'step/start',
      'user/message',
      'request/header',
      'request/context',
      'assistant/message',
      'tool/call',
      'tool/result',
      'step/end',
      'step/start',
      'assistant/message',
      'tool/call',
      'tool/result',
      'step/end',
      'step/start',
      'assistant/message',
      'step/end',
      'turn/end',
    ])
    expect(texts(agent.session)).toEqual(['[tool-call]', '[tool-call]', 'I have created probe.txt and read it back.'])
    const sum = { input: 0, output: 0 }
    for (const event of agent.session.events) {
      if (event.type !== 'assistant/message') continue
      sum.input += event.data.usage?.inputTokens ?? 0
      sum.output += event.data.usage?.outputTokens ?? 0
    }
    expect(sum).toEqual({ input: 18259, output: 1111 })
    expectValidLog(agent.session)
  })

  test('names the model that is launched, and neither tools nor a system prompt', async () => {
    const host = await hostWith('01-text-answer')
    const agent = await host.create({ model: 'gemini-3.8-flash-high' })
    await say(agent, 'hello')
    const header = agent.session.events.find(event => event.type === 'request/header')
    expect(header?.data.header).toEqual({ config: { provider: 'agy', model: 'gemini-3.8-flash-high' } })
  })
})

describe('history', () => {
  test('the second turn is asked with the first one', async () => {
    const host = await hostWith('01-text-answer')
    const agent = await host.create()
    await say(agent, 'my name is Ada')
    await say(agent, 'what is my name?')
    const [first, next] = host.received()
    expect(first?.prompt).toContain('# user\n| my name is Ada\n')
    expect(first?.prompt).not.toContain('HELLO_AGY')
    expect(next?.prompt).toContain('# user\n| my name is Ada\n')
    expect(next?.prompt).toContain('# assistant\n| HELLO_AGY\n')
    expect(next?.prompt).toContain('# user\n| what is my name?\n')
    const common = first?.prompt.slice(0, first.prompt.indexOf('\n# end of log')) ?? 'nothing'
    expect(next?.prompt.startsWith(common)).toBe(true)
    expectValidLog(agent.session)
  })
})

test('calls of two runs have two ids, also when the CLI names both conversations alike', async () => {
  const child = [{ read: true }, { init: true }, { tools: [command('ls')] }, DONE]
  const host = await startHost({ env: { AGY_STANDIN_SCENARIO: scenario(...child) } })
  const agent = await host.create()
  await say(agent, 'one')
  await say(agent, 'two')
  const ids = callsOf(agent.session).map(({ id }) => id)
  expect(ids).toEqual(['t1s1-odd-tool-2', 't2s1-odd-tool-2'])
  expectValidLog(agent.session)
})

describe('routing', () => {
  test('each step goes to the engine of the model that was picked for it', async () => {
    const host = await hostWith('01-text-answer')
    const agent = await host.create()
    let picked = { provider: 'agy', model: 'default' }
    agent.ctx.on('agent/request', async (_payload, next) => ({ ...(await next()), ...picked }))
    await say(agent, 'one')
    picked = { provider: 'echo', model: 'echo-1' }
    await say(agent, 'two')
    picked = { provider: 'agy', model: 'gemini-3.8-flash-high' }
    await say(agent, 'three')
    expect(texts(agent.session)).toEqual(['HELLO_AGY\n', 'own loop', 'HELLO_AGY\n'])
    expect(headers(agent.session)).toEqual([
      'initial agy/default',
      'change echo/echo-1',
      'change agy/gemini-3.8-flash-high',
    ])
    expectValidLog(agent.session)
  })
})

describe('a bad configuration', () => {
  test('is refused by its key in each hosted step, while the own loop goes on', async () => {
    const host = await startHost({ modle: 'gemini' })
    const hosted = await host.create()
    await say(hosted, 'hello')
    expect(lastTurnEnd(hosted.session)).toMatchObject({
      kind: 'error',
      error: { code: 'AGY_CONFIG_INVALID', message: expect.stringContaining('"modle"') },
    })
    expectValidLog(hosted.session)
    const own = await host.create({ provider: 'echo', model: 'echo-1' })
    await say(own, 'hello')
    expect(lastTurnEnd(own.session)).toEqual({ kind: 'completed' })
  })
})

describe('an ending that is no success', () => {
  test.each([
    ['05-denied-action', 'AGY_PERMISSION_DENIED'],
    ['09-quota', 'AGY_QUOTA'],
    ['06-unknown-model', 'AGY_MODEL_UNKNOWN'],
    ['22-not-signed-in', 'AGY_NOT_SIGNED_IN'],
    ['03-truncated', 'AGY_CRASHED'],
  ])('%s ends the turn with %s, and the session takes another turn', async (probe, code) => {
    const host = await hostWith(probe)
    const agent = await host.create()
    await say(agent, 'hello')
    expect(lastTurnEnd(agent.session)).toMatchObject({ kind: 'error', error: { code } })
    await say(agent, 'again')
    expect(agent.session.events.filter(event => event.type === 'turn/end')).toHaveLength(2)
    expectValidLog(agent.session)
  })

  test('a missing program is named', async () => {
    const host = await startHost({ bin: '/nowhere/agy' })
    const agent = await host.create()
    await say(agent, 'hello')
    expect(lastTurnEnd(agent.session)).toMatchObject({
      kind: 'error',
      error: { code: 'AGY_EXECUTABLE_MISSING', message: expect.stringContaining('/nowhere/agy') },
    })
    expectValidLog(agent.session)
  })
})

/** A session whose child has opened a call and waits. */
async function inMidRun() {
  // Six frames of this recording end in an open call.
  const host = await hostWith('16-plan-mode-interleaved', { AGY_STANDIN_HOLD: '6' })
  const agent = await host.create()
  const opened = new Promise<void>(resolve => {
    host.ctx.on('session/event', (_session, event) => {
      if (event.type === 'tool/call') resolve()
    })
  })
  agent.followup(createUserMessage({ content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } }))
  await opened
  return { host, agent }
}

describe('in mid-run', () => {
  test('a stop keeps the text, answers the open call, and ends the child', async () => {
    const { agent } = await inMidRun()
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    expect(lastTurnEnd(agent.session)).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
    const result = agent.session.events.findLast(event => event.type === 'tool/result')
    expect(result?.data.error).toEqual({ name: 'ToolOutcomeUnknownError', code: 'TOOL_OUTCOME_UNKNOWN' })
    expectValidLog(agent.session)
  })

  test('unloading ends the child', async () => {
    const { host } = await inMidRun()
    const [{ pid } = { pid: 0 }] = host.received()
    expect(process.kill(pid, 0)).toBe(true)
    await host.ctx.fiber.dispose()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
})
