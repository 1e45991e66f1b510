/** The real `dsh`, spawned as a user spawns it, in a home of its own with the packed package installed. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { expect, onTestFinished } from 'vitest'
import { copyHome, hostEnv, readableLogs } from '../../scripts/private-host.mjs'
import { readLog } from '../../src/cli/log-file.ts'
import { checkLog, type LogEvent } from '../../src/cli/log-rules.ts'
import { privateFolder, STAND_IN } from './folders.ts'
import { TEMPLATE_HOME } from './global-setup.ts'
import { type Received, readReceived } from './host.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** Rows that mount the host's own invariants, which no shipped profile does. */
const INVARIANTS = ['session', 'agent', 'scope', 'agent-loop', 'llm', 'tools', 'system-prompt'].map(name => ({
  id: `invariant-${name}`,
  name: `@deepseek-ai/dsh-${name}/invariant`,
}))

export interface DshHome {
  readonly home: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Write an overlay: readable log, invariants, the stand-in with a probe, and further rows. */
  overlay(options: {
    probe?: string
    env?: Record<string, string>
    config?: object
    rows?: readonly object[]
    plugin?: boolean
  }): string
  /** All logs of the home, by session id. */
  logs(): Promise<Map<string, readonly LogEvent[]>>
  /** What the stand-in was given, in order. */
  received(): Received[]
}

/** A home of its own, copied from the template. */
export function dshHome(): DshHome {
  const folder = privateFolder()
  const home = join(folder, 'home')
  copyHome(TEMPLATE_HOME, home)
  const cwd = privateFolder()
  const echo = join(folder, 'received.jsonl')
  let overlays = 0
  return {
    home,
    cwd,
    env: hostEnv(home),
    overlay({ probe = '01-text-answer', env = {}, config = {}, rows = [], plugin = true }) {
      overlays += 1
      const file = join(folder, `overlay-${overlays}.yml`)
      const standIn = { AGY_STANDIN_PROBE: probe, AGY_STANDIN_ECHO: echo, ...env }
      const all = [
        readableLogs(home),
        {
          insert: [{ id: 'invariants', name: '@deepseek-ai/dsh-invariants', config: { enabled: true } }, ...INVARIANTS],
        },
        ...(plugin ? [{ id: 'agy', config: { bin: STAND_IN, startGapMs: 0, ...config, env: standIn } }] : []),
        ...rows,
      ]
      writeFileSync(file, JSON.stringify(all))
      return file
    },
    async logs() {
      const found = new Map<string, readonly LogEvent[]>()
      const root = join(home, 'sessions')
      if (!existsSync(root)) return found
      for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
        if (entry.name !== 'session.jsonl') continue
        const { events } = await readLog(join(entry.parentPath, entry.name))
        found.set(String(entry.parentPath.split('/').at(-1)), events)
      }
      return found
    },
    received: () => readReceived(echo),
  }
}

/** Rows that put the console driver in the place of the headless front end. */
export function driverRows(config: {
  report: string
  cwd: string
  prompts: readonly string[]
  resume?: string
  route?: { provider: string; model: string }
}): object[] {
  return [
    { id: 'session-title-llm', disabled: true },
    { id: 'headless-runner', disabled: true },
    { id: 'headless-startup', disabled: true },
    {
      insert: [{ id: 'console-driver', name: pathToFileURL(join(ROOT, 'scripts', 'console-driver.mjs')).href, config }],
    },
    ...echoProviderRows,
  ]
}

/** A row with a provider of the host's own. */
export const echoProviderRows: readonly object[] = [
  {
    insert: [{ id: 'echo-provider', name: pathToFileURL(join(ROOT, 'test', 'support', 'echo-provider.mjs')).href }],
  },
]

/** Run `dsh` to its end. */
export function dsh(home: DshHome, args: readonly string[]) {
  return execa('dsh', args, { cwd: home.cwd, env: home.env, extendEnv: false, reject: false, stdin: 'ignore' })
}

/** Every rule of both generations holds for a whole log. */
export function expectValid(events: readonly LogEvent[] | undefined): void {
  expect(events).toBeDefined()
  expect(checkLog(events ?? [], { complete: true })).toEqual([])
}

type WebEvent = { readonly type: string; readonly data: Record<string, unknown>; readonly seq: number }

export interface DshWeb {
  readonly base: string
  /** End it now. */
  stop(): Promise<void>
  rpc<T = Record<string, unknown>>(method: string, payload: object): Promise<T>
  /**
   * Say something in a session and wait until its turn has ended.
   *
   * @param steer - something more that is said at the first event of that type.
   */
  say(sessionId: string, content: string | readonly object[], steer?: { at: string; text: string }): Promise<void>
  /** The session's events as the page gets them. */
  history(sessionId: string): Promise<WebEvent[]>
}

/** Boot `dsh web` on a free loopback port; it is ended after the test. */
export async function startWeb(home: DshHome, overlay: string): Promise<DshWeb> {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const child = execa('dsh', ['web', '--patch', overlay, '--port', String(port), '--no-open'], {
    cwd: home.cwd,
    env: home.env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    all: true,
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await child
  }
  onTestFinished(stop)
  await new Promise<void>((resolve, reject) => {
    let output = ''
    child.all.on('data', chunk => {
      output += String(chunk)
      if (output.includes(base)) resolve()
    })
    void child.then(() => reject(new Error(`dsh web ended before it served: ${output}`)))
  })
  let count = 0
  const rpc = async <T>(method: string, payload: object): Promise<T> => {
    count += 1
    const response = await fetch(`${base}/api/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: base },
      body: JSON.stringify({ type: 'client-request', rpcId: `t${count}`, method, payload }),
    })
    const { result } = (await response.json()) as { result: { ok: boolean; value: T; error?: unknown } }
    if (!result.ok) throw new Error(`${method} was refused: ${JSON.stringify(result.error)}`)
    return result.value
  }
  return {
    base,
    rpc,
    stop,
    async say(sessionId, content, steer) {
      const prompt = (mode: string, parts: string | readonly object[]) =>
        rpc('session.prompt', {
          sessionId,
          mode,
          content: typeof parts === 'string' ? [{ type: 'text', text: parts }] : parts,
        })
      const events = new WebSocket(`${base.replace('http', 'ws')}/api/events.mux`)
      try {
        let more = steer
        const ended = new Promise<void>((resolve, reject) => {
          events.onclose = () => reject(new Error('the event stream ended before the turn'))
          events.onmessage = message => {
            const { payload } = JSON.parse(String(message.data))
            if (payload.type !== 'session/event' || payload.sessionId !== sessionId) return
            if (payload.event.type === 'turn/end') resolve()
            if (payload.event.type !== more?.at) return
            void prompt('steer', more?.text ?? '').catch(reject)
            more = undefined
          }
        })
        await new Promise(resolve => {
          events.onopen = resolve
        })
        await Promise.all([ended, prompt('queue', content)])
      } finally {
        events.close()
      }
    },
    async history(sessionId) {
      const { events } = await rpc<{ events: { event: WebEvent }[] }>('session.history', { sessionId })
      return events.map(({ event }) => event)
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
