/**
 * The engine: one run is one `agy` child with a fresh conversation.
 *
 * Reads like the road of a frame: slot, launch, spawn, lines, parse, decode, fold, and one outcome at the end.
 */
import type {
  EngineEvent,
  HostedEngine,
  LikelyRequest,
  Outcome,
  StartedAhead,
  StepRequest,
} from '../engine/contract.ts'
import { ChildMaker, type MakerOptions, type StartedChild } from './child-maker.ts'
import { ChildSlots, DEFAULT_SLOTS, type SlotLimits } from './child-slots.ts'
import { ChildStarter } from './child-starter.ts'
import { type AheadLimits, DEFAULT_AHEAD } from './children-ahead.ts'
import { Fold } from './fold.ts'
import type { Breach } from './hooks/gated-calls.ts'
import { nameOutcome, type RunFacts } from './outcome.ts'
import { type ChildLimits, DEFAULT_CHILD_LIMITS, SpawnFailure } from './process.ts'
import { readChild } from './reader.ts'
import { redact } from './redact.ts'
import { AgyRefusal } from './refusal.ts'
import { DEFAULT_RUN_LIMITS, RunClock, type RunLimits } from './run-clock.ts'
import type { VersionBook } from './version.ts'

/** What the engine needs beside the request. */
export interface AgyLoopOptions extends MakerOptions, Partial<RunLimits & ChildLimits & SlotLimits> {
  /** Looks at the version of a program before it is started; absent, nobody looks. */
  readonly versions?: VersionBook
  /** Children that are started ahead of their prompts; absent, none are. */
  readonly prestart?: AheadLimits
}

/** How one child ended, and whether it had said anything by then. */
interface Ending {
  readonly outcome: Outcome
  readonly said: boolean
  /** It had waited for its prompt, and was gone before it took it up. */
  readonly lost?: boolean
}

const ended = (outcome: Outcome): Ending => ({ outcome, said: false })
const ABORTED = ended({ kind: 'aborted' })

/** Drives `agy` over stream-json. */
export class AgyLoop implements HostedEngine {
  readonly id = 'agy'
  /** Absent where nothing is started ahead. */
  readonly startAhead?: (request: LikelyRequest) => StartedAhead | undefined
  private readonly options: AgyLoopOptions
  private readonly limits: RunLimits & ChildLimits & SlotLimits
  private readonly slots: ChildSlots
  private readonly maker: ChildMaker
  private readonly starter: ChildStarter
  private readonly unloading = new AbortController()

  /** @param options - pins of the deployment. */
  constructor(options: AgyLoopOptions) {
    this.options = options
    this.limits = {
      ...DEFAULT_RUN_LIMITS,
      ...DEFAULT_CHILD_LIMITS,
      ...DEFAULT_SLOTS,
      ...options,
    }
    this.slots = new ChildSlots(this.limits)
    const ahead = options.prestart ?? DEFAULT_AHEAD
    this.maker = new ChildMaker(options, this.limits)
    this.starter = new ChildStarter(this.maker, options.versions, ahead)
    // A recording is not played before there is a prompt for it.
    if (ahead.max > 0 && options.spawn === undefined) {
      this.startAhead = request =>
        this.slots.isFull ? undefined : this.starter.startAhead(request, signal => this.slots.take(signal))
    }
  }

  /** The program that a run would start, with its environment. */
  locate(): ReturnType<ChildMaker['locate']> {
    return this.maker.locate()
  }

  /** How many children run, of how many that may, and how many wait for a prompt. */
  get load(): { readonly running: number; readonly most: number; readonly waiting: number } {
    return { ...this.starter.load, most: this.limits.maxChildren }
  }

  /** Whether it is proved that the host decides on the calls of runs in a workspace. Asks nobody. */
  isGated(cwd: string): Promise<boolean> {
    return this.maker.isGated(cwd)
  }

  /** Stop all runs, also those that only wait or start; resolves when no child is left. */
  async dispose(): Promise<void> {
    this.unloading.abort()
    await this.starter.dispose()
  }

  async *run(asked: StepRequest): AsyncGenerator<EngineEvent, void, undefined> {
    const request = { ...asked, signal: AbortSignal.any([asked.signal, this.unloading.signal]) }
    // The host waits for its own call while a run holds a slot: it must not have to wait for one.
    yield { type: 'end', outcome: yield* request.auxiliary ? this.askTwice(request) : this.inSlot(request) }
  }

  /** Wait for the right to run a child, and hold it until nothing of the run is left. */
  private async *inSlot(request: StepRequest): AsyncGenerator<EngineEvent, Outcome> {
    if (this.slots.isFull) {
      yield notice('AGY_WAITING', `${this.limits.maxChildren} children run already; this one waits for one to end.`)
    }
    let giveBack: () => void
    try {
      giveBack = await this.slots.take(request.signal)
    } catch (error) {
      if (!request.signal.aborted) throw error
      return ABORTED.outcome
    }
    try {
      return yield* this.askTwice(request)
    } finally {
      giveBack()
    }
  }

