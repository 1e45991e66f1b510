/** `npm run probes:update`: writes anew what each recording becomes, and shows what is different from the last commit. */
import { run } from './setup.mjs'

const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'rooms', 'test/golden', '--update']
process.exitCode = await run(process.execPath, vitest)
// New files are shown too, as all of them added.
await run('git', ['add', '--intent-to-add', 'test/golden'])
await run('git', ['--no-pager', 'diff', '--stat', '--patch', '--', 'test/golden'])
