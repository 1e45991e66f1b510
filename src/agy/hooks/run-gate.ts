/**
 * The gate of one run: takes what the CLI asks before each call, has it decided, and answers.
 *
 * What is asked and what was decided stand in one line with what the child says, so that a call is in the log before anybody is
 * asked about it, and its denial before the CLI hears of it.
 */
import { realpath } from 'node:fs/promises'
import type { Answer, Gate, Outcome, Question } from '../../engine/contract.ts'

import { type Decision, deny, type HookAnswer, type HookAsk } from './ask.ts'
import { HookFolder, type HookSpec, hookEnvironment } from './files.ts'
import type { Breach, CallPlace } from './gated-calls.ts'
import type { Proof } from './proof.ts'
import { questionsOf, tellAnswer } from './questions.ts'
import { Scrubber, withoutSecret } from './scrubber.ts'
import { HookServer } from './server.ts'
import { kindOf, QUESTION_TOOL, summaryOf, targetsOf, visible } from './tools.ts'

/** What the reader of the run has to take up, in this order. */
export type GateInput =
  | {
      readonly kind: 'asked'
      readonly ask: HookAsk
      /** It is denied already, and this is why. */
      readonly refusal?: string
      /** Have it decided; the decision is an input of its own. */
      consider(id: string | undefined): void
      answer(word: HookAnswer): void
    }
  | { readonly kind: 'decided'; readonly ask: HookAsk; readonly decision: Decision; tell(): void }
  | { readonly kind: 'breached'; readonly breach: Breach }

/** What a gate is opened with. */
export interface GateOptions {
  readonly gate: Gate
  /** Absolute path of a folder that does not exist yet, inside the private one of the run. */
  readonly folder: string
  readonly proof: Proof
  readonly spec: HookSpec
  /** Longest time for one decision, in milliseconds. */
  readonly limitMs: number
}

const TAMPERED: Breach = {
  code: 'AGY_GATE_TAMPERED',
  message:
    'The files by which the CLI asks dsh before each call were changed during the run. The run was ended; an action may already have happened.',
}

/** Gate of one run. */
export class RunGate {
  private readonly options: GateOptions
  private readonly files: HookFolder
  private readonly places: readonly string[]
  private readonly server: HookServer
  private readonly ending = new AbortController()
  private readonly pending = new Set<Promise<void>>()
  /** Stops the decisions that are under way. */
  private readonly open = new Map<string, AbortController>()
  private readonly unanswered = new Set<(word: HookAnswer) => void>()
  /** What was asked before anybody took it up. */
  private readonly early: GateInput[] = []
  private take: (input: GateInput) => void = input => void this.early.push(input)

  private constructor(options: GateOptions, files: HookFolder, places: readonly string[], server: HookServer) {
    this.options = options
    this.files = files
    this.places = places
    this.server = server
  }

  /** Write the files and start to listen. */
  static async open(options: GateOptions): Promise<RunGate> {
    const files = await HookFolder.write(options.folder, options.proof.layout, options.spec)
    const places = [files.path, await realpath(files.path)]
    const self: { gate?: RunGate } = {}
    const server = await HookServer.open(
      async (ask, gone) => self.gate?.decide(ask, gone) ?? deny('The run is not ready.'),
    )
    self.gate = new RunGate(options, files, places, server)
    return self.gate
  }

  /** What the launch of the child needs. */
  get launch(): { readonly folder: string; readonly env: Readonly<Record<string, string>> } {
    return { folder: this.files.path, env: hookEnvironment(this.server.url, this.server.token) }
  }

  /** Whether proof, files and server still are what they were: a child may be started then. */
  async isWhole(): Promise<boolean> {
    return this.server.isListening && (await this.files.isIntact()) && (await this.options.proof.stillHolds())
  }

  /** Who takes up the inputs from now on. */
  feed(take: (input: GateInput) => void): void {
    this.take = take
    for (const input of this.early.splice(0)) take(input)
  }

  /** What shows that the files were changed, if they were. */
  async tampering(): Promise<Breach | undefined> {
    return (await this.files.isIntact()) ? undefined : TAMPERED
  }

