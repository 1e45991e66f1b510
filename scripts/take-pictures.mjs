/** `npm run pictures`: the tests of the page, or those that are named, which keep pictures of what they see in `docs/images`. */
import { join } from 'node:path'
import { ensureChromium } from './chromium.mjs'
import { ROOT, run } from './setup.mjs'

if ((await ensureChromium()) === undefined) {
  console.error('No Chromium is here and none can be installed, so no pictures can be taken.')
  process.exit(1)
}
process.env.DSH_AGY_PICTURES ??= join(ROOT, 'docs', 'images')
const chosen = process.argv.slice(2)
process.exitCode = await run('vitest', ['run', '--project', 'real dsh', ...(chosen.length > 0 ? chosen : ['test/web'])])
