/** The most memory that the host takes while a child writes a lot, over a host whose own loop writes a log of the same size. */
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { median } from './ratio.mjs'

const MB = 1e6

const run = (...args) =>
  new Promise((resolve, reject) => {
    const host = fork(join(import.meta.dirname, 'memory-host.mjs'), args.map(String))
    let told
    host.once('message', message => {
      told = message
    })
    host.once('exit', code => (told === undefined ? reject(new Error(`a host ended with ${code}`)) : resolve(told)))
  })

export async function memory({ scale }) {
  const rounds = scale < 1 ? 1 : 3
  const lines = Math.max(2, Math.round(250 * scale))
  const loads = [
    [`${((lines * 4) / 1000).toFixed(1)} GB of output, 4 MB a call`, { big: 4 * MB, as: 'output', times: lines }],
    ...(scale < 1
      ? []
      : [
          ['one accepted line of 16 MB', { big: 16 * MB, as: 'output' }],
          ['one line of 64 MiB, dropped', { big: 64 * 1024 * 1024, as: 'output' }],
        ]),
  ]
  const results = []
  for (const [name, action] of loads) {
    const over = []
    let logged = 0
    for (let round = 0; round < rounds; round += 1) {
      const ours = await run('ours', JSON.stringify([action]))
      const mock = await run('mock', ours.logged)
      if (Math.abs(mock.logged / ours.logged - 1) > 0.2 && ours.logged > MB)
        throw new Error(`logs of ${ours.logged} and ${mock.logged} bytes cannot be compared`)
      over.push((ours.peak - mock.peak) / MB)
      logged = ours.logged
    }
    const value = median(over)
    results.push({
      name: `most memory over the host's own loop, ${name}: MB`,
      value,
      goal: 'at most 150',
      met: value <= 150,
      note: `a log of ${(logged / MB).toFixed(1)} MB; ${over.map(each => each.toFixed(0)).join(', ')}`,
    })
  }
  return results
}