  /** A call is over before it was decided on: its dialog has no use any more. */
  withdraw(place: CallPlace): void {
    this.open.get(keyOf(place))?.abort()
  }

  /** What is shown or stored without the run's token, which the environment of the model's commands holds. */
  scrub<T extends Outcome | string | readonly Question[]>(value: T): T {
    return withoutSecret(value, this.server.token)
  }

  /** The events of the run without its token. */
  newScrubber(): Scrubber {
    return new Scrubber(this.server.token)
  }

  /** Close open dialogs, deny what is not decided, and listen no more. Safe to call more than once. */
  async close(): Promise<void> {
    this.ending.abort()
    for (const answer of this.unanswered) answer(deny('The run was ended before this call was decided on.'))
    await Promise.all(this.pending)
    await this.server.close()
  }

  private async decide(ask: HookAsk, gone: AbortSignal): Promise<HookAnswer> {
    if (this.ending.signal.aborted) return deny('The run is over.')
    if (!(await this.files.isIntact())) {
      this.take({ kind: 'breached', breach: TAMPERED })
      return deny('The files of the hook were changed.')
    }
    return new Promise<HookAnswer>(resolve => {
      const answer = (word: HookAnswer): void => {
        this.unanswered.delete(answer)
        resolve(word)
      }
      this.unanswered.add(answer)
      const touches = mentions(ask.args, this.places)
      this.take({
        kind: 'asked',
        ask,
        ...(touches && { refusal: 'The call touches the private folder by which dsh is asked.' }),
        consider: id => this.consider(ask, id, gone, answer),
        answer,
      })
    })
  }

  private consider(ask: HookAsk, id: string | undefined, gone: AbortSignal, answer: (word: HookAnswer) => void): void {
    const key = keyOf(ask)
    const over = new AbortController()
    this.open.set(key, over)
    const signal = AbortSignal.any([this.ending.signal, gone, over.signal, AbortSignal.timeout(this.options.limitMs)])
    const questions = ask.name === QUESTION_TOOL ? this.scrub(questionsOf(ask.args)) : []
    const deciding = (questions.length > 0 ? this.question(questions, signal) : this.call(ask, id, signal))
      .catch((error: unknown) => denied(`The host could not decide: ${error instanceof Error ? error.message : error}`))
      .then(({ decision, word }) => this.take({ kind: 'decided', ask, decision, tell: () => answer(word) }))
    this.pending.add(deciding)
    void deciding.then(() => {
      this.pending.delete(deciding)
      this.open.delete(key)
    })
  }

  private async call({ name, args }: HookAsk, id: string | undefined, signal: AbortSignal): Promise<Decided> {
    const { text: summary, isWhole } = summaryOf(args)
    const verdict = await this.options.gate.decide({
      name: this.scrub(visible(name)),
      kind: kindOf(name),
      summary: this.scrub(summary),
      isWhole,
      targets: targetsOf(name, args),
      signal,
      ...(id !== undefined && { id }),
    })
    return verdict.allowed ? { decision: { kind: 'allowed' }, word: { decision: 'allow' } } : denied(verdict.reason)
  }

  private async question(questions: readonly Question[], signal: AbortSignal): Promise<Decided> {
    const answer: Answer = await this.options.gate.ask(questions, signal)
    const { shown, reason, answered } = tellAnswer(questions, answer)
    const decision: Decision = answered ? { kind: 'answered', text: shown } : { kind: 'denied', reason: shown }
    return { decision, word: deny(reason) }
  }
}

interface Decided {
  readonly decision: Decision
  readonly word: HookAnswer
}

const keyOf = ({ conversationId, stepIndex }: CallPlace): string => `${conversationId}#${stepIndex}`

const denied = (reason: string): Decided => ({ decision: { kind: 'denied', reason }, word: deny(reason) })

/** Whether one of the texts among the arguments names one of the places. */
function mentions(value: unknown, places: readonly string[]): boolean {
  if (typeof value === 'string') return places.some(place => value.includes(place))
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(inner => mentions(inner, places))
}
