/**
 * Text that grows by small pieces and is read at the end: a string that is added to keeps each piece alive until it is
 * read, which for a long answer is most of what the collector of garbage has to do.
 */

/** Pieces that are kept apart at most. */
const PIECES = 256

/** Collects pieces of text. */
export class GrowingText {
  private readonly blocks: string[] = []
  private pieces: string[] = []
  private size = 0

  /** @param text - to begin with. */
  constructor(text = '') {
    this.add(text)
  }

  /** Length so far, in UTF-16 units. */
  get length(): number {
    return this.size
  }

  /** Append a piece. */
  add(piece: string): void {
    this.size += piece.length
    if (this.pieces.push(piece) < PIECES) return
    this.blocks.push(this.pieces.join(''))
    this.pieces = []
  }

  /** All of it. */
  toString(): string {
    return this.blocks.join('') + this.pieces.join('')
  }
}
