/** A dsh in this process, of its real packages and with durable logs, whose engine starts the stand-in as a real process. */
import { mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { SessionId } from '@deepseek-ai/dsh-session'
import JsonlSessionPersistence from '@deepseek-ai/dsh-session-persistence-jsonl'
import { openBareHost } from '../lib/cli/bare-host.js'
import * as Plugin from '../lib/index.js'

export const STAND_IN = join(import.meta.dirname, '..', 'probes', 'agy')

/** The steps of a child that reads its prompt, does something, and ends well. */
export const child = (...actions) => [{ read: true }, { init: true }, ...actions, { answer: 'done' }]

/** Lets children begin together: what 32 programs cost while they start is not what they cost while they stream. */
export function startingGate() {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-agy-bench-gate-'))
  /** Wait until so many children stand at the gate. */
  const filled = async children => {
    const watching = watch(folder)
    await new Promise(resolve => {
      const look = () => readdirSync(folder).length >= children && resolve()
      watching.on('change', look)
      look()
    })
    watching.close()
  }
  return {
    folder,
    filled,
    /** What each child does first. */
    action: { gate: folder },
    /** Wait for so many children, and open the gate. */
    async open(children) {
      await filled(children)
      writeFileSync(join(folder, 'go'), '')
    },
    /** For the next ones. */
    shut() {
      for (const name of readdirSync(folder)) rmSync(join(folder, name))
    },
    close: () => rmSync(folder, { recursive: true }),
  }
}

/**
 * Compose the host.
 *
 * @param {object} config of the engine's row.
 * @param {readonly object[]} actions of each child.
 */
export async function openHost(config = {}, actions = child()) {
  const root = mkdtempSync(join(tmpdir(), 'dsh-agy-bench-'))
  const scenario = join(root, 'scenario.json')
  const act = next => writeFileSync(scenario, JSON.stringify({ child: next }))
  act(actions)
  const env = { AGY_STANDIN_SCENARIO: scenario }
  const ctx = await openBareHost()
  await ctx.plugin(JsonlSessionPersistence, { root: join(root, 'sessions'), compression: 'none' })
  await ctx.plugin(Plugin, { bin: STAND_IN, startGapMs: 0, maxChildren: 64, auxiliary: 'off', env, ...config })
  let count = 0
  return {
    ctx,
    root,
    env,
    /** What the next children do. */
    act,
    /** @param {{ seed?: readonly object[], route?: object }} [options] */
    async create({ seed, route = { provider: 'agy', model: 'default' } } = {}) {
      count += 1
      const { agent } = await ctx.agents.create({
        sessionId: SessionId(`bench-${process.pid}-${count}`),
        meta: { cwd: root },
        agentOptions: route,
        ...(seed && { seed }),
      })
      return agent
    },
    async ask(agent, text = 'Go on.') {
      agent.followup(createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } }))
      await agent.whenIdle()
      const end = agent.session.events.findLast(event => event.type === 'turn/end')
      if (end?.data.reason.kind !== 'completed') throw new Error(`the turn did not end well: ${JSON.stringify(end)}`)
    },
    async close() {
      await ctx.fiber.dispose()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
