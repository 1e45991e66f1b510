/** 32 sessions whose children write as fast as they can, to one such session: deltas a second in all, and the host's event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { child, openHost, startingGate } from './host.mjs'
import { median, quantile } from './ratio.mjs'

const SESSIONS = 32

/** Deltas a second in all, and the 99th percentile of the event loop's delay in milliseconds. */
async function streamed(sessions, deltas) {
  const gate = startingGate()
  const host = await openHost({}, child(gate.action, { stream: Math.round(deltas / sessions) }))
  const delay = monitorEventLoopDelay({ resolution: 1 })
  let seen = 0
  let last = 0
  host.ctx.on('session/event', (_session, event) => {
    if (event.type !== 'assistant/chunk' || event.data.chunk.type !== 'text-delta') return
    seen += event.data.chunk.text.split('t').length - 1
    last = performance.now()
  })
  try {
    const agents = []
    for (let at = 0; at < sessions; at += 1) agents.push(await host.create())
    const asked = agents.map(agent => host.ask(agent))
    await gate.open(sessions)
    const start = performance.now()
    delay.enable()
    await Promise.all(asked)
    delay.disable()
    return { rate: seen / ((last - start) / 1000), delay: delay.percentile(99) / 1e6 }
  } finally {
    await host.close()
    gate.close()
  }
}

export async function crowd({ scale, rounds }) {
  const deltas = Math.round(200_000 * scale)
  const [one, many] = [[], []]
  for (let round = 0; round <= rounds; round += 1) {
    const [single, crowded] = [await streamed(1, deltas), await streamed(SESSIONS, deltas)]
    if (round === 0) continue
    one.push(single)
    many.push(crowded)
  }
  const rate = runs => median(runs.map(run => run.rate))
  const delays = many.map(run => run.delay)
  const share = rate(many) / rate(one)
  const worst = quantile(delays, 0.5)
  return [
    {
      name: `${SESSIONS} sessions at once, deltas a second in all, to one session`,
      value: share,
      goal: 'at least 0.80',
      met: share >= 0.8,
      note: `${Math.round(rate(many)).toLocaleString('en')}/s to ${Math.round(rate(one)).toLocaleString('en')}/s`,
    },
    {
      name: `${SESSIONS} sessions at once, delay of the event loop, p99 ms`,
      times: { ours: delays },
      value: worst,
      goal: 'under 50',
      met: worst < 50,
    },
  ]
}
