/** Durable rows of a fast answer: 1,000 pieces of text through the engine and the session store. */
import { cpus } from 'node:os'
import { playingChild } from '../lib/cli/recording.js'
import { openReplayHost } from '../lib/cli/replay-host.js'

const PIECES = 1_000
/** Pieces a second: what no reader and hardly a model keeps up with. */
const RATE = 2_000

const step = body => ({
  event: 'step_update',
  step_update: { conversation_id: 'c', step_index: 1, step_type: 'agent_response', ...body },
})

/** A child that writes its pieces at an even rate. */
function pacedChild() {
  const frames = Array.from({ length: PIECES }, (_, at) => step({ state: 'ACTIVE', text_delta: `word ${at} ` }))
  const response = frames.map(frame => frame.step_update.text_delta).join('')
  frames.push({ event: 'result', result: { conversation_id: 'c', status: 'SUCCESS', response, num_turns: 1 } })
  const child = playingChild({ frames: Buffer.alloc(0), stderr: '', exit: { code: 0 } })
  async function* lines() {
    const start = performance.now()
    for (const [at, frame] of frames.entries()) {
      const due = start + (at * 1000) / RATE
      while (performance.now() < due) await new Promise(resolve => setImmediate(resolve))
      yield [{ text: JSON.stringify(frame) }]
    }
    await child.settle()
  }
  return { ...child, lines: lines() }
}

export async function rows() {
  const host = await openReplayHost({ durable: false })
  try {
    const { session } = await host.play(() => pacedChild())
    const deltas = session.events.filter(
      event => event.type === 'assistant/chunk' && event.data.chunk.type === 'text-delta',
    )
    return [
      {
        name: `durable rows of ${PIECES.toLocaleString('en')} pieces at ${RATE.toLocaleString('en')} a second`,
        value: deltas.length,
        goal: 'at most 100',
        met: deltas.length <= 100,
        note: `${cpus().length} cores`,
      },
    ]
  } finally {
    await host.close()
  }
}
