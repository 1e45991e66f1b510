/** A model of the host's own loop that says so many bytes and nothing else: what the host costs without us. */
import { LlmAdapter } from '@deepseek-ai/dsh-llm'

export const MOCK_ROUTE = { provider: 'mock', model: 'mock' }

/** A piece of an answer, in bytes. */
const PIECE = 64 * 1024

/** Says `bytes` in pieces of `piece` bytes. */
export class MockModel extends LlmAdapter {
  constructor(bytes, piece = PIECE) {
    super()
    this.bytes = bytes
    this.piece = piece
  }

  async *stream() {
    const pieces = Math.max(1, Math.round(this.bytes / this.piece))
    const words = 'x'.repeat(this.piece)
    yield { type: 'block-start', index: 0, blockType: 'text' }
    for (let at = 0; at < pieces; at += 1) yield { type: 'text-delta', index: 0, text: words }
    yield { type: 'block-end', index: 0, block: { type: 'text', text: words.repeat(pieces) } }
    yield { type: 'finish', reason: { kind: 'stop' } }
  }
}
