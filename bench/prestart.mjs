/** From the accepted message to the first word, with a child that was started ahead and without, at the CLI's own start-up time. */
import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { openHost, startingGate } from './host.mjs'
import { median } from './ratio.mjs'

/** How long the CLI starts before it writes `init` (agy 1.1.18, recording 12). */
const START_UP_MS = 2_500
const IDLE_MS = 1_000

/** Milliseconds until the first word of each turn; the session has its child by the time of the first one. */
async function firstWords(turns, startUp, prestart) {
  const child = [{ wait: startUp }, { init: true }, { read: true }, { answer: 'done' }]
  const host = await openHost({ prestart }, child)
  let seen
  host.ctx.on('session/event', (_session, event) => {
    if (event.type === 'assistant/chunk') seen ??= performance.now()
  })
  try {
    const agent = await host.create()
    const times = []
    for (let turn = 0; turn < turns; turn += 1) {
      // As long as a person takes to write.
      await pause(startUp * 1.2)
      seen = undefined
      const start = performance.now()
      await host.ask(agent)
      times.push(seen - start)
    }
    return times
  } finally {
    await host.close()
  }
}

/** How long a child lives that nobody asks. */
async function idle() {
  const gate = startingGate()
  const host = await openHost({ prestart: { max: 1, idleMs: IDLE_MS } }, [{ init: true }, gate.action])
  try {
    const start = performance.now()
    await host.create()
    await gate.filled(1)
    const pid = Number(readdirSync(gate.folder)[0])
    for (;;) {
      try {
        process.kill(pid, 0)
      } catch {
        return performance.now() - start
      }
      await pause(5)
    }
  } finally {
    await host.close()
    gate.close()
  }
}

export async function prestart({ scale }) {
  const turns = Math.max(2, Math.round(5 * scale))
  const startUp = Math.max(200, START_UP_MS * Math.min(1, scale * 5))
  const baseline = await firstWords(turns, startUp, { max: 0 })
  const ours = await firstWords(turns, startUp, { max: 1 })
  const value = median(ours) / median(baseline)
  const lived = await idle()
  return [
    {
      name: `first word with a child started ahead, start-up ${startUp / 1000} s, to without`,
      times: { ours, baseline },
      value,
      goal: 'at most 0.20',
      met: value <= 0.2,
    },
    {
      name: `life of a child that nobody asks, bound ${IDLE_MS} ms, to the bound`,
      value: lived / IDLE_MS,
      goal: 'at most 1.20',
      met: lived / IDLE_MS <= 1.2,
      note: 'from the opening of the session until the process is gone',
    },
  ]
}
