/**
 * A stand-in for `agy`: started like it, with its arguments and its stdin, it answers with the frames of one recording.
 * It reads no prompt and runs no tool. Steered by environment variables:
 *
 * - `AGY_STANDIN_PROBE`     name of the probe folder to replay (default `07-command-and-file`)
 * - `AGY_STANDIN_DELAY_MS`  pause before each frame (default 0)
 * - `AGY_STANDIN_CHUNK`     write stdout in pieces of so many bytes
 * - `AGY_STANDIN_HOLD`      write so many frames, then stay until a signal comes
 * - `AGY_STANDIN_ECHO`      append what was received to this file, one JSON object per start
 * - `AGY_STANDIN_SCENARIO`  a file of `probes/faults`: do what its `child` says; a list of lists is one for each start
 * - `AGY_STANDIN_SCENARIOS` the folder of the scenarios: the last `fault:<name>` of the prompt chooses one of them
 * - `AGY_STANDIN_HOOKS`     where hooks are looked for, see `hooks.mjs`
 * - `AGY_STANDIN_MODELS`    the file that `models` prints (default `models.txt`)
 * - `AGY_STANDIN_VERSION`   what `--version` prints (default 1.3.2)
 */
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { FlagError, parseArguments } from './arguments.mjs'
import { listing } from './hooks.mjs'
import { misbehave } from './misbehave.mjs'

const PROBES = join(import.meta.dirname, '..')
const steer = name => process.env[`AGY_STANDIN_${name}`]
const argv = process.argv.slice(2)
const received = { pid: process.pid, argv, cwd: process.cwd(), env: Object.keys(process.env).sort(), stdin: '' }

