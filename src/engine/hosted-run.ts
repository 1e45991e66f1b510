/** One run of an engine, held across the dsh steps that it spans: a step takes events from it and leaves the rest. */
import { isDeepStrictEqual } from 'node:util'
import type { EngineEvent, HostedEngine, Permissions, StepRequest } from './contract.ts'

/** What a run was started for; a step that wants something else needs a run of its own. */
export interface RunPurpose {
  readonly engine: HostedEngine
  readonly model: string
  readonly effort: string | undefined
  readonly permissions: Permissions
}

/** A started run. */
export class HostedRun {
  readonly purpose: RunPurpose
  private readonly events: AsyncGenerator<EngineEvent, void, undefined>
  private readonly own = new AbortController()
  private readonly unused: StepRequest['ahead']
  private ahead: EngineEvent | undefined
  private abandoned = false
  private seenSeq: number

  /**
   * @param purpose - what is run.
   * @param request - handed to the engine, with a stop of our own joined to its signal.
   * @param seenSeq - the log position that the prompt was made from.
   */
  constructor(purpose: RunPurpose, request: StepRequest, seenSeq: number) {
    this.purpose = purpose
    this.seenSeq = seenSeq
    this.unused = request.ahead
    this.events = purpose.engine.run({ ...request, signal: AbortSignal.any([request.signal, this.own.signal]) })
  }

  /** The next event, which stays until `take`. */
  async peek(): Promise<EngineEvent> {
    while (this.ahead === undefined || (this.abandoned && isText(this.ahead))) {
      const { value, done } = await this.events.next()
      if (done) throw new Error(`engine "${this.purpose.engine.id}" ended its run without saying how`)
      this.ahead = value
    }
    return this.ahead
  }

  /** Take the event that `peek` showed. */
  take(): void {
    this.ahead = undefined
  }

  /** The log up to here is what the run has been told of, or has told itself. */
  knows(seq: number): void {
    this.seenSeq = seq
  }

  /** Whether the run is still the one that is wanted. */
  serves(purpose: RunPurpose): boolean {
    const { engine, ...rest } = purpose
    const { engine: own, ...mine } = this.purpose
    return engine === own && isDeepStrictEqual(rest, mine)
  }

  /** Whether nothing was said since its start that it was not told. */
  hasHeard(log: readonly { readonly type: string }[]): boolean {
    return !log.slice(this.seenSeq).some(event => event.type === 'user/message')
  }

  /** Whether the run was given up, and tells only what it did until it ended. */
  get isAbandoned(): boolean {
    return this.abandoned
  }

  /** Give the run up: it is ended, and what it did by then is still told. Words that nobody has seen are not. */
  abandon(): void {
    this.abandoned = true
    this.own.abort()
  }

  /** End the run and whatever it started. */
  async stop(): Promise<void> {
    this.own.abort()
    await this.events.return()
    // A run that never began has not taken it.
    await this.unused?.end()
  }
}

const isText = ({ type }: EngineEvent): boolean => type === 'text' || type === 'text-settled'
