/** What the user says in mid-turn is answered once, by a child that was told of it. */
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { expect, test } from 'vitest'
import { expectValidLog, lastTurnEnd, startHost, type TestHost } from '../support/host.ts'

const message = (text: string) => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } })

/** Ask, and say something more when the first tool has ended. */
async function steered(steering: string): Promise<{ host: TestHost; agent: Agent }> {
  const env = { AGY_STANDIN_PROBE: '16-plan-mode-interleaved', AGY_STANDIN_DELAY_MS: '20' }
  const host = await startHost({ env, steering })
  const agent = await host.create()
  const stopListening = host.ctx.on('session/event', (_session, event) => {
    if (event.type !== 'tool/call') return
    stopListening()
    setImmediate(() => agent.steer(message('and be quick')))
  })
  agent.followup(message('go'))
  await agent.whenIdle()
  expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
  expect(agent.session.events.filter(event => event.type === 'turn/end')).toHaveLength(1)
  expectValidLog(agent.session)
  return { host, agent }
}

/** Places in the log: results of tools, and the user's messages. */
const story = (agent: Agent) =>
  agent.session.events.flatMap(event => {
    if (event.type === 'tool/result') return ['result']
    return event.type === 'user/message' ? ['user'] : []
  })

test('interrupt ends the child at its next settled call and tells the next one everything', async () => {
  const { host, agent } = await steered('interrupt')
  const [first, second, ...more] = host.received()
  expect(more).toEqual([])
  expect(first?.prompt).not.toContain('| and be quick')
  expect(second?.prompt).toContain('# tool result\n| img.png\n')
  expect(second?.prompt).toMatch(/\| and be quick\n\n# end of log/)
  // One tool of the first child, then the words, then the three of the second.
  expect(story(agent)).toEqual(['user', 'result', 'user', 'result', 'result', 'result'])
})

test('queue lets the child finish first', async () => {
  const { host, agent } = await steered('queue')
  const [first, second, ...more] = host.received()
  expect(more).toEqual([])
  expect(first?.prompt).not.toContain('| and be quick')
  expect(second?.prompt).toContain('| and be quick')
  expect(second?.prompt).toContain('I have created the implementation plan')
  expect(story(agent).filter(what => what === 'result')).toHaveLength(6)
  expect(story(agent).filter(what => what === 'user')).toHaveLength(2)
})
