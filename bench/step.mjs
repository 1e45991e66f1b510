/** What a whole step costs over the bare CLI: from the accepted message to `turn/end`, with a log of 100 messages. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { runBare } from './bare.mjs'
import { openHost } from './host.mjs'
import { MOCK_ROUTE, MockModel } from './mock-model.mjs'
import { median, pairs, quantile, ratioOf, timed } from './ratio.mjs'

const MESSAGES = 100

/** How long the CLI itself takes until it can work (agy 1.1.18, recording 12); the stand-in takes some 60 ms. */
const CLI_START_MS = 2_500

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
    const accepted = []
    const ours = async () => {
      accepted.push(performance.now())
      await host.ask(agent)
      ends.push(performance.now())
    }
    const prompt = `${'a line of the log that says something\n'.repeat(MESSAGES)}`
    const bare = () => runBare(host.env, prompt)
    subscribe('child_process', onSpawn)
    const times = await pairs(rounds, ours, bare)
    unsubscribe('child_process', onSpawn)
    // What dsh needs for a step of its own loop is in ours as well.
    host.ctx.llm.registerAdapter(['mock'], new MockModel(4, 4))
    const mocked = await host.create({ route: MOCK_ROUTE })
    const own = []
    for (let at = 0; at < MESSAGES / 2 + rounds; at += 1) own.push(await timed(() => host.ask(mocked)))
    const dsh = median(own.slice(-rounds))
    // Each pair starts a bare child first and ours behind it.
    const before = accepted.map((at, round) => starts[round * 2 + 1] - at)
    const over = median(times.ours.map((time, at) => time - times.baseline[at]))
    return [
      {
        name: `whole step with a log of ${MESSAGES} messages, to a bare child`,
        times,
        value: ratioOf(times),
        goal: 'at most 1.10, 30 ms over',
        met: ratioOf(times) <= 1.1 && over <= 30,
        note: `${over.toFixed(1)} ms over, of which dsh's own step takes ${dsh.toFixed(1)}; ${median(before.slice(1)).toFixed(1)} ms (p90 ${quantile(before.slice(1), 0.9).toFixed(1)}) until the child is spawned; ${((over / CLI_START_MS) * 100).toFixed(1)} % of the CLI's own start`,
      },
    ]
  } finally {
    await host.close()
  }
}
