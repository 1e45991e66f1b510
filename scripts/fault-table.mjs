/** `npm run faults`: every scenario on the real headless dsh, as one table; ends with 1 if one is not as expected. */
import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import { faultNames, readFault, runFault } from './fault-run.mjs'
import { prepareHost } from './private-host.mjs'
import { progress } from './setup.mjs'

const chosen = process.argv.slice(2)
const names = faultNames().filter(name => chosen.length === 0 || chosen.some(part => name.includes(part)))
const home = await prepareHost('headless')
const queue = new PQueue({ concurrency: availableParallelism() })
let done = 0
const rows = await Promise.all(
  names.map(name =>
    queue.add(async () => {
      const row = await runFault(name, home)
      done += 1
      progress(`${done} of ${names.length}: ${name}`)
      return row
    }),
  ),
)

const outcomes = row =>
  Object.entries(row.outcomes)
    .map(([outcome, times]) => (times === 1 ? outcome : `${outcome} ×${times}`))
    .join(', ')
const cells = rows.map(row => [
  row.name,
  outcomes(row),
  (row.says === '' ? readFault(row.name).about : row.says).replace(/\s+/g, ' '),
  row.valid ? 'valid' : 'INVALID',
  String(row.processes),
  String(row.files.length),
  String(row.ms),
])
const head = ['scenario', 'outcome', 'what the user sees', 'log', 'processes', 'files', 'ms']
const WIDEST = 90
const widths = head.map((title, at) => Math.min(WIDEST, Math.max(title.length, ...cells.map(row => row[at].length))))
const line = row =>
  row
    .map((cell, at) => cell.slice(0, widths[at]).padEnd(widths[at]))
    .join('  ')
    .trimEnd()
console.log(line(head))
for (const row of cells) console.log(line(row))
const wrong = rows.filter(row => row.problems.length > 0)
for (const { name, problems } of wrong) console.log(`\n${name}: ${problems.join('; ')}`)
console.log(`\n${rows.length} scenarios, ${wrong.length} not as expected`)
process.exitCode = wrong.length > 0 ? 1 : 0
