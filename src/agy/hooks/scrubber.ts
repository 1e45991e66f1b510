/** Takes the token of a run out of what is shown and stored: the environment of the model's commands holds it. */
import type { EngineEvent } from '../../engine/contract.ts'

const PLACEHOLDER = '<token of this run>'

/** @param secret - of characters that JSON writes as they are. */
export function withoutSecret<T>(value: T, secret: string): T {
  const text = JSON.stringify(value)
  return text.includes(secret) ? (JSON.parse(text.replaceAll(secret, PLACEHOLDER)) as T) : value
}

/** Takes it out of a run's events, also where it is told in several pieces of text. */
export class Scrubber {
  private readonly secret: string
  /** The end of the text so far, if the secret may begin with it. */
  private kept = ''

  constructor(secret: string) {
    this.secret = secret
  }

  /** Events that may be told now. */
  push(event: EngineEvent): EngineEvent[] {
    if (event.type !== 'text') {
      const goesOn = event.type === 'usage' || event.type === 'notice'
      return [...(goesOn ? [] : this.flush()), withoutSecret(event, this.secret)]
    }
    const text = (this.kept + event.text).replaceAll(this.secret, PLACEHOLDER)
    this.kept = this.beginningAtEndOf(text)
    const told = text.slice(0, text.length - this.kept.length)
    return told === '' ? [] : [{ type: 'text', text: told }]
  }

  /** The text that was kept back: no more of it comes. */
  flush(): EngineEvent[] {
    const { kept } = this
    this.kept = ''
    return kept === '' ? [] : [{ type: 'text', text: kept }]
  }

  private beginningAtEndOf(text: string): string {
    for (let length = Math.min(this.secret.length - 1, text.length); length > 0; length -= 1) {
      const end = text.slice(-length)
      if (this.secret.startsWith(end)) return end
    }
    return ''
  }
}