function echo() {
  const file = steer('ECHO')
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(received)}\n`)
}

const size = Number(steer('CHUNK') ?? 0)

/** Write to stdout, waiting for the reader. */
async function write(line) {
  const bytes = Buffer.from(line)
  const step = size > 0 ? size : bytes.length
  for (let at = 0; at < bytes.length; at += step) {
    await new Promise(resolve => process.stdout.write(bytes.subarray(at, at + step), resolve))
  }
}

const errorResult = (conversation, error) =>
  `${JSON.stringify({
    event: 'result',
    result: {
      conversation_id: conversation,
      status: 'ERROR',
      response: '',
      error,
      duration_seconds: 0,
      num_turns: 1,
      usage: { input_tokens: 0, output_tokens: 0, thinking_tokens: 0, cache_read_tokens: 0, total_tokens: 0 },
    },
  })}\n`

/** What a line of stdin is refused for (wording of 1.1.18), or the prompt that it holds. */
function readPrompt(line) {
  let message
  try {
    message = JSON.parse(line)
  } catch {
    return { error: `failed to decode stream input: invalid character '${line[0]}' looking for beginning of value` }
  }
  if (message.event === undefined) return { error: 'stream input message is missing the "event" field' }
  if (message.event !== 'user') return { ignored: message.event }
  if (message.message === undefined) return { error: 'stream input "user" message is missing the "message" field' }
  const { content } = message.message
  if (typeof content === 'string') return { prompt: content }
  const strange = content.find(block => block.type !== 'text')
  if (strange) return { error: `stream input content block type "${strange.type}" is not supported (only "text")` }
  return { prompt: content.map(block => block.text).join('') }
}

function loadProbe() {
  const name = steer('PROBE') ?? '07-command-and-file'
  const folder = join(PROBES, name)
  if (!existsSync(join(folder, 'frames.ndjson'))) {
    throw new FlagError(
      `stand-in: there is no probe "${name}" in ${PROBES}; set AGY_STANDIN_PROBE to one of its folders`,
    )
  }
  const card = JSON.parse(readFileSync(join(folder, 'card.json'), 'utf8'))
  const errors = join(folder, 'stderr.txt')
  return {
    frames: readFileSync(join(folder, 'frames.ndjson'), 'utf8')
      .split('\n')
      .filter(line => line !== ''),
    stderr: existsSync(errors) ? readFileSync(errors, 'utf8') : '',
    exit: card.exit?.value ?? 0,
  }
}

/** A recording with an identity of its own, as each start of the CLI has, working where it was told to. */
function ownFrames(frames, conversation, workspace) {
  const recorded = frames.map(line => /"conversation_id":"([^"]+)"/.exec(line)?.[1]).find(id => id !== undefined)
  return frames.map(line => {
    const own = recorded === undefined ? line : line.replaceAll(recorded, conversation)
    if (!own.startsWith('{"event":"init"')) return own
    const frame = JSON.parse(own)
    frame.init.cwd = workspace
    return JSON.stringify(frame)
  })
}

async function converse(flags) {
  const conversation = randomUUID()
  const held = Number(steer('HOLD') ?? Number.POSITIVE_INFINITY)
  const delay = Number(steer('DELAY_MS') ?? 0)
  const probe = loadProbe()
  // Without --add-dir the CLI works in a scratch folder of its own.
  const workspace = flags.get('add-dir')?.[0] ?? join(homedir(), '.gemini', 'antigravity-cli', 'scratch')
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      process.stdout.write(errorResult(conversation, 'interrupted'), () => process.exit(1))
    })
  }

  received.stdin = await text(process.stdin)
  // Beside the workspace: what else the model may read.
  received.files = (flags.get('add-dir') ?? []).slice(1).flatMap(folder =>
    readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ name }) => {
        const file = join(folder, name)
        return { file, mode: (statSync(file).mode & 0o777).toString(8), base64: readFileSync(file, 'base64') }
      }),
  )
  echo()
  const fault = [...received.stdin.matchAll(/fault:([\w-]+)/g)].at(-1)?.[1]
  if (steer('SCENARIOS') !== undefined && fault !== undefined && fault !== 'none') {
    const { child } = JSON.parse(readFileSync(join(steer('SCENARIOS'), `${fault}.json`), 'utf8'))
    await misbehave(child, flags)
    return 0
  }
  const line = received.stdin.split('\n').find(candidate => candidate.trim() !== '')
  const frames = ownFrames(probe.frames, conversation, workspace)
  const asked = line === undefined ? {} : readPrompt(line)
  if (asked.ignored !== undefined) {
    process.stderr.write(`warning: ignoring unsupported stream input message event "${asked.ignored}"\n`)
  }
  if (asked.error !== undefined || asked.prompt === undefined) {
    const init = frames.find(frame => frame.startsWith('{"event":"init"'))
    if (init !== undefined) await write(`${init}\n`)
    if (asked.error === undefined) return 0
    await write(errorResult(conversation, asked.error))
    return 1
  }
  if (asked.prompt.trimStart().startsWith('/') && !flags.has('disable-slash-commands')) {
    const command = asked.prompt.trimStart().split(/\s/)[0]
    await write(
      errorResult(
        conversation,
        `${command} is answered by the CLI itself and is unavailable with --input-format stream-json; run it as its own --print ${command} invocation`,
      ),
    )
    return 2
  }
  for (const [index, frame] of frames.entries()) {
    if (index >= held) await new Promise(() => setInterval(() => {}, 60_000))
    if (delay > 0) await pause(delay)
    await write(`${frame}\n`)
  }
  process.stderr.write(probe.stderr)
  return probe.exit
}

async function main() {
  const { flags, rest } = parseArguments(argv)
  if (flags.has('version')) {
    echo()
    await write(`${steer('VERSION') ?? '1.3.2'}\n`)
    return 0
  }
  if (rest[0] === 'models') {
    // Up to 1.1.22 a subcommand hangs while its stdin is open.
    received.stdin = await text(process.stdin)
    echo()
    await write(readFileSync(steer('MODELS') ?? join(PROBES, 'models.txt'), 'utf8'))
    return 0
  }
  if (rest.length > 0) {
    throw new FlagError(
      'Prompts are read only from -p/--print, -i/--prompt-interactive, or stdin, so this argument would have been ignored.',
    )
  }
  if (flags.get('print')?.at(-1) === '/hooks') {
    received.stdin = await text(process.stdin)
    echo()
    await write(`${listing(flags)}\n`)
    return 0
  }
  if (flags.get('input-format')?.at(-1) !== 'stream-json' || flags.get('output-format')?.at(-1) !== 'stream-json') {
    throw new FlagError('stand-in: only --input-format=stream-json with --output-format=stream-json is replayed')
  }
  return steer('SCENARIO') === undefined ? converse(flags) : actUp(steer('SCENARIO'), flags)
}

/** Starts are told apart by the file that each one is written down in. */
async function actUp(file, flags) {
  echo()
  const { child } = JSON.parse(readFileSync(file, 'utf8'))
  const starts = Array.isArray(child[0]) ? child : [child]
  const before =
    steer('ECHO') === undefined ? 0 : readFileSync(steer('ECHO'), 'utf8').match(/output-format/g).length - 1
  await misbehave(starts[Math.min(before, starts.length - 1)], flags)
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof FlagError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
