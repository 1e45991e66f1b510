/** What a whole step costs over the bare CLI: from the accepted message to `turn/end`, with a log of 100 messages. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { runBare } from './bare.mjs'
import { openHost } from './host.mjs'
import { median, pairs, quantile } from './ratio.mjs'

const MESSAGES = 100

export async function step({ scale }) {
  const rounds = Math.max(3, Math.round(40 * scale))
  const host = await openHost()
  const starts = []
  const ends = []
  const onSpawn = () => starts.push(performance.now())
  try {
    const agent = await host.create()
    for (let at = 0; at < MESSAGES / 2; at += 1) await host.ask(agent, `message ${at}`)
    // The prompt grows by two messages a round, which is nothing beside the hundred.
    let asked = 0
    const accepted = []
    const ours = async () => {
      accepted.push(performance.now())
      await host.ask(agent)
      ends.push(performance.now())
    }
    const prompt = `${'a line of the log that says something\n'.repeat(MESSAGES)}`
    const bare = () => {
      asked += 1
      return runBare(host.env, prompt)
    }
    subscribe('child_process', onSpawn)
    const times = await pairs(rounds, ours, bare)
    unsubscribe('child_process', onSpawn)
    // Each pair starts a bare child first and ours behind it.
    const before = accepted.map((at, round) => starts[round * 2 + 1] - at)
    const [own, base] = [times.ours, times.baseline].map(median)
    return [
      {
        name: `whole step with a log of ${MESSAGES} messages, to a bare child`,
        times,
        value: own / base,
        goal: 'at most 1.10, 30 ms over',
        met: own / base <= 1.1 && own - base <= 30,
        note: `${(own - base).toFixed(1)} ms over; ${median(before.slice(1)).toFixed(1)} ms (p90 ${quantile(before.slice(1), 0.9).toFixed(1)}) until the child is spawned; ${asked} bare`,
      },
    ]
  } finally {
    await host.close()
  }
}
