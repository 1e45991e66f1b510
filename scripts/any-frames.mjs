/** `npm run fuzz`: the property test over arbitrary frames, for as many runs as one likes. */
import { parseArgs } from 'node:util'
import { run } from './setup.mjs'

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20000' }, seed: { type: 'string' } },
})
const whole = text => /^-?\d+$/.test(text)
if (!whole(values.runs) || Number(values.runs) < 1 || (values.seed !== undefined && !whole(values.seed))) {
  console.error('npm run fuzz -- --runs 200000 --seed 7: both are whole numbers, and there is at least one run.')
  process.exit(1)
}
const env = { ...process.env, AGY_FUZZ_RUNS: values.runs, ...(values.seed && { AGY_FUZZ_SEED: values.seed }) }
process.exitCode = await run(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'rooms', 'test/host/any-frames.test.ts'],
  { env },
)
