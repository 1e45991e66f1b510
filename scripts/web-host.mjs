/** `npm run web`: boots the real `dsh web` on a free loopback port, with the engine in it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseAgy, describeAgy, hostEnv, PRIVATE, prepareHost, readableLogs } from './private-host.mjs'
import { run } from './setup.mjs'

const home = await prepareHost('web')
const agy = await chooseAgy()
console.log(describeAgy(agy))
const overlayFile = join(PRIVATE, 'web-overlay.json')
writeFileSync(overlayFile, JSON.stringify([readableLogs(home), { id: 'agy', config: agy.config }]))
const cwd = join(PRIVATE, 'workspace')
mkdirSync(cwd, { recursive: true })
console.log('dsh web tells its address below; pick a model of Antigravity there, and stop with Ctrl-C here.')
process.exitCode = await run('dsh', ['web', '--patch', overlayFile, '--port', '0', '--no-open'], {
  cwd,
  env: hostEnv(home),
})
