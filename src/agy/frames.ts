/** Complete lines of the CLI's stdout become JSON values; what is none is reported, never lost. */
import ndjson from 'ndjson'
import type { Lines } from './lines.ts'

/** A parsed frame, or a short word on a line that holds none. */
export type Frame = { readonly value: unknown } | { readonly problem: string }

const EXCERPT = 120

/** Text stays text on its way through the stream; the types know the parser's own option alone. */
const PARSER_OPTIONS = { strict: true, decodeStrings: false }

/** Parses lines in blocks: the stream of the parser costs more for each write than for each line. */
export class FrameParser {
  private readonly parser = ndjson.parse(PARSER_OPTIONS)
  private broken = false

  constructor() {
    this.parser.on('error', () => {
      this.broken = true
    })
  }

  /** @param blocks - complete lines; each that is not blank gives one frame, in order. */
  parse(blocks: readonly Lines[]): Frame[] {
    return blocks.flatMap(block => {
      if ('droppedBytes' in block) return [{ problem: `a line of ${block.droppedBytes} bytes, which is too long` }]
      return this.parseBlock(block.text) ?? block.text.split('\n').flatMap(line => this.parseLine(line))
    })
  }

  private parseLine(line: string): Frame[] {
    if (line.trim() === '') return []
    return this.parseBlock(line.trimStart()) ?? [{ problem: excerpt(line) }]
  }

  /** The frames of lines that are all of them whole objects; `undefined` if one is not. */
  private parseBlock(text: string): Frame[] | undefined {
    const ends = endsOfObjects(text)
    if (ends === undefined) return undefined
    this.broken = false
    this.parser.write(`${text}\n`)
    const frames: Frame[] = []
    let start = 0
    for (let value: unknown = this.parser.read(); value !== null; value = this.parser.read()) {
      const end = ends[frames.length] ?? start
      // Brackets are what nesting is made of, so a short line cannot be nested deeply.
      if (end - start > 2 * MAX_DEPTH) prune(value)
      start = end
      frames.push({ value })
    }
    return this.broken ? undefined : frames
  }
}

const BRACE = 0x7b

/**
 * Where each line ends, if each begins as an object does, which nearly all do. Every frame is an object, and a bare `null`
 * would end the parser's stream: so nothing else is let in.
 */
function endsOfObjects(text: string): number[] | undefined {
  const ends: number[] = []
  for (let start = 0; ; start = (ends.at(-1) as number) + 1) {
    if (text.charCodeAt(start) !== BRACE) return undefined
    const end = text.indexOf('\n', start)
    if (end < 0) return [...ends, text.length]
    ends.push(end)
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

function excerpt(text: string): string {
  return text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT)}…`
}
