/** Complete lines of the CLI's stdout become JSON values; what is none is reported, never lost. */
import ndjson from 'ndjson'
import type { Line } from './lines.ts'

/** A parsed frame, or a short word on a line that holds none. */
export type Frame = { readonly value: unknown } | { readonly problem: string }

const EXCERPT = 120

/** Text stays text on its way through the stream; the types know the parser's own option alone. */
const PARSER_OPTIONS = { strict: true, decodeStrings: false }

/** Parses lines in batches: the stream of the parser costs more for each write than for each line. */
export class FrameParser {
  private readonly parser = ndjson.parse(PARSER_OPTIONS)
  private broken = false

  constructor() {
    this.parser.on('error', () => {
      this.broken = true
    })
  }

  /** @param lines - complete lines; each gives one frame, in order. */
  parse(lines: readonly Line[]): Frame[] {
    // Every frame is an object. A bare `null` would end the parser's stream, so nothing else is let in.
    const admitted: string[] = []
    for (const line of lines) if ('text' in line && isObject(line.text)) admitted.push(line.text)
    const values = this.valuesOf(admitted)
    let next = 0
    return lines.map(line => {
      if ('droppedBytes' in line) return { problem: `a line of ${line.droppedBytes} bytes, which is too long` }
      if (line.text !== admitted[next]) return { problem: excerpt(line.text) }
      const value = values[next]
      next += 1
      if (value === undefined) return { problem: excerpt(line.text) }
      // Brackets are what nesting is made of, so a short line cannot be nested deeply.
      if (line.text.length > 2 * MAX_DEPTH) prune(value)
      return { value }
    })
  }

  /** One value for each line; `undefined` for one that is no JSON. */
  private valuesOf(texts: readonly string[]): unknown[] {
    if (texts.length === 0) return []
    this.broken = false
    this.parser.write(`${texts.join('\n')}\n`)
    const values: unknown[] = []
    for (let value: unknown = this.parser.read(); value !== null; value = this.parser.read()) values.push(value)
    if (!this.broken) return values
    // Somewhere in the batch is a line that is none: which, they tell one by one.
    return texts.length === 1 ? [undefined] : texts.flatMap(text => this.valuesOf([text]))
  }
}

/** Deepest nesting of a frame that is kept; no recorded one has more than 9 levels, and what walks a frame does so by recursion. */
const MAX_DEPTH = 200

/** Cut off what is nested too deeply, in its place. */
function prune(frame: unknown): void {
  let level: object[] = typeof frame === 'object' && frame !== null ? [frame] : []
  for (let depth = 1; level.length > 0; depth += 1) {
    const next: object[] = []
    for (const parent of level) {
      for (const [key, child] of Object.entries(parent)) {
        if (typeof child !== 'object' || child === null) continue
        if (depth < MAX_DEPTH) next.push(child)
        else (parent as Record<string, unknown>)[key] = '…'
      }
    }
    level = next
  }
}

const BRACE = 0x7b

/** Nearly all lines begin with the brace itself. */
const isObject = (text: string): boolean => text.charCodeAt(0) === BRACE || text.trimStart().startsWith('{')

function excerpt(text: string): string {
  return text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT)}…`
}
