/**
 * The engine: one run is one `agy` child with a fresh conversation.
 *
 * Reads like the road of a frame: launch, spawn, lines, parse, decode, fold, and one outcome at the end.
 */
import type { EngineEvent, HostedEngine, Outcome, StepRequest } from '../engine/contract.ts'
import { findExecutable } from './executable.ts'
import { Fold } from './fold.ts'
import { FrameParser } from './frames.ts'
import { buildLaunch, childEnvironment, type Launch, type LaunchSettings } from './launch.ts'
import { DEFAULT_MODEL_ID } from './models.ts'
import { isHopeless, nameOutcome, type RunFacts } from './outcome.ts'
import { type AgyChild, SpawnFailure, spawnAgy } from './process.ts'
import { redact } from './redact.ts'
import { AgyRefusal } from './refusal.ts'
import { DEFAULT_LIMITS, RunClock, type RunLimits } from './run-clock.ts'
import { decodeFrame } from './wire.ts'

/** What the engine needs beside the request. */
export interface AgyLoopOptions extends LaunchSettings, Partial<RunLimits> {
  /** Absolute path or name of the CLI; absent searches for `agy`. */
  readonly bin?: string
  /** The parent's environment without credentials, read anew for each child. */
  readonly parentEnv: () => Readonly<Record<string, string>>
  /** Starts a child; a recording can be replayed by another one. */
  readonly spawn?: (launch: Launch) => Promise<AgyChild>
}

/** How one child ended, and whether it had said anything by then. */
interface Ending {
  readonly outcome: Outcome
  readonly said: boolean
}

const refused = (code: string, message: string, hint: string): Ending => ({
  outcome: { kind: 'failed', code, message, retryable: false, hint },
  said: false,
})

/** Drives `agy` over stream-json. */
export class AgyLoop implements HostedEngine {
  readonly id = 'agy'
  private readonly options: AgyLoopOptions
  private readonly limits: RunLimits
  private readonly children = new Set<AgyChild>()

  /** @param options - pins of the deployment. */
  constructor(options: AgyLoopOptions) {
    this.options = options
    const { deadlineMs, stallMs, toolStallMs } = { ...DEFAULT_LIMITS, ...options }
    this.limits = { deadlineMs, stallMs, toolStallMs }
  }

  /** The program that a run would start, with its environment. */
  async locate(): Promise<{ file: string; env: Readonly<Record<string, string>> }> {
    const env = childEnvironment(this.options.parentEnv(), this.options.env)
    return { file: await findExecutable(this.options.bin, env), env }
  }

  /** End all children; resolves when none is left. */
  async dispose(): Promise<void> {
    await Promise.all([...this.children].map(child => child.stop()))
  }

  async *run(request: StepRequest): AsyncGenerator<EngineEvent, void, undefined> {
    let ending = yield* this.attempt(request)
    if (isSignInRace(ending)) {
      yield notice(
        'AGY_SIGN_IN_RETRIED',
        'The CLI said that it is not signed in; some versions do so too early, so it is asked once more.',
      )
      ending = yield* this.attempt(request)
    }
    yield { type: 'end', outcome: ending.outcome }
  }

  /** One child, from its start until nothing of it is left. */
  private async *attempt(request: StepRequest): AsyncGenerator<EngineEvent, Ending> {
    if (request.signal.aborted) return { outcome: { kind: 'aborted' }, said: false }
    const child = await this.start(request)
    if ('outcome' in child) return child
    this.children.add(child)
    let stoppedBy: RunFacts['stoppedBy']
    const stop = (why: NonNullable<RunFacts['stoppedBy']>): void => {
      stoppedBy ??= why
      void child.stop()
    }
    const clock = new RunClock(
      this.limits,
      () => stop('deadline'),
      () => stop('stall'),
    )
    const onAbort = (): void => stop('abort')
    request.signal.addEventListener('abort', onAbort, { once: true })
    if (request.signal.aborted) onAbort()
    try {
      const fold = new Fold(request.scope)
      const problems: string[] = []
      yield* this.frames(child, fold, clock, problems, () => stop('hopeless'))
      // `result` closes the turn; the CLI leaves by itself then, or is helped.
      await child.settle()
      yield* fold.finish()
      const home = this.options.parentEnv().HOME
      if (problems.length > 0) yield strangeLines(problems, home)
      const summary = fold.summary()
      const { outcome, notices } = nameOutcome({
        ...summary,
        exit: await child.left,
        stderr: child.stderr(),
        ...(stoppedBy && { stoppedBy }),
        ...(home !== undefined && { home }),
      })
      yield* notices
      return { outcome, said: summary.text !== '' || summary.toolSucceeded || summary.toolErrors.length > 0 }
    } finally {
      clock.stop()
      request.signal.removeEventListener('abort', onAbort)
      await child.stop()
      this.children.delete(child)
    }
  }

  /** Yields what the child tells, until its result. */
  private async *frames(
    child: AgyChild,
    fold: Fold,
    clock: RunClock,
    problems: string[],
    giveUp: () => void,
  ): AsyncGenerator<EngineEvent> {
    const parser = new FrameParser()
    for await (const line of child.lines) {
      const frame = parser.parse(line)
      if ('problem' in frame) {
        problems.push(frame.problem)
      } else {
        const events = fold.push(decodeFrame(frame.value))
        yield* events
        if (events.some(isFailedModelCall) && isHopeless(child.stderr())) giveUp()
      }
      const { result, toolOpen } = fold.summary()
      if (result !== undefined) return
      clock.heard(toolOpen)
    }
  }

  private async start(request: StepRequest): Promise<AgyChild | Ending> {
    try {
      const { file } = await this.locate()
      const { model, ...rest } = request
      const asked = model === undefined || model === DEFAULT_MODEL_ID ? rest : { ...rest, model }
      const launch = buildLaunch(file, this.options, asked, this.options.parentEnv())
      return await (this.options.spawn ?? spawnAgy)(launch)
    } catch (error) {
      if (error instanceof AgyRefusal) return refused(error.code, error.message, error.hint)
      if (error instanceof SpawnFailure) {
        const words = redact(error.message, this.options.parentEnv().HOME)
        return refused(
          'AGY_SPAWN_FAILED',
          `The CLI could not be started (${error.code}): ${words}.`,
          'Check that the workspace folder exists and that the program can be run.',
        )
      }
      throw error
    }
  }
}

/** agy 1.2.1 sometimes says so about two seconds after its start although it is signed in. */
const isSignInRace = ({ outcome, said }: Ending): boolean =>
  !said && outcome.kind === 'failed' && outcome.code === 'AGY_NOT_SIGNED_IN'

const isFailedModelCall = (event: EngineEvent): boolean =>
  event.type === 'notice' && event.code === 'AGY_MODEL_CALL_FAILED'

const notice = (code: string, message: string): EngineEvent => ({ type: 'notice', code, message })

function strangeLines(problems: readonly string[], home: string | undefined): EngineEvent {
  const first = redact(problems[0] ?? '', home)
  return notice(
    'AGY_STRANGE_LINES',
    `${problems.length} line(s) of the CLI's output were no frames, the first: ${first}`,
  )
}
