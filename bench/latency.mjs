/** From the moment that the child writes a delta to the moment that a subscriber of the session sees it. */
import { runBare } from './bare.mjs'
import { child, openHost, startingGate } from './host.mjs'
import { quantile } from './ratio.mjs'

/** Notes when the deltas in a text were written, and how long each has been on its way, in milliseconds. */
function stopwatch() {
  const seen = []
  return {
    seen,
    note(text) {
      const now = process.hrtime.bigint()
      for (const [, written] of text.matchAll(/t(\d+) /g)) seen.push(Number(now - BigInt(written)) / 1e6)
    },
  }
}

const isDelta = event => event.type === 'assistant/chunk' && event.data.chunk.type === 'text-delta'

/** The way of each delta of so many sessions at once, through the engine and to a bare reader. */
async function delays(sessions, rate, deltas) {
  const gate = startingGate()
  const host = await openHost({}, child(gate.action, { stream: deltas, rate }))
  const ours = stopwatch()
  host.ctx.on('session/event', (_session, event) => isDelta(event) && ours.note(event.data.chunk.text))
  try {
    const agents = []
    for (let at = 0; at < sessions; at += 1) agents.push(await host.create())
    await Promise.all([...agents.map(agent => host.ask(agent)), gate.open(sessions)])
    const rows = agents[0].session.events.filter(isDelta).length

    const bare = stopwatch()
    gate.shut()
    const note = frame => bare.note(frame.step_update?.text_delta ?? '')
    const children = agents.map(() => runBare(host.env, 'Go on.', note))
    await Promise.all([...children, gate.open(sessions)])
    for (const { seen } of [ours, bare])
      if (seen.length !== sessions * deltas) throw new Error(`of ${sessions * deltas} deltas ${seen.length} were seen`)
    return { times: { ours: ours.seen, baseline: bare.seen }, rows }
  } finally {
    await host.close()
    gate.close()
  }
}

/**
 * A model writes some 30 deltas a second, a replayed answer 2,000. Sessions that write 64,000 in all need more than two cores
 * for the writing alone, so there the bare reader of the same children is the measure.
 */
const LOADS = [
  { sessions: 1, rate: 30, most: 10 },
  { sessions: 1, rate: 2_000, most: 10 },
  { sessions: 32, rate: 30, most: 60 },
  { sessions: 32, rate: 2_000, ratio: 2 },
]

export async function latency({ scale }) {
  const results = []
  for (const { sessions, rate, most, ratio } of LOADS) {
    const deltas = Math.max(20, Math.round(rate * 4 * scale))
    const { times, rows } = await delays(sessions, rate, deltas)
    const [ours, bare] = [times.ours, times.baseline].map(seen => quantile(seen, 0.99))
    const value = most === undefined ? ours / bare : ours
    results.push({
      name: `delta to a subscriber, ${sessions} × ${rate.toLocaleString('en')}/s, p99 ${most === undefined ? 'to a bare reader' : 'ms'}`,
      times,
      value,
      goal: most === undefined ? `at most ${ratio.toFixed(2)}` : `under ${most}`,
      met: value < (most ?? ratio),
      note: `p99 ${ours.toFixed(1)} ms, bare reader ${bare.toFixed(1)} ms; ${rows} rows of ${deltas} deltas`,
      /** Its name in the picture. */
      distribution: `${sessions} × ${rate.toLocaleString('en')}/s`,
    })
  }
  return results
}
