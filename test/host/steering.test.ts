/** What the user says in mid-turn is answered once, by a child that was told of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { expect, test } from 'vitest'
import { privateFolder } from '../support/folders.ts'
import { expectValidLog, lastTurnEnd, startHost, type TestHost } from '../support/host.ts'

const message = (text: string) => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } })

const PLAN = { AGY_STANDIN_PROBE: '16-plan-mode-interleaved', AGY_STANDIN_DELAY_MS: '20' }

/** Ask, and say something more while the first tool runs. */
async function steered(
  steering: string,
  env: Record<string, string> = PLAN,
): Promise<{ host: TestHost; agent: Agent }> {
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

test('what the child had begun when it was ended is in the log', async () => {
  const step = (index: number, state: string, info: object) => ({
    line: JSON.stringify({
      event: 'step_update',
      step_update: { conversation_id: 'c', step_index: index, state, step_type: 'tool', tool_info: info },
    }),
  })
  const scenario = join(privateFolder(), 'scenario.json')
  const first = [
    { read: true },
    { frames: [0, 1] },
    step(1, 'ACTIVE', { name: 'run_command', parameters: { CommandLine: 'make' } }),
    { wait: 300 },
    // Both frames are on the pipe before anybody can stop the child.
    {
      text: `${step(1, 'DONE', { name: 'run_command', output: 'made' }).line}\n${step(2, 'ACTIVE', { name: 'write_to_file', parameters: { TargetFile: 'a' } }).line}\n`,
    },
    { wait: 'signal' },
  ]
  writeFileSync(scenario, JSON.stringify({ child: [first, [{ read: true }, { frames: [0, 99] }]] }))
  const { agent } = await steered('interrupt', { AGY_STANDIN_SCENARIO: scenario })
  const calls = agent.session.events.filter(event => event.type === 'tool/call').map(event => event.data.name)
  expect(calls).toEqual(['bash', 'write'])
  const results = agent.session.events.filter(event => event.type === 'tool/result')
  expect(results.map(event => event.data.error?.code)).toEqual([undefined, 'TOOL_OUTCOME_UNKNOWN'])
  expect(story(agent)).toEqual(['user', 'result', 'user', 'result'])
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
