/** Complete lines of the CLI's stdout become JSON values; what is none is reported, never lost. */
import ndjson from 'ndjson'
import type { Line } from './lines.ts'

/** A parsed frame, or a short word on a line that holds none. */
export type Frame = { readonly value: unknown } | { readonly problem: string }

const EXCERPT = 120

/** Parses one line at a time. */
export class FrameParser {
  private readonly parser = ndjson.parse({ strict: true })
  private broken = false

  constructor() {
    this.parser.on('error', () => {
      this.broken = true
    })
  }

  /** @param line - one complete line. */
  parse(line: Line): Frame {
    if ('droppedBytes' in line) return { problem: `a line of ${line.droppedBytes} bytes, which is too long` }
    // Every frame is an object. A bare `null` would end the parser's stream, so nothing else is let in.
    if (!line.text.trimStart().startsWith('{')) return { problem: excerpt(line.text) }
    this.broken = false
    this.parser.write(`${line.text}\n`)
    const value: unknown = this.parser.read()
    return this.broken || value === null ? { problem: excerpt(line.text) } : { value }
  }
}

function excerpt(text: string): string {
  return text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT)}…`
}
