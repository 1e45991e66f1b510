/** A row that serves the provider `echo` with one fixed answer: a model for dsh's own loop. */
import { LlmAdapter } from '@deepseek-ai/dsh-llm'

export const name = 'echo-provider'
export const inject = ['llm']

class EchoAdapter extends LlmAdapter {
  async listModels(provider) {
    return [{ provider, id: 'echo-1', name: 'Echo' }]
  }

  async *stream() {
    const text = 'own loop'
    yield { type: 'block-start', index: 0, blockType: 'text' }
    yield { type: 'text-delta', index: 0, text }
    yield { type: 'block-end', index: 0, block: { type: 'text', text } }
    yield { type: 'finish', reason: { kind: 'stop' } }
  }
}

export function apply(ctx) {
  ctx.llm.registerAdapter(['echo'], new EchoAdapter())
}
