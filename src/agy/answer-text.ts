/** The text of one run's answer, which is told in pieces while it goes on, and at its end once more in all. */
import { GrowingText } from './growing-text.ts'

/** What the closing frame's text adds to what was told. */
export type Settlement =
  /** One more piece. */
  | { readonly tail: string }
  /** Other text in the place of all that is not stored yet. */
  | { readonly instead: string }
  /** Nothing that could still be told: it contradicts what is stored. */
  | 'differs'

/** Collects the text of one answer. */
export class AnswerText {
  private text = new GrowingText()
  private storedLength = 0

  /** A piece was told. */
  add(piece: string): void {
    this.text.add(piece)
  }

  /** What was told so far is stored now, and cannot change. */
  store(): void {
    this.storedLength = this.text.length
  }

  /**
   * Hold what was told against the whole answer, as the closing frame repeats it. Where they differ the latter is better: the
   * deltas of some versions lose characters. What was shown is never shown twice.
   */
  settle(whole: string): Settlement | undefined {
    const told = this.text.toString()
    if (whole === '' || whole === told) return undefined
    if (whole.startsWith(told)) {
      const tail = whole.slice(told.length)
      this.text.add(tail)
      return { tail }
    }
    const stored = told.slice(0, this.storedLength)
    const instead = whole.startsWith(stored) ? whole.slice(stored.length) : ''
    if (instead === '') return 'differs'
    this.text = new GrowingText(whole)
    return { instead }
  }

  /** All of it. */
  toString(): string {
    return this.text.toString()
  }
}
