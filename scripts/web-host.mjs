/** `npm run web`: boots the real `dsh web` on a free loopback port, with the engine in it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { chooseAgy, describeAgy, hostEnv, PRIVATE, prepareHost } from './private-host.mjs'
import { run } from './setup.mjs'

const home = await prepareHost('web')
const agy = await chooseAgy()
console.log(describeAgy(agy))
const overlayFile = join(PRIVATE, 'web-overlay.json')
writeFileSync(overlayFile, JSON.stringify([{ id: 'agy', config: agy.config }]))
const cwd = join(PRIVATE, 'workspace')
mkdirSync(cwd, { recursive: true })
const port = await freePort()
console.log(`dsh web: http://127.0.0.1:${port} (pick a model of Antigravity; stop with Ctrl-C)`)
process.exitCode = await run('dsh', ['web', '--patch', overlayFile, '--port', String(port), '--no-open'], {
  cwd,
  env: hostEnv(home),
})

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
