/**
 * The engine: one run is one `agy` child with a fresh conversation.
 *
 * Reads like the road of a frame: slot, launch, spawn, lines, parse, decode, fold, and one outcome at the end.
 */
import type { EngineEvent, HostedEngine, Outcome, StepRequest } from '../engine/contract.ts'
import { recordChild } from './child-records.ts'
import { ChildSlots, DEFAULT_SLOTS, type SlotLimits } from './child-slots.ts'
import { findExecutable } from './executable.ts'
import { Fold } from './fold.ts'
import { DEFAULT_APPROVAL_TIMEOUT_MS, hookSpec } from './hooks/files.ts'
import type { Breach } from './hooks/gated-calls.ts'
import { ProofBook, unproven, withoutFolder } from './hooks/proof.ts'
import { RunGate } from './hooks/run-gate.ts'
import { buildLaunch, childEnvironment, type Launch, type LaunchRequest, type LaunchSettings } from './launch.ts'
import { DEFAULT_MODEL_ID } from './models.ts'
import { nameOutcome, type RunFacts } from './outcome.ts'
import { type AgyChild, type ChildLimits, DEFAULT_CHILD_LIMITS, SpawnFailure, spawnAgy } from './process.ts'
import { readChild } from './reader.ts'
import { redact } from './redact.ts'
import { AgyRefusal } from './refusal.ts'
import { DEFAULT_RUN_LIMITS, RunClock, type RunLimits } from './run-clock.ts'
import { RunFolder } from './run-folder.ts'
import type { VersionBook } from './version.ts'

/** What the engine needs beside the request. */
export interface AgyLoopOptions extends LaunchSettings, Partial<RunLimits & ChildLimits & SlotLimits> {
  /** Absolute path or name of the CLI; absent searches for `agy`. */
  readonly bin?: string
  /** The parent's environment without credentials, read anew for each child. */
  readonly parentEnv: () => Readonly<Record<string, string>>
  /** Looks at the version of a program before it is started; absent, nobody looks. */
  readonly versions?: VersionBook
  /** Who decides on calls: the host, where the CLI is proved to ask it, or the flags of the CLI alone. */
  readonly approvals?: 'host' | 'cli'
  /** Longest time for one decision of the host, in milliseconds. */
  readonly approvalTimeoutMs?: number
  /** Gives the children, in place of processes: a recording can be replayed by one. */
  readonly spawn?: (launch: Launch) => Promise<AgyChild>
}

/** How one child ended, and whether it had said anything by then. */
interface Ending {
  readonly outcome: Outcome
  readonly said: boolean
}

/** A child with what belongs to its run alone. */
interface StartedChild {
  readonly child: AgyChild
  readonly folder: RunFolder | undefined
  readonly gate: RunGate | undefined
  /** Takes away the record that it runs. */
  forget(): Promise<void>
}

const ended = (outcome: Outcome): Ending => ({ outcome, said: false })
const ABORTED = ended({ kind: 'aborted' })

