/**
 * The hooks of the CLI, as public drivers captured them (agy 1.1.21 to 1.2.16; 2026-12-03): where their files lie, how `/hooks`
 * lists them, how they are run before a call, and what their answer means. `AGY_STANDIN_HOOKS` says which of the two places in an
 * added folder this version looks at: `agents` (default), `plugin`, or `none`.
 */
import { spawn } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { appears } from './files.mjs'

function filesIn(folder) {
  const place = process.env.AGY_STANDIN_HOOKS ?? 'agents'
  if (place === 'agents') return [join(folder, '.agents', 'hooks.json')]
  if (place === 'none') return []
  try {
    const plugins = join(folder, '.agents', 'plugins')
    return readdirSync(plugins).map(name => join(plugins, name, 'hooks.json'))
  } catch {
    return []
  }
}

/** A file that is missing or malformed brings no hooks, and nothing is said of it. */
function read(source) {
  try {
    const file = JSON.parse(readFileSync(source, 'utf8'))
    return Object.entries(file).map(([name, { enabled = true, ...events }]) => ({
      name,
      enabled,
      source,
      actions: Object.entries(events).flatMap(([event, entries]) =>
        entries.flatMap(({ matcher, hooks }) =>
          hooks.map(({ type, command, timeout = 30 }) => ({
            event,
            ...(matcher && { matcher }),
            type,
            command,
            timeout_seconds: timeout,
          })),
        ),
      ),
    }))
  } catch {
    return []
  }
}

/** @param {Map<string, string[]>} flags of the command line. */
export function loadHooks(flags) {
  const own = join(homedir(), '.gemini', 'config', 'hooks.json')
  return [own, ...(flags.get('add-dir') ?? []).flatMap(filesIn)].flatMap(read)
}

/** Write this into each file of the added folder that holds a hook, as a model could. */
export function overwriteHooks(flags, words) {
  for (const file of (flags.get('add-dir') ?? []).slice(1).flatMap(filesIn)) {
    chmodSync(file, 0o600)
    writeFileSync(file, words)
  }
}

/** What `--print=/hooks --output-format=json` prints. */
export function listing(flags) {
  const hooks = loadHooks(flags)
  return JSON.stringify({
    conversation_id: '',
    status: 'SUCCESS',
    response: hooks.map(({ name, enabled }) => `${name}\t${enabled}`).join('\n'),
    num_turns: 0,
    command: { name: 'hooks', data: { hooks } },
  })
}

const meets = (matcher, name) => !matcher || matcher === '*' || new RegExp(matcher).test(name)

async function run({ command, timeout_seconds }, source, input, patience) {
  const child = spawn('sh', ['-c', command], {
    cwd: dirname(source),
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const over = new AbortController()
  const waited = patience === undefined ? pause(timeout_seconds * 1000, undefined, over) : appears(patience, over)
  waited.then(() => process.kill(-child.pid, 'SIGKILL')).catch(() => {})
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(input))
  const left = new Promise(resolve => child.on('exit', resolve))
  const output = await text(child.stdout)
  const code = await left
  over.abort()
  return { output: output.trim(), code }
}

/** What an answer means: silence and "ask" let the call run, whatever is not understood denies it. */
function meaning({ output, code }) {
  if (code !== 0) return { denied: `hook failed with code ${code}` }
  if (output === '') return {}
  try {
    const { decision, reason, ...more } = JSON.parse(output)
    if (Object.keys(more).length > 0) return { denied: 'unknown field in the answer of the hook' }
    if (decision === 'allow' || decision === 'ask') return {}
    return { denied: decision === 'deny' ? reason : `unknown decision ${decision}` }
  } catch {
    return { denied: 'the answer of the hook is not JSON' }
  }
}

/**
 * Ask the hooks about a call, one after the other.
 *
 * @param {string | undefined} patience of the CLI is at its end when this file appears.
 * @returns why it is denied; `undefined` when it may run.
 */
export async function askHooks(hooks, name, input, patience) {
  for (const { source, enabled, actions } of hooks) {
    for (const action of enabled ? actions : []) {
      if (action.event !== 'PreToolUse' || !meets(action.matcher, name)) continue
      const { denied } = meaning(await run(action, source, input, patience))
      if (denied !== undefined) return denied
    }
  }
  return undefined
}
