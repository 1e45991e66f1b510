/**
 * Cuts the CLI's stdout into lines, on LF only: a JSON string may hold U+2028, which other splitters cut at.
 *
 * It stands in front of the NDJSON parser because that one scans its whole buffer again at each chunk (seconds for one
 * large line) and loses oversized and malformed lines without an event.
 */

/** Longest line that is accepted, in bytes. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

const LF = 0x0a

/** Complete lines without the last LF, or the size in bytes of one line that was dropped for its length. */
export type Lines = { readonly text: string } | { readonly droppedBytes: number }

/** Bounded splitter; holds at most one unfinished line. */
export class LineSplitter {
  private parts: Buffer[] = []
  private size = 0
  private readonly maxBytes: number

  /** @param maxBytes - longest accepted line in bytes. */
  constructor(maxBytes: number = MAX_LINE_BYTES) {
    this.maxBytes = maxBytes
  }

  /** Take the next bytes; returns the lines that they complete. Where nothing but blank ones are, none are told. */
  push(chunk: Buffer): Lines[] {
    const first = chunk.indexOf(LF)
    if (first < 0) {
      this.keep(chunk)
      return []
    }
    this.keep(chunk.subarray(0, first))
    const lines = this.complete()
    const last = chunk.lastIndexOf(LF)
    // All lines that begin and end in this chunk at once: to decode each by itself takes several times as long.
    if (last > first) lines.push(...this.bounded(chunk.toString('utf8', first + 1, last)))
    this.keep(chunk.subarray(last + 1))
    return lines
  }

  /** The stream ended; returns the last line if it had no LF. */
  end(): Lines[] {
    return this.complete()
  }

  /** Whole lines; they are told apart only if one of them can be too long. */
  private bounded(text: string): Lines[] {
    if (this.isTooLong(text)) {
      return text.split('\n').flatMap(line => {
        return this.isTooLong(line) ? [{ droppedBytes: Buffer.byteLength(line) }] : toldLines(line)
      })
    }
    return toldLines(text)
  }

  /** A character has at most three bytes for each unit of its text. */
  private isTooLong(text: string): boolean {
    return text.length * 3 > this.maxBytes && Buffer.byteLength(text) > this.maxBytes
  }

  private keep(part: Buffer): void {
    this.size += part.length
    if (this.size > this.maxBytes) this.parts = []
    else if (part.length > 0) this.parts.push(part)
  }

  private complete(): Lines[] {
    const { size } = this
    // A whole line is decoded at once, so a character split between two chunks is not cut.
    const [only] = this.parts
    const whole = only !== undefined && this.parts.length === 1 ? only : Buffer.concat(this.parts)
    const text = size > this.maxBytes ? undefined : whole.toString('utf8')
    this.parts = []
    this.size = 0
    if (text === undefined) return [{ droppedBytes: size }]
    return toldLines(text)
  }
}

const toldLines = (text: string): Lines[] => (text.trim() === '' ? [] : [{ text }])
