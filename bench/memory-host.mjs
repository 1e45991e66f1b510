/**
 * A host in a process of its own, whose most memory is told at the end: `ours <actions as JSON>` lets a child do these, and
 * `mock <bytes>` lets the host's own loop write a log of so many bytes.
 */
import { readFileSync } from 'node:fs'
import { child, openHost } from './host.mjs'
import { MOCK_ROUTE, MockModel } from './mock-model.mjs'

const [who, what] = process.argv.slice(2)

/** The kernel's own high-water mark, in bytes. */
function peak() {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(kilobytes) * 1024
}

const host = await openHost({}, who === 'ours' ? child(...JSON.parse(what)) : child())
// What is said stands in the log as a piece, as a block and as a message.
host.ctx.llm.registerAdapter(['mock'], new MockModel(Number(what) / 3))
const agent = await host.create(who === 'mock' ? { route: MOCK_ROUTE } : {})
await host.ask(agent)
const logged = agent.session.events.reduce((sum, event) => sum + JSON.stringify(event).length, 0)
process.send({ peak: peak(), logged })
await host.close()
process.disconnect()
