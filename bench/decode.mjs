/** Decode and fold a mix of recorded frames, against `JSON.parse` of the same lines. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fold } from '../lib/agy/fold.js'
import { FrameParser } from '../lib/agy/frames.js'
import { LineSplitter } from '../lib/agy/lines.js'
import { decodeFrame } from '../lib/agy/wire.js'
import { median, pairs, ratioOf } from './ratio.mjs'

const PROBES = join(import.meta.dirname, '..', 'probes')
const CHUNK = 64 * 1024
const step = body => JSON.stringify({ event: 'step_update', step_update: { conversation_id: 'c', ...body } })

/** Recordings of whole runs: each of their calls ends. */
const RECORDED = ['02-two-tools', '07-command-and-file', '16-plan-mode-interleaved', '29-mcp-tool', '32-hook-denied']

/** Many small deltas, few large outputs, and the recordings among them. */
function mix(bytes) {
  const recorded = RECORDED.flatMap(name =>
    readFileSync(join(PROBES, name, 'frames.ndjson'), 'utf8').split('\n'),
  ).filter(line => line.startsWith('{"event":"step_update"'))
  const output = 'line of output\n'.repeat(7_000)
  const lines = []
  let size = 0
  for (let at = 0; size < bytes; at += 1) {
    const tool = {
      step_index: at,
      state: 'DONE',
      step_type: 'tool',
      tool_info: { name: 'run_command', parameters: {}, output },
    }
    const delta = { step_index: 1, state: 'ACTIVE', step_type: 'agent_response', text_delta: `word ${at} ` }
    let line = step(delta)
    if (at % 500 === 499) line = step(tool)
    else if (at % 5 === 4) line = recorded[((at - 4) / 5) % recorded.length]
    lines.push(line)
    size += line.length + 1
  }
  return Buffer.from(`${lines.join('\n')}\n`)
}

const chunksOf = bytes =>
  Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, at) => bytes.subarray(at * CHUNK, (at + 1) * CHUNK))

export async function decode({ scale, rounds }) {
  const bytes = mix(200e6 * scale)
  const chunks = chunksOf(bytes)
  let events = 0
  const ours = () => {
    const splitter = new LineSplitter()
    const parser = new FrameParser()
    const fold = new Fold('t1s1')
    events = 0
    for (const chunk of chunks) {
      for (const frame of parser.parse(splitter.push(chunk))) {
        if ('value' in frame) events += fold.push(decodeFrame(frame.value)).length
      }
    }
    events += fold.finish().length
  }
  const baseline = () => {
    let rest = ''
    let parsed = 0
    for (const chunk of chunks) {
      const lines = (rest + chunk.toString('utf8')).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) parsed += JSON.parse(line) === null ? 0 : 1
    }
    return parsed
  }
  const times = await pairs(rounds, ours, baseline)
  const speed = 1 / ratioOf(times)
  return [
    {
      name: `decode and fold ${(bytes.length / 1e6).toFixed(0)} MB, share of the speed of JSON.parse`,
      times,
      value: speed,
      goal: 'at least 0.70',
      met: speed >= 0.7,
      note: `${Math.round((events / median(times.ours)) * 1000).toLocaleString('en')} events/s`,
    },
  ]
}
