/**
 * What a child may do instead of answering, one action after the other. A scenario's `child` is a list of objects with
 * one member each:
 *
 * - `{"read": true}`           read stdin to its end
 * - `{"closeStdin": true}`     close it unread
 * - `{"frames": [a, b]}`       write the frames a (inclusive) to b (exclusive) of `01-text-answer`, or of `"of"`
 * - `{"line": text}`           write a line; `{"text": text}` without a line end; `{"base64": bytes}` any bytes
 * - `{"big": bytes, "as": …}`  write a line of about so many bytes, `times` times: `output` of a tool, `delta` of text, or `junk`
 * - `{"deltas": count}`        write so many small deltas
 * - `{"stream": count, "rate": n}`  write so many deltas at n a second, each with the monotonic time of its writing in ns; without a
 *                              rate as fast as the pipe takes them
 * - `{"gate": folder}`         put a file into the folder, and go on when a file `go` stands in it
 * - `{"stderr": text}`         write to stderr, `times` times
 * - `{"log": text}`            append to the file of `--log-file`
 * - `{"wait": "signal"}`       stay until a signal ends it; `{"wait": ms}` pause
 * - `{"ignore": [signals]}`    do not die of them
 * - `{"spawn": "holder"}`      start a helper that holds both pipes; `"deaf"` ignores SIGTERM too
 * - `{"close": "stdout"}`      close a stream (or `"stderr"`)
 * - `{"forever": text}`        write this line until somebody ends it
 * - `{"remove": "cwd"}`        remove the working directory, or the folder of the `"log"`
 * - `{"forbid": [names]}`      end with 9 if one of these is in the environment; `{"demand": [names]}` if one is not
 * - `{"init": true}`          tell the conversation that the next three speak in
 * - `{"tools": [calls]}`       make calls at once, see `tools.mjs`
 * - `{"overwrite": text}`      write this into the files of the hook
 * - `{"spell": count}`         say the secret of the hook in two pieces, the first of so many characters
 * - `{"answer": text}`         say it and end well
 * - `{"kill": signal}`         send itself a signal
 * - `{"exit": code}`           end
 */
import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, existsSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { overwriteHooks } from './hooks.mjs'
import { useTools } from './tools.mjs'

const PROBES = join(import.meta.dirname, '..')

const write = (stream, bytes) =>
  new Promise(resolve => {
    if (stream.write(bytes)) resolve()
    else stream.once('drain', resolve)
  })

const step = body => JSON.stringify({ event: 'step_update', step_update: { conversation_id: 'odd', ...body } })

function framesOf(probe) {
  const lines = readFileSync(join(PROBES, probe, 'frames.ndjson'), 'utf8').split('\n')
  return lines.filter(line => line !== '').map(line => `${line}\n`)
}

function bigLine(body, as, at) {
  switch (as) {
    case 'output':
      return step({
        step_index: 2 + at,
        state: 'DONE',
        step_type: 'tool',
        tool_info: { name: 'run_command', parameters: { CommandLine: 'yes' }, output: body },
      })
    case 'delta':
      return step({ step_index: 3, state: 'ACTIVE', step_type: 'agent_response', text_delta: body })
    default:
      return body
  }
}

/** Deltas of one write, where they are written as fast as can be. */
const BLOCK = 400

const until = signal => new Promise(resolve => process.once(signal, resolve))

