/** Tells a session's events as a person would tell them. */
import type { SessionEvent } from '@deepseek-ai/dsh-session'

/** Token counts in sum. */
export interface Tokens {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  reasoningTokens: number
}

const LINES = 8
const WIDTH = 160

function shorten(text: string): string {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, LINES).map(line => (line.length > WIDTH ? `${line.slice(0, WIDTH)}…` : line))
  if (lines.length > LINES) shown.push(`… ${lines.length - LINES} more lines`)
  return shown.map(line => `    ${line}\n`).join('')
}

type TurnEnd = SessionEvent<'turn/end'>['data']['reason']

/** How a turn ended, in words. */
export function ending(reason: TurnEnd | undefined): string {
  if (reason === undefined) return 'without a turn'
  return reason.kind === 'error' ? `failed, ${reason.error.code}: ${reason.error.message}` : reason.kind
}

/** Writes what happens in a session while it happens. */
export class Narrator {
  readonly tokens: Tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, reasoningTokens: 0 }
  private readonly write: (text: string) => void
  private midLine = false

  /** @param write - takes pieces of text, not lines. */
  constructor(write: (text: string) => void) {
    this.write = write
  }

  /** Tell one event; most are not worth a word. */
  tell(event: SessionEvent): void {
    switch (event.type) {
      case 'assistant/chunk':
        if (event.data.chunk.type === 'text-delta') this.say(event.data.chunk.text)
        return
      case 'assistant/message':
        for (const key of Object.keys(this.tokens) as (keyof Tokens)[]) this.tokens[key] += event.data.usage?.[key] ?? 0
        return
      case 'tool/call':
        this.freshLine()
        this.write(`  tool ${event.data.name} ${event.data.arguments}\n`)
        return
      case 'tool/result': {
        const [block] = event.data.message.content
        const text = block.content.map(part => (part.type === 'text' ? part.text : `[${part.type}]`)).join('')
        this.write(`  ${block.isError ? 'failed' : 'result'}\n${shorten(text)}`)
        return
      }
      case 'turn/end':
        this.freshLine()
    }
  }

  /** The tokens so far, in words. */
  usage(): string {
    const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = this.tokens
    return `${inputTokens} tokens in, ${cacheReadTokens} more from cache, ${outputTokens} out (${reasoningTokens} of them thinking)`
  }

  private say(text: string): void {
    this.write(text)
    this.midLine = !text.endsWith('\n')
  }

  private freshLine(): void {
    if (this.midLine) this.write('\n')
    this.midLine = false
  }
}