/** Drives `agy` over stream-json. */
export class AgyLoop implements HostedEngine {
  readonly id = 'agy'
  private readonly options: AgyLoopOptions
  private readonly limits: RunLimits & ChildLimits & SlotLimits
  private readonly slots: ChildSlots
  private readonly proofs = new ProofBook()
  /** Children from the moment that they are being spawned. */
  private readonly children = new Set<Promise<AgyChild>>()
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
  }

  /** The program that a run would start, with its environment. */
  async locate(): Promise<{ file: string; env: Readonly<Record<string, string>> }> {
    const env = childEnvironment(this.options.parentEnv(), this.options.env)
    return { file: await findExecutable(this.options.bin, env), env }
  }

  /** How many children run, of how many that may. */
  get load(): { readonly running: number; readonly most: number } {
    return { running: this.children.size, most: this.limits.maxChildren }
  }

  /** Whether it is proved that the host decides on the calls of runs in a workspace. Asks nobody. */
  async isGated(cwd: string): Promise<boolean> {
    if (this.options.approvals !== 'host') return false
    const { file, env } = await this.locate()
    return this.proofs.has({ file, env, cwd, spec: hookSpec(this.approvalLimitMs) })
  }

  /** Stop all runs, also those that only wait or start; resolves when no child is left. */
  async dispose(): Promise<void> {
    this.unloading.abort()
    await Promise.all([...this.children].map(async child => (await child.catch(() => undefined))?.stop()))
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

  /** One child, and a second one if the first says too early that nobody is signed in. */
  private async *askTwice(request: StepRequest): AsyncGenerator<EngineEvent, Outcome> {
    const first = yield* this.attempt(request)
    if (!isSignInRace(first)) return first.outcome
    yield notice(
      'AGY_SIGN_IN_RETRIED',
      'The CLI said that it is not signed in; some versions do so too early, so it is asked once more.',
    )
    return (yield* this.attempt(request)).outcome
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
      return {
        outcome: gate ? gate.scrub(outcome) : outcome,
        said: summary.text !== '' || summary.toolSucceeded || summary.toolErrors.length > 0,
      }
    } finally {
      clock.stop()
      request.signal.removeEventListener('abort', onAbort)
      await Promise.all([child.stop(), gate?.close()])
      await started.forget()
      await folder?.remove()
    }
  }

  /** Everything up to the running child; what stands in its way is an ending. */
  private async *start(request: StepRequest): AsyncGenerator<EngineEvent, StartedChild | Ending> {
    if (request.signal.aborted) return ABORTED
    let folder: RunFolder | undefined
    let gate: RunGate | undefined
    let isHandedOver = false
    try {
      const { file, env } = await this.locate()
      const word = await this.options.versions?.check(file, env, request.signal)
      if (request.signal.aborted) return ABORTED
      if (word !== undefined) yield word
      const replayed = this.options.spawn
      if (replayed === undefined) folder = await RunFolder.open()
      gate = yield* this.gateFor(request, file, env, folder)
      const { files } = request.prompt
      const places = (await folder?.write(files)) ?? new Map<string, string>()
      const missing = files.filter(({ alias }) => !places.has(alias)).map(({ alias }) => alias)
      if (missing.length > 0) {
        yield notice('AGY_FILES_MISSING', `Not handed to the CLI, because it could not be had: ${missing.join(', ')}.`)
      }
      const launch = buildLaunch(
        file,
        this.options,
        this.launchRequest(request, folder, places, gate),
        this.options.parentEnv(),
      )
      if (gate !== undefined && !(await gate.isWhole())) throw CHANGED_SINCE_PROOF
      if (request.signal.aborted) return ABORTED
      const spawning: Promise<AgyChild & { readonly pid?: number }> =
        replayed === undefined ? spawnAgy(launch, this.limits) : replayed(launch)
      this.children.add(spawning)
      const left = (): void => void this.children.delete(spawning)
      spawning.then(child => child.left).then(left, left)
      const child = await spawning
      const forget = child.pid === undefined ? () => Promise.resolve() : await recordChild(child.pid, folder?.path)
      isHandedOver = true
      return { child, folder, gate, forget }
    } catch (error) {
      return request.signal.aborted ? ABORTED : ended(this.refusal(error))
    } finally {
      // Also when nobody wants to hear the rest after one of the notices.
      if (!isHandedOver) {
        await gate?.close()
        await folder?.remove()
      }
    }
  }

  /** The gate of a run whose calls the host decides on. Without one such a run is not started, unless it may do all anyway. */
  private async *gateFor(
    { gate, auxiliary, cwd, permissions, signal }: StepRequest,
    file: string,
    env: Readonly<Record<string, string>>,
    folder: RunFolder | undefined,
  ): AsyncGenerator<EngineEvent, RunGate | undefined> {
    const limitMs = this.approvalLimitMs
    if (this.options.approvals !== 'host' || gate === undefined || auxiliary) return undefined
    try {
      if (folder === undefined) throw withoutFolder()
      const spec = hookSpec(limitMs)
      const proof = await this.proofs.prove({ file, env, cwd, spec }, signal)
      if (proof.others.length > 0) {
        yield notice(
          'AGY_OTHER_HOOKS',
          `Other hooks of the CLI decide on its calls as well: ${proof.others.join(', ')}.`,
        )
      }
      return await RunGate.open({ gate, folder: folder.hooksFolder, proof, spec, limitMs })
    } catch (error) {
      const refusal = error instanceof AgyRefusal ? error : unproven(`they could not be set up (${error})`)
      if (!permissions.everythingAllowed) throw refusal
      yield notice(refusal.code, `${refusal.message} The session allows everything, so the run goes on without them.`)
      return undefined
    }
  }

  private launchRequest(
    { model, prompt, cwd, effort, permissions, auxiliary }: StepRequest,
    folder: RunFolder | undefined,
    places: ReadonlyMap<string, string>,
    gate: RunGate | undefined,
  ): LaunchRequest {
    return {
      prompt: prompt.text(places),
      cwd,
      permissions,
      ...(auxiliary && { auxiliary }),
      ...(model !== undefined && model !== DEFAULT_MODEL_ID && { model }),
      ...(effort !== undefined && { effort }),
      ...(folder && { logFile: folder.logFile }),
      ...(gate && { gate: gate.launch }),
      ...(folder && places.size > 0 && { filesFolder: folder.filesFolder }),
    }
  }

  private get approvalLimitMs(): number {
    return this.options.approvalTimeoutMs ?? DEFAULT_APPROVAL_TIMEOUT_MS
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

const CHANGED_SINCE_PROOF = unproven(
  'the program, a hook or the private folder of the run has changed since they were proved',
  'Send the message again: it is proved anew then.',
)

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
