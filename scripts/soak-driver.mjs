/**
 * A row for dsh's headless profile: so many workers open a session, take some turns with random faults and stops, close
 * it, and begin anew, for so long. Prints what the process holds at the start, in between and at the end.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { drivenBy } from './driver-row.mjs'

export const name = 'soak-driver'
export const inject = ['agents', 'sessions']

const TURNS = 4
/** One turn in so many is stopped by the user. */
const STOPS = 5

async function drive(ctx, { cwd, sessions, seconds, everySeconds, faults, marker, temporary, report }) {
  await ctx.get('loader')?.await()
  const outcomes = new Map()
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const until = performance.now() + seconds * 1000
  let turns = 0

  const turn = async ({ agent }) => {
    const fault = randomInt(2) === 0 ? 'none' : faults[randomInt(faults.length)]
    let events = randomInt(STOPS) === 0 ? randomInt(1, 30) : Number.POSITIVE_INFINITY
    const stopListening = ctx.on('session/event', session => {
      if (session !== agent.session) return
      events -= 1
      if (events === 0) setImmediate(() => agent.cancel({ kind: 'user' }))
    })
    agent.followup(createUserMessage({ content: [{ type: 'text', text: `fault:${fault}` }], source: { kind: 'user' } }))
    await agent.whenIdle()
    stopListening()
    turns += 1
    const reason = agent.session.events.findLast(event => event.type === 'turn/end')?.data.reason
    const outcome = reason?.kind === 'error' ? reason.error.code : (reason?.kind ?? 'no end')
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }

  const worker = async () => {
    while (performance.now() < until) {
      const handle = await ctx.agents.create({
        sessionId: `session-${randomUUID()}`,
        meta: { cwd },
        agentOptions: { provider: 'agy', model: 'default' },
      })
      for (let at = 0; at < TURNS && performance.now() < until; at += 1) await turn(handle)
      await handle.dispose()
    }
  }

  const measure = when => {
    globalThis.gc?.()
    const row = {
      when,
      turns,
      rssMb: Math.round(process.memoryUsage().rss / 2 ** 20),
      heapMb: Math.round(process.memoryUsage().heapUsed / 2 ** 20),
      descriptors: readdirSync('/proc/self/fd').length,
      children: childrenOf(marker),
      files: readdirSync(temporary, { recursive: true }).filter(path => isOurs(path)).length,
      delayP99Ms: Math.round(delay.percentile(99) / 1e6),
    }
    delay.reset()
    process.stdout.write(`${JSON.stringify(row)}\n`)
    return row
  }

  const rows = [measure('start')]
  const workers = Promise.all(Array.from({ length: sessions }, worker))
  for (let at = everySeconds; at < seconds; at += everySeconds) {
    await pause(everySeconds * 1000)
    rows.push(measure(`${at} s`))
  }
  await workers
  rows.push(measure('end'))
  writeFileSync(report, JSON.stringify({ rows, outcomes: Object.fromEntries(outcomes) }))
  return 0
}

/** The folder of the records stays, empty. */
const isOurs = path => path.startsWith('dsh-agy-') && !/^dsh-agy-children-\d+$/.test(path)

/** Living processes with the marker, without this one. */
function childrenOf(marker) {
  return readdirSync('/proc').filter(pid => {
    try {
      return (
        /^\d+$/.test(pid) &&
        Number(pid) !== process.pid &&
        readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker)
      )
    } catch {
      return false
    }
  }).length
}

export const apply = drivenBy(drive)
