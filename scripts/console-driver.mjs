/**
 * A row for dsh's headless profile: opens a new session, or an old one again, on the engine; asks one or more prompts;
 * and shows on the terminal what the session log says while it grows.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { ending, Narrator } from '../lib/cli/narrator.js'
import { drivenBy } from './driver-row.mjs'

export const name = 'console-driver'
export const inject = ['agents', 'sessions', 'sessionPersistence']

async function drive(ctx, config) {
  await ctx.get('loader')?.await()
  const agentOptions = config.route ?? { provider: 'agy', model: 'default' }
  const { agent } = config.resume
    ? await ctx.agents.resume({ resumeSessionId: config.resume, agentOptions })
    : await ctx.agents.create({
        sessionId: `session-${randomUUID()}`,
        meta: { cwd: config.cwd },
        agentOptions,
      })
  const write = text => process.stdout.write(text)
  const earlier = agent.session.deriveMessages().length
  const story = new Narrator(write)
  ctx.on('session/event', (session, event) => {
    if (session === agent.session) story.tell(event)
  })
  let reason
  for (const prompt of config.prompts) {
    write(`\nyou: ${prompt}\n\n`)
    agent.followup(createUserMessage({ content: [{ type: 'text', text: prompt }], source: { kind: 'user' } }))
    await agent.whenIdle()
    reason = agent.session.events.findLast(event => event.type === 'turn/end')?.data.reason
  }
  await ctx.sessions.flush(agent.session)
  write(`\nusage: ${story.usage()}\n`)
  write(`ended: ${ending(reason)}\n`)
  writeFileSync(
    config.report,
    JSON.stringify({ sessionId: agent.id, earlier, completed: reason?.kind === 'completed' }),
  )
  return reason?.kind === 'completed' ? 0 : 1
}

export const apply = drivenBy(drive)
