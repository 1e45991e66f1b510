/** What an examination says of one thing, for people and programs. */

/** One thing that was looked at. */
export interface Finding {
  readonly what: string
  readonly verdict: 'ok' | 'warning' | 'failure'
  /** What was found; a warning or a failure says the way out as well. */
  readonly words: string
  /** Stable code of a failure that the engine would report as well. */
  readonly code?: string
}

/** A finding as one line. */
export const lineOf = ({ what, verdict, words, code }: Finding): string =>
  `${verdict.padEnd(7)}  ${what}: ${words}${code === undefined ? '' : ` (${code})`}`