/** A member of the actions by its name; each may use the child's flags and the whole action. */
const ACTIONS = {
  read: () => text(process.stdin),
  closeStdin: () => process.stdin.destroy(),
  async frames([from, to], _flags, { of = '01-text-answer', times = 1, end = '\n' }) {
    for (const frame of framesOf(of).slice(from, to)) {
      await write(process.stdout, frame.replace('\n', end).repeat(times))
    }
  },
  line: line => write(process.stdout, `${line}\n`),
  text: part => write(process.stdout, part),
  base64: bytes => write(process.stdout, Buffer.from(bytes, 'base64')),
  async big(bytes, _flags, { as, times = 1 }) {
    const body = 'x'.repeat(bytes)
    for (let at = 0; at < times; at += 1) await write(process.stdout, `${bigLine(body, as, at)}\n`)
  },
  async deltas(count) {
    for (let at = 0; at < count; at += 1) {
      const delta = step({ step_index: 3, state: 'ACTIVE', step_type: 'agent_response', text_delta: `${at} ` })
      await write(process.stdout, `${delta}\n`)
    }
  },
  async stream(count, _flags, { rate }) {
    const delta = () =>
      `${step({ step_index: 3, state: 'ACTIVE', step_type: 'agent_response', text_delta: `t${process.hrtime.bigint()} ` })}\n`
    if (rate === undefined) {
      for (let at = 0; at < count; at += BLOCK) {
        await write(process.stdout, Array.from({ length: Math.min(BLOCK, count - at) }, delta).join(''))
      }
      return
    }
    const start = performance.now()
    for (let written = 0; written < count; ) {
      const due = Math.min(count, Math.floor(((performance.now() - start) * rate) / 1000) + 1)
      for (; written < due; written += 1) await write(process.stdout, delta())
      await pause(Math.max(0, start + (written * 1000) / rate - performance.now()))
    }
  },
  async gate(folder) {
    const watching = watch(folder)
    const opened = new Promise(resolve => watching.on('change', (_what, name) => name === 'go' && resolve()))
    writeFileSync(join(folder, `${process.pid}`), '')
    if (!existsSync(join(folder, 'go'))) await opened
    watching.close()
  },
  async stderr(words, _flags, { times = 1 }) {
    for (let at = 0; at < times; at += 1) await write(process.stderr, words)
  },
  log(words, flags) {
    const file = flags.get('log-file')?.[0]
    if (file !== undefined) appendFileSync(file, words)
  },
  async wait(what) {
    if (what !== 'signal') return pause(what)
    const alive = setInterval(() => {}, 60_000)
    const signal = await Promise.race([until('SIGTERM'), until('SIGINT')])
    clearInterval(alive)
    return signal
  },
  ignore(signals) {
    for (const signal of signals) process.on(signal, () => {})
  },
  spawn(kind) {
    const deaf = kind === 'deaf' ? "trap '' TERM; " : ''
    spawn('/bin/sh', ['-c', `${deaf}while :; do sleep 0.1; done`], { stdio: ['ignore', 'inherit', 'inherit'] }).unref()
  },
  close: stream => closeSync(stream === 'stdout' ? 1 : 2),
  async forever(line) {
    for (;;) await write(process.stdout, `${line}\n`)
  },
  remove(what, flags) {
    rmSync(what === 'cwd' ? process.cwd() : dirname(flags.get('log-file')?.[0] ?? ''), { recursive: true })
  },
  forbid(names) {
    if (names.some(name => process.env[name] !== undefined)) process.exit(9)
  },
  demand(names) {
    if (names.some(name => process.env[name] === undefined)) process.exit(9)
  },
  init: () =>
    write(
      process.stdout,
      `${JSON.stringify({ event: 'init', conversation_id: 'odd', init: { cwd: process.cwd(), tools: [] } })}\n`,
    ),
  tools: (calls, flags, how) => useTools(calls, flags, body => write(process.stdout, `${step(body)}\n`), how),
  overwrite: (words, flags) => overwriteHooks(flags, words),
  async spell(at) {
    const token = process.env.DSH_AGY_HOOK_TOKEN ?? ''
    for (const text_delta of [`it is ${token.slice(0, at)}`, `${token.slice(at)}, so`]) {
      await write(
        process.stdout,
        `${step({ step_index: 899, state: 'ACTIVE', step_type: 'agent_response', text_delta })}\n`,
      )
    }
  },
  async answer(words) {
    await write(
      process.stdout,
      `${step({ step_index: 900, state: 'DONE', step_type: 'agent_response', text_delta: words })}\n`,
    )
    const result = { conversation_id: 'odd', status: 'SUCCESS', response: words, num_turns: 1 }
    await write(process.stdout, `${JSON.stringify({ event: 'result', result })}\n`)
  },
  async kill(signal) {
    process.kill(process.pid, signal)
    await pause(60_000)
  },
  exit: code => process.exit(code),
}

/**
 * Do what a scenario says.
 *
 * @param {readonly object[]} actions
 * @param {Map<string, string[]>} flags of the command line.
 */
export async function misbehave(actions, flags) {
  for (const action of actions) {
    const name = Object.keys(action).find(member => member in ACTIONS)
    if (name === undefined) throw new Error(`stand-in: no action is known in ${JSON.stringify(action)}`)
    await ACTIONS[name](action[name], flags, action)
  }
}
