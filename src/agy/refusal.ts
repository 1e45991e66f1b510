/** A request that is refused before anything is spawned: the sentence names the input and the rule, the hint the way out. */
export class AgyRefusal extends Error {
  readonly code: string
  readonly hint: string

  /**
   * @param code - stable machine-readable code.
   * @param message - one sentence for the user.
   * @param hint - what to do about it.
   */
  constructor(code: string, message: string, hint: string) {
    super(message)
    this.name = 'AgyRefusal'
    this.code = code
    this.hint = hint
  }
}
