/** The prompt of a long log: the first one, the next one, and how many keep their predecessor's beginning. */
import { DEFAULT_TRANSCRIPT, Transcript } from '../lib/engine/transcript.js'
import { pairs, ratioOf } from './ratio.mjs'

const text = words => [{ type: 'text', text: words }]
const item = (role, kind, content) => ({ message: { role, source: { kind }, content }, interrupted: false })
const noImages = () => Promise.reject(new Error('none'))
const fresh = () => new Transcript(DEFAULT_TRANSCRIPT, noImages)

/** Turns of a question, a call with its result, and an answer. */
function history(messages, bytes) {
  const each = Math.floor(bytes / messages)
  return Array.from({ length: messages }, (_, at) => {
    const words = `${at} ${'some words that somebody said, and a line\n'.repeat(Math.ceil(each / 42))}`.slice(0, each)
    switch (at % 4) {
      case 0:
        return item('user', 'user', text(words))
      case 1:
        return item('assistant', 'model', [
          { type: 'tool-call', name: 'run_command', arguments: JSON.stringify({ words }) },
        ])
      case 2:
        return item('user', 'tool', [{ type: 'tool-result', content: text(words), isError: false }])
      default:
        return item('assistant', 'model', text(words))
    }
  })
}

const render = (transcript, items) => transcript.render(items).text(new Map())

async function longLog({ scale, rounds }) {
  const messages = Math.round(10_000 * scale)
  const items = history(messages, 20e6 * scale)
  const first = await pairs(
    rounds,
    () => render(fresh(), items),
    () => JSON.stringify(items.map(({ message }) => message)),
  )
  const kept = fresh()
  render(kept, items)
  const longer = [...items, item('user', 'user', text('and now?'))]
  const next = await pairs(
    rounds,
    () => render(kept, longer),
    () => render(fresh(), longer),
  )
  const [ratio, again] = [first, next].map(ratioOf)
  const size = `${messages.toLocaleString('en')} messages`
  return [
    {
      name: `first prompt of ${size}, to JSON.stringify`,
      times: first,
      value: ratio,
      goal: 'at most 1.50',
      met: ratio <= 1.5,
    },
    {
      name: `next prompt of ${size}, to the first`,
      times: next,
      value: again,
      goal: 'at most 0.10',
      met: again <= 0.1,
    },
  ]
}

function prefixes({ scale }) {
  const turns = Math.max(20, Math.round(300 * scale))
  const transcript = fresh()
  const items = []
  let kept = 0
  let before = ''
  for (let turn = 0; turn < turns; turn += 1) {
    items.push(item('user', 'user', text(`question ${turn} ${'q'.repeat(900)}`)))
    const prompt = render(transcript, items)
    const body = prompt.slice(0, prompt.search(/\n# (?:files, which|end of log)/))
    if (body.startsWith(before)) kept += 1
    before = body
    items.push(item('assistant', 'model', text(`answer ${turn} ${'a'.repeat(1_100)}`)))
  }
  const share = kept / turns
  return {
    name: `prompts of ${turns} turns (2.1 kB each) that begin like the one before`,
    value: share,
    goal: 'at least 0.95',
    met: share >= 0.95,
  }
}

export const transcript = async options => [...(await longLog(options)), prefixes(options)]
