/**
 * A row for dsh's headless profile: asks one prompt in each of so many sessions at once, does something to them while
 * they run, and reports how each turn ended.
 */
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { drivenBy } from './driver-row.mjs'

export const name = 'fault-driver'
export const inject = ['agents', 'sessions', 'sessionPersistence']

const message = text => createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } })

/** What may be done to a running session. */
const ACTS = {
  stop: ({ agent }) => agent.cancel({ kind: 'user' }),
  steer: ({ agent }) => agent.steer(message('and one more thing')),
  dispose: ({ dispose }) => void dispose(),
  SIGTERM: () => process.kill(process.pid, 'SIGTERM'),
  SIGINT: () => process.kill(process.pid, 'SIGINT'),
  SIGKILL: () => process.kill(process.pid, 'SIGKILL'),
}

async function drive(ctx, { report, cwd, sessions, prompt, act, temporary, removeCwd }) {
  await ctx.get('loader')?.await()
  if (temporary !== undefined) process.env.TMPDIR = temporary
  const handles = []
  for (let at = 0; at < sessions; at += 1) {
    const handle = await ctx.agents.create({
      sessionId: `session-${randomUUID()}`,
      meta: { cwd },
      agentOptions: { provider: 'agy', model: 'default' },
    })
    handles.push(handle)
  }
  if (removeCwd) rmSync(cwd, { recursive: true })
  const started = performance.now()
  const acted = new Set()
  if (act !== undefined) {
    ctx.on('session/event', (session, event) => {
      const handle = handles.find(({ agent }) => agent.session === session)
      const chosen = act.only === undefined || act.only.includes(handles.indexOf(handle))
      if (!chosen || acted.has(handle) || event.type !== act.at) return
      acted.add(handle)
      // Outside the publication of the event, as whatever a person does.
      setImmediate(() => ACTS[act.do](handle))
    })
  }
  const endings = await Promise.all(
    handles.map(async ({ agent }) => {
      agent.followup(message(prompt))
      await agent.whenIdle()
      const ms = performance.now() - started
      const reason = agent.session.events.findLast(event => event.type === 'turn/end')?.data.reason
      return {
        sessionId: agent.id,
        outcome: reason?.kind === 'error' ? reason.error.code : (reason?.kind ?? 'no end'),
        says: reason?.kind === 'error' ? reason.error.message : '',
        ms,
      }
    }),
  )
  await Promise.all(handles.map(({ agent }) => ctx.sessions.flush(agent.session).catch(() => {})))
  writeFileSync(report, JSON.stringify(endings))
  return 0
}

export const apply = drivenBy(drive)
