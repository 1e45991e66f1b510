/** `npm run bench`: the measured promises, each against a baseline in the same run, as a table, as JSON, and as a picture. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PRIVATE } from '../scripts/private-host.mjs'
import { boot } from './boot.mjs'
import { crowd } from './crowd.mjs'
import { decode } from './decode.mjs'
import { growth } from './growth.mjs'
import { latency } from './latency.mjs'
import { memory } from './memory.mjs'
import { picture } from './picture.mjs'
import { prestart } from './prestart.mjs'
import { quantile } from './ratio.mjs'
import { rows } from './rows.mjs'
import { step } from './step.mjs'
import { transcript } from './transcript.mjs'

const MEASURES = { decode, step, latency, rows, transcript, memory, growth, crowd, prestart, boot }

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const strange = positionals.filter(name => !Object.hasOwn(MEASURES, name))
if (strange.length > 0) {
  console.error(
    `There is no measure "${strange.join('", "')}". Name some of ${Object.keys(MEASURES).join(', ')}, or none for all.`,
  )
  process.exit(1)
}
const options = values.quick ? { scale: 0.02, rounds: 2 } : { scale: 1, rounds: 7 }
const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}, Node ${process.version}`

const results = []
for (const name of positionals.length > 0 ? positionals : Object.keys(MEASURES)) {
  process.stderr.write(`· measuring ${name} …\n`)
  results.push(...(await MEASURES[name](options)))
}

const number = value => (value >= 100 || value % 1 === 0 ? value.toFixed(0) : value.toFixed(value < 0.1 ? 3 : 2))
const time = (times, share) => (times === undefined ? '' : number(quantile(times, share)))
const cells = results.map(({ name, times, value, goal, met, note = '' }) => [
  name,
  time(times?.ours, 0.5),
  time(times?.ours, 0.9),
  time(times?.baseline, 0.5),
  number(value),
  goal,
  met ? 'met' : 'NOT MET',
  note,
])
const head = ['measure', 'median ms', 'p90 ms', 'baseline ms', 'value', 'goal', '', '']
const widths = head.map((title, at) => Math.max(title.length, ...cells.map(row => row[at].length)))
console.log(`${machine}${values.quick ? ', a quick run that proves nothing' : ''}\n`)
for (const row of [head, ...cells]) {
  const line = row.map((cell, at) => cell.padEnd(widths[at])).join('  ')
  console.log(line.trimEnd())
}

mkdirSync(PRIVATE, { recursive: true })
const told = results.map(({ times, distribution: _, ...result }) => ({
  ...result,
  ...(times && { quantiles: Object.fromEntries(Object.entries(times).map(([who, all]) => [who, quantilesOf(all)])) }),
}))
writeFileSync(join(PRIVATE, 'bench.json'), JSON.stringify({ machine, quick: values.quick, results: told }, null, 2))
console.log(`\n${join(PRIVATE, 'bench.json')} holds all figures`)
const loads = results.filter(({ distribution }) => distribution !== undefined)
if (loads.length > 0) {
  writeFileSync(
    join(PRIVATE, 'latency.svg'),
    picture(
      loads.map(({ distribution, times }) => ({ name: distribution, times })),
      machine,
    ),
  )
  console.log(`${join(PRIVATE, 'latency.svg')} shows how the delays are spread`)
}

function quantilesOf(all) {
  return Object.fromEntries([0.5, 0.9, 0.99, 1].map(share => [`p${share * 100}`, quantile(all, share)]))
}
