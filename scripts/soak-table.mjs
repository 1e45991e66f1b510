/** `npm run soak`: prints what a soaked dsh holds every 30 s; ends with 1 if anything has grown. */
import { parseArgs } from 'node:util'
import { prepareHost } from './private-host.mjs'
import { runSoak } from './soak-run.mjs'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '300' }, sessions: { type: 'string', default: '32' } },
})
const [seconds, sessions] = [Number(values.seconds), Number(values.sessions)]
if (!(seconds > 0) || !Number.isInteger(sessions) || sessions < 1) {
  console.error('npm run soak -- --seconds 300 --sessions 32: both are positive numbers.')
  process.exit(1)
}
const { rows, outcomes, problems } = await runSoak(await prepareHost('headless'), { seconds, sessions })
console.table(rows)
console.table(outcomes)
for (const problem of problems) console.log(problem)
console.log(problems.length === 0 ? 'nothing has grown' : `${problems.length} things have grown`)
process.exitCode = problems.length === 0 ? 0 : 1