  /** One child, and a second one if the first had waited too long, or says too early that nobody is signed in. */
  private async *askTwice(request: StepRequest): AsyncGenerator<EngineEvent, Outcome> {
    const { ahead: _, ...again } = request
    let ending = yield* this.attempt(request)
    if (ending.lost) {
      yield notice('AGY_AHEAD_LOST', 'The child that was started ahead ended before it answered; a new one is asked.')
      ending = yield* this.attempt(again)
    }
    if (!isSignInRace(ending)) return ending.outcome
    yield notice(
      'AGY_SIGN_IN_RETRIED',
      'The CLI said that it is not signed in; some versions do so too early, so it is asked once more.',
    )
    return (yield* this.attempt(again)).outcome
  }

  /** One child, from its start until nothing of it is left. */
  private async *attempt(request: StepRequest): AsyncGenerator<EngineEvent, Ending> {
    const started = yield* this.start(request)
    if ('outcome' in started) return started
    const { child, folder, gate } = started
    let stoppedBy: RunFacts['stoppedBy']
    let breach: Breach | undefined
    const isGuarded = !request.permissions.everythingAllowed
    const fold = new Fold(request.scope, gate && (isGuarded ? 'guarded' : 'unguarded'))
    const stop = (why: NonNullable<RunFacts['stoppedBy']>): void => {
      stoppedBy ??= why
      fold.cut()
      void child.stop()
      void gate?.close()
    }
    const clock = new RunClock(this.limits, stop)
    const onAbort = (): void => stop('abort')
    request.signal.addEventListener('abort', onAbort, { once: true })
    if (request.signal.aborted) onAbort()
    try {
      yield* started.notices
      const problems: string[] = []
      const events = readChild({
        child,
        fold,
        clock,
        problem: line => problems.push(line),
        giveUp: () => stop('hopeless'),
        breached: found => {
          breach ??= found
          stop('breach')
        },
        ...(gate && { gate }),
      })
      const scrubber = gate?.newScrubber()
      if (scrubber === undefined) yield* events
      else for await (const event of events) yield* scrubber.push(event)
      // No dialog outlives the answer.
      await gate?.close()
      // `result` closes the turn; the CLI leaves by itself then, or is helped.
      await child.settle()
      for (const event of fold.finish()) yield* scrubber?.push(event) ?? [event]
      yield* scrubber?.flush() ?? []
      const home = this.options.parentEnv().HOME
      if (problems.length > 0) yield strangeLines(problems, home)
      const summary = fold.summary()
      const { outcome, notices } = nameOutcome({
        ...summary,
        exit: await child.left,
        stderr: child.stderr(),
        ...(folder && { log: await folder.readLog() }),
        ...(stoppedBy && { stoppedBy }),
        ...(breach && { breach }),
        ...(home !== undefined && { home }),
      })
      yield* notices
      const said = summary.text !== '' || summary.toolSucceeded || summary.toolErrors.length > 0 || fold.isToolOpen
      return {
        outcome: gate ? gate.scrub(outcome) : outcome,
        said,
        // One that took up the prompt may have acted on it, whatever it told: it is never asked again.
        lost: started.isAhead && !fold.hasBegun && !summary.result && !stoppedBy && outcome.kind === 'failed',
      }
    } finally {
      clock.stop()
      request.signal.removeEventListener('abort', onAbort)
      await Promise.all([child.stop(), gate?.close()])
      await Promise.all([started.forget(), folder?.remove()])
    }
  }

  /** The running child; what stands in its way is an ending. */
  private async *start(request: StepRequest): AsyncGenerator<EngineEvent, StartedChild | Ending> {
    if (request.signal.aborted) return ABORTED
    try {
      return yield* this.starter.start(request)
    } catch (error) {
      return request.signal.aborted ? ABORTED : ended(this.refusal(error))
    }
  }

  /** The ending of a run whose child was never started. */
  private refusal(error: unknown): Outcome {
    const home = this.options.parentEnv().HOME
    const failed = (code: string, message: string, hint: string): Outcome => ({
      kind: 'failed',
      code,
      message: redact(message, home),
      retryable: false,
      hint,
    })
    if (error instanceof AgyRefusal) return failed(error.code, error.message, error.hint)
    if (error instanceof SpawnFailure) {
      return failed(
        'AGY_SPAWN_FAILED',
        `The CLI could not be started (${error.code}): ${error.message}.`,
        'Check that the workspace folder exists and that the program can be run.',
      )
    }
    throw error
  }
}

/** agy 1.2.1 sometimes says so about two seconds after its start although it is signed in. */
const isSignInRace = ({ outcome, said }: Ending): boolean =>
  !said && outcome.kind === 'failed' && outcome.code === 'AGY_NOT_SIGNED_IN'

const notice = (code: string, message: string): EngineEvent => ({ type: 'notice', code, message })

function strangeLines(problems: readonly string[], home: string | undefined): EngineEvent {
  const first = redact(problems[0] ?? '', home)
  return notice(
    'AGY_STRANGE_LINES',
    `${problems.length} line(s) of the CLI's output were no frames, the first: ${first}`,
  )
}
