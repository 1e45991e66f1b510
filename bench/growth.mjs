/** Time and memory of a run that writes ever more events, and the time of the step after it: the slope on a log-log scale. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { child, openHost } from './host.mjs'

/** Events in the log of one call with its message, result and step. */
const EVENTS_A_CALL = 8

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

const heap = () => {
  collect()
  return process.memoryUsage().heapUsed
}

/** What one run of about so many events takes: milliseconds from its first event, bytes that are kept, and the next step. */
async function measured(events) {
  const host = await openHost({}, child({ big: 200, as: 'output', times: Math.round(events / EVENTS_A_CALL) }))
  try {
    const agent = await host.create()
    let first
    const stop = host.ctx.on('session/event', (_session, event) => {
      if (event.type === 'assistant/chunk') first ??= performance.now()
    })
    const before = heap()
    await host.ask(agent)
    const write = performance.now() - first
    stop()
    const kept = Math.max(1, heap() - before)
    host.act(child())
    const start = performance.now()
    await host.ask(agent)
    return { events: agent.session.events.length, write, kept, next: performance.now() - start }
  } finally {
    await host.close()
  }
}

/** Slope of the line through points on a log-log scale, by least squares. */
function exponent(points) {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)])
  const mean = at => logs.reduce((sum, point) => sum + point[at], 0) / logs.length
  const [x, y] = [mean(0), mean(1)]
  const above = logs.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return above / logs.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}

export async function growth({ scale }) {
  const rounds = scale < 1 ? 1 : 3
  const sizes = [1_000, 10_000, 50_000].map(size => Math.max(100, size * scale))
  // The first run of a process pays for what is compiled.
  await measured(sizes[0])
  const points = []
  for (const size of sizes) {
    const all = []
    for (let round = 0; round < rounds; round += 1) all.push(await measured(size))
    // What disturbs a machine only adds.
    const least = what => Math.min(...all.map(each => each[what]))
    points.push({ events: all[0].events, write: least('write'), kept: least('kept'), next: least('next') })
  }
  const row = (name, what, unit) => {
    const value = exponent(points.map(point => [point.events, point[what]]))
    return {
      name: `${name} as the log grows to ${points.at(-1).events.toLocaleString('en')} events: exponent`,
      value,
      goal: 'at most 1.10',
      met: value <= 1.1,
      note: points.map(point => `${point.events}: ${unit(point[what])}`).join(', '),
    }
  }
  return [
    row('time of the run', 'write', ms => `${ms.toFixed(0)} ms`),
    row('memory kept', 'kept', bytes => `${(bytes / 1e6).toFixed(1)} MB`),
    row('time of the next step', 'next', ms => `${ms.toFixed(0)} ms`),
  ]
}
