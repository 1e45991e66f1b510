/** 32 sessions whose children write as fast as they can: deltas a second in all, and how long the host's event loop is held up. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { runBare } from './bare.mjs'
import { child, openHost, startingGate } from './host.mjs'
import { median } from './ratio.mjs'

const SESSIONS = 32

/** As fast as a model writes. */
const RATE = 30

const countOf = text => text.split('t').length - 1

/** Read all children by the engine, or by a bare reader. */
const READERS = {
  async ours(host, sessions, see) {
    host.ctx.on('session/event', (_session, event) => {
      if (event.type === 'assistant/chunk' && event.data.chunk.type === 'text-delta') see(event.data.chunk.text)
    })
    const agents = []
    for (let at = 0; at < sessions; at += 1) agents.push(await host.create())
    return () => agents.map(agent => host.ask(agent))
  },
  async bare(host, sessions, see) {
    const one = () => runBare(host.env, 'Go on.', frame => see(frame.step_update?.text_delta ?? ''))
    return () => Array.from({ length: sessions }, one)
  },
}

/** Deltas a second in all, and the 99th percentile of the event loop's delay in milliseconds. */
async function streamed(reader, sessions, stream) {
  const gate = startingGate()
  const host = await openHost({}, child(gate.action, stream))
  const delay = monitorEventLoopDelay({ resolution: 1 })
  let seen = 0
  let last = 0
  const see = text => {
    seen += countOf(text)
    last = performance.now()
  }
  try {
    const start = await READERS[reader](host, sessions, see)
    const running = start()
    await gate.open(sessions)
    const opened = performance.now()
    delay.enable()
    await Promise.all(running)
    delay.disable()
    if (seen !== sessions * stream.stream) throw new Error(`of ${sessions * stream.stream} deltas ${seen} were seen`)
    return { rate: seen / ((last - opened) / 1000), delay: delay.percentile(99) / 1e6 }
  } finally {
    await host.close()
    gate.close()
  }
}

export async function crowd({ scale, rounds }) {
  // So many that the programs' own start and end weigh little.
  const fast = sessions => ({ stream: Math.round((800_000 * scale) / sessions) })
  const [one, many, bareOne, bareMany] = [[], [], [], []]
  for (let round = 0; round <= Math.min(3, rounds); round += 1) {
    const runs = [
      await streamed('ours', 1, fast(1)),
      await streamed('ours', SESSIONS, fast(SESSIONS)),
      await streamed('bare', 1, fast(1)),
      await streamed('bare', SESSIONS, fast(SESSIONS)),
    ]
    if (round === 0) continue
    for (const [at, all] of [one, many, bareOne, bareMany].entries()) all.push(runs[at])
  }
  const steady = await streamed('ours', SESSIONS, { stream: Math.max(20, Math.round(RATE * 5 * scale)), rate: RATE })
  const middle = (runs, what) => median(runs.map(run => run[what]))
  const share = middle(many, 'rate') / middle(one, 'rate')
  // Where there are more writers than cores, a reader that does nothing keeps only a part of its speed either.
  const shareBare = middle(bareMany, 'rate') / middle(bareOne, 'rate')
  const held = middle(many, 'delay')
  const heldBare = middle(bareMany, 'delay')
  return [
    {
      name: `${SESSIONS} sessions, as fast as can be, share of one session's speed, to a bare reader's share`,
      value: share / shareBare,
      goal: 'at least 0.80',
      met: share / shareBare >= 0.8,
      note: `${share.toFixed(2)} and ${shareBare.toFixed(2)}: ${Math.round(middle(many, 'rate')).toLocaleString('en')}/s to ${Math.round(middle(one, 'rate')).toLocaleString('en')}/s`,
    },
    {
      name: `${SESSIONS} sessions × ${RATE}/s, delay of the event loop, p99 ms`,
      value: steady.delay,
      goal: 'under 50',
      met: steady.delay < 50,
    },
    {
      name: `${SESSIONS} sessions, as fast as can be, delay of the event loop, p99 to a bare reader`,
      times: { ours: many.map(run => run.delay), baseline: bareMany.map(run => run.delay) },
      value: held / heldBare,
      goal: 'at most 2.00',
      met: held / heldBare <= 2,
      note: 'the writers alone take both cores',
    },
  ]
}
