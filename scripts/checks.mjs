/**
 * `npm test`: everything that must hold before a change lands, the quick checks first.
 *
 * With arguments only the tests are run, and those are handed to the runner: `npm test -- test/agy`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checksOf } from './check-table.mjs'
import { ensureChromium } from './chromium.mjs'
import { PRIVATE, pack } from './private-host.mjs'
import { progress, ROOT, run } from './setup.mjs'

const chosen = process.argv.slice(2)
const REPORT = join(ROOT, 'node_modules', '.test-report.json')

const tarball = await pack(join(PRIVATE, 'package'))
if (chosen.length === 0) {
  for (const [what, program, args] of checksOf(tarball)) {
    progress(`checking ${what} …`)
    if ((await run(program, args, { quiet: true })) !== 0) {
      console.error(`${what}: failed`)
      console.log('0 passed, 1 failed')
      process.exit(1)
    }
  }
}

const chromium = await ensureChromium()
if (chromium === undefined)
  progress('no chromium here and none can be installed: the browser tests will say that they are left out')
process.exitCode = await run('vitest', [
  'run',
  ...(chosen.length === 0 ? ['--coverage'] : []),
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${REPORT}`,
  ...chosen,
])
const { numPassedTests, numFailedTests, numFailedTestSuites, numPendingTests } = JSON.parse(
  readFileSync(REPORT, 'utf8'),
)
// A file that does not even load counts as a failure of its own.
const failed = Math.max(numFailedTests, process.exitCode === 0 ? 0 : Math.max(1, numFailedTests || numFailedTestSuites))
console.log(`${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`)
