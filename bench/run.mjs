/** `npm run bench`: the measured promises, each against a baseline in the same run, as a table and as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { decode } from './decode.mjs'
import { quantile } from './ratio.mjs'
import { rows } from './rows.mjs'
import { transcript } from './transcript.mjs'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const options = values.quick ? { scale: 0.02, rounds: 2 } : { scale: 1, rounds: 7 }

const results = []
for (const measure of [decode, transcript, rows]) results.push(...(await measure(options)))

const ms = (times, share) => (times === undefined ? '' : quantile(times, share).toFixed(1))
const cells = results.map(({ name, times, value, goal, met, note = '' }) => [
  name,
  ms(times?.ours, 0.5),
  ms(times?.ours, 0.9),
  ms(times?.baseline, 0.5),
  value % 1 === 0 ? String(value) : value.toFixed(3),
  goal,
  met ? 'met' : 'NOT MET',
  note,
])
const head = ['measure', 'median ms', 'p90 ms', 'baseline ms', 'value', 'goal', '', '']
const widths = head.map((title, at) => Math.max(title.length, ...cells.map(row => row[at].length)))
const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`
console.log(`${machine}${values.quick ? ', a quick run that proves nothing' : ''}\n`)
for (const row of [head, ...cells])
  console.log(
    row
      .map((cell, at) => cell.padEnd(widths[at]))
      .join('  ')
      .trimEnd(),
  )

const folder = join(import.meta.dirname, '..', '.dsh-private')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'bench.json'), JSON.stringify({ machine, quick: values.quick, results }, null, 2))
console.log(`\n${join('.dsh-private', 'bench.json')} holds all figures`)
