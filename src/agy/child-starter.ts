/** Everything up to a running child: program, version, private folder, gate, launch, process. For a run, or ahead of one. */
import { realpath, stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { EngineEvent, Gate, LikelyRequest, StartedAhead, StepRequest } from '../engine/contract.ts'
import { recordChild } from './child-records.ts'
import { type AheadLimits, ChildAhead, ChildrenAhead } from './children-ahead.ts'
import { findExecutable } from './executable.ts'
import { DEFAULT_APPROVAL_TIMEOUT_MS, hookSpec } from './hooks/files.ts'
import { ProofBook, unproven, withoutFolder } from './hooks/proof.ts'
import { RunGate } from './hooks/run-gate.ts'
import {
  buildLaunch,
  childEnvironment,
  type Launch,
  type LaunchRequest,
  type LaunchSettings,
  stdinOf,
} from './launch.ts'
import { DEFAULT_MODEL_ID } from './models.ts'
import { type AgyChild, type ChildLimits, spawnAgy } from './process.ts'
import { AgyRefusal } from './refusal.ts'
import { RunFolder } from './run-folder.ts'
import { identify, type VersionBook } from './version.ts'
import { unlessAborted } from './waiting.ts'

/** What a child is started with beside the request. */
export interface StarterOptions extends LaunchSettings {
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

/** A child with what belongs to its run alone. */
export interface StartedChild {
  readonly child: AgyChild
  readonly folder: RunFolder | undefined
  readonly gate: RunGate | undefined
  /** It had been started before there was a prompt. */
  readonly isAhead: boolean
  /** What its start had to tell beside what was told by then. */
  readonly notices: readonly EngineEvent[]
  /** Takes away the record that it runs. */
  forget(): Promise<void>
}

/** What a child is prepared from: the request of a run, or of one that is only likely and has no prompt yet. */
type Prepared = LikelyRequest & Pick<StepRequest, 'signal'> & Partial<Pick<StepRequest, 'prompt' | 'auxiliary'>>

interface Program {
  readonly file: string
  readonly env: Readonly<Record<string, string>>
}

/** A child that waits for its prompt. */
interface WaitingChild extends StartedChild {
  readonly launch: Launch
  /** Whose program it is: a changed one has another identity. */
  readonly identity: string
  /** The folder that it works in: another one may lie at the same path by now. */
  readonly place: string
  /** Who its gate asks. */
  readonly decider: Gate | undefined
  readonly left: Promise<unknown>
  ask(line: string): void
  discard(): Promise<void>
}

const NO_FILES: ReadonlyMap<string, string> = new Map()

/** Starts the children of one engine. */
export class ChildStarter {
  private readonly options: StarterOptions
  private readonly limits: ChildLimits
  private readonly proofs = new ProofBook()
  /** Children from the moment that they are being spawned. */
  private readonly children = new Set<Promise<AgyChild>>()
  private readonly ahead: ChildrenAhead<WaitingChild>
  /** Children that wait for a prompt. */
  private readonly idle = new Set<AgyChild>()

  constructor(options: StarterOptions, limits: ChildLimits, ahead: AheadLimits) {
    this.options = options
    this.limits = limits
    this.ahead = new ChildrenAhead(ahead)
  }

  /** The program that a run would start, with its environment. */
  async locate(): Promise<Program> {
    const env = childEnvironment(this.options.parentEnv(), this.options.env)
    return { file: await findExecutable(this.options.bin, env), env }
  }

  /** How many children work for a run, and how many wait for one. */
  get load(): { readonly running: number; readonly waiting: number } {
    const waiting = this.idle.size
    return { running: this.children.size - waiting, waiting }
  }

  /** Whether it is proved that the host decides on the calls of runs in a workspace. Asks nobody. */
  async isGated(cwd: string): Promise<boolean> {
    if (this.options.approvals !== 'host') return false
    const { file, env } = await this.locate()
    return this.proofs.has({ file, env, cwd, spec: hookSpec(this.approvalLimitMs) })
  }

  /** Stop all children; resolves when none is left. */
  async dispose(): Promise<void> {
    const running = [...this.children].map(async child => (await child.catch(() => undefined))?.stop())
    await Promise.all([...running, this.ahead.close(), this.options.versions?.close()])
  }

  /**
   * Start the child of a run, or hand the prompt to the one that waits for it.
   *
   * @throws AgyRefusal, SpawnFailure, or the reason of the request's signal.
   */
  async *start(request: StepRequest): AsyncGenerator<EngineEvent, StartedChild> {
    const [program] = await unlessAborted(Promise.all([this.locate(), request.durable]), request.signal)
    const word = await this.options.versions?.check(program.file, program.env, request.signal)
    request.signal.throwIfAborted()
    if (word !== undefined) yield word
    return (await this.takeAhead(request, program)) ?? (yield* this.prepare(request, program))
  }

  /**
   * Start a child for a run that is likely; nobody hears of what stands in its way.
   *
   * @param turn - waits until a child may be started; what it gives is called when that is done.
   */
  startAhead(request: LikelyRequest, turn: (signal: AbortSignal) => Promise<() => void>): StartedAhead | undefined {
    if (this.options.spawn !== undefined) return undefined
    return this.ahead.start(async signal => {
      const done = await turn(signal)
      try {
        return await this.startWaiting({ ...request, signal })
      } finally {
        done()
      }
    })
  }

  private async startWaiting(request: Prepared): Promise<WaitingChild | undefined> {
    const program = await this.locate()
    await this.options.versions?.check(program.file, program.env, request.signal)
    request.signal.throwIfAborted()
    const [identity, place] = await Promise.all([identify(program.file), placeOf(request.cwd)])
    const notices: EngineEvent[] = []
    const preparing = this.prepare(request, program)
    let next = await preparing.next()
    for (; !next.done; next = await preparing.next()) notices.push(next.value)
    const started = next.value
    const { child, gate, folder } = started
    this.idle.add(child)
    const left = child.left.finally(() => this.idle.delete(child))
    const discard = async (): Promise<void> => {
      await Promise.all([child.stop(), gate?.close()])
      await started.forget()
      await folder?.remove()
    }
    // Without the gate that it should have it is of no use to a run.
    if (gate === undefined && this.decider(request) !== undefined) {
      await discard()
      return undefined
    }
    return { ...started, identity, place, notices, left, decider: this.decider(request), discard, isAhead: true }
  }

  /** The child that was started ahead for a run, if it is what the run would start itself. */
  private async takeAhead(request: StepRequest, { file }: Program): Promise<StartedChild | undefined> {
    if (!(request.ahead instanceof ChildAhead)) return undefined
    const waiting: WaitingChild | undefined = await request.ahead.take(request.signal)
    if (waiting === undefined) return undefined
    let isUsed = false
    try {
      request.signal.throwIfAborted()
      const { folder, gate } = waiting
      const wanted = buildLaunch(
        file,
        this.options,
        this.launchRequest(request, folder, NO_FILES, gate),
        this.options.parentEnv(),
      )
      const fits =
        request.prompt.files.length === 0 &&
        waiting.decider === this.decider(request) &&
        isDeepStrictEqual(wanted, waiting.launch) &&
        waiting.identity === (await identify(file)) &&
        waiting.place === (await placeOf(request.cwd)) &&
        ((await gate?.isWhole()) ?? true)
      request.signal.throwIfAborted()
      if (!fits) return undefined
      waiting.ask(stdinOf(request.prompt.text(NO_FILES)))
      this.idle.delete(waiting.child)
      isUsed = true
      return waiting
    } finally {
      // The step does not wait for the end of what it has no use for.
      if (!isUsed) this.ahead.follow(waiting.discard())
    }
  }

  /** A new child with all that belongs to it, and with its prompt if there is one by now. */
  private async *prepare(
    request: Prepared,
    { file, env }: Program,
  ): AsyncGenerator<EngineEvent, StartedChild & Pick<WaitingChild, 'launch' | 'ask'>> {
    let folder: RunFolder | undefined
    let gate: RunGate | undefined
    let isHandedOver = false
    try {
      const replayed = this.options.spawn
      if (replayed === undefined) folder = await RunFolder.open()
      gate = yield* this.gateFor(request, file, env, folder)
      const files = request.prompt?.files ?? []
      const places = (await folder?.write(files)) ?? new Map<string, string>()
      const missing = files.filter(({ alias }) => !places.has(alias)).map(({ alias }) => alias)
      if (missing.length > 0) {
        yield notice('AGY_FILES_MISSING', `Not handed to the CLI, because it could not be had: ${missing.join(', ')}.`)
      }
      const prompt = request.prompt?.text(places)
      const launch = buildLaunch(
        file,
        this.options,
        { ...this.launchRequest(request, folder, places, gate), ...(prompt !== undefined && { prompt }) },
        this.options.parentEnv(),
      )
      if (gate !== undefined && !(await gate.isWhole())) throw CHANGED_SINCE_PROOF
      request.signal.throwIfAborted()
      const spawning: Promise<AgyChild & { readonly pid?: number; ask?(line: string): void }> =
        replayed === undefined ? spawnAgy(launch, this.limits) : replayed(launch)
      this.children.add(spawning)
      const left = (): void => void this.children.delete(spawning)
      spawning.then(child => child.left).then(left, left)
      const child = await spawning
      const forget = child.pid === undefined ? () => Promise.resolve() : await recordChild(child.pid, folder?.path)
      isHandedOver = true
      return { child, launch, folder, gate, forget, isAhead: false, notices: [], ask: line => child.ask?.(line) }
    } finally {
      // Also when nobody wants to hear the rest after one of the notices.
      if (!isHandedOver) {
        await gate?.close()
        await folder?.remove()
      }
    }
  }

  /** Who decides on the calls of a request, where the host does. */
  private decider({ gate, auxiliary }: Pick<Prepared, 'gate' | 'auxiliary'>): Gate | undefined {
    return this.options.approvals === 'host' && !auxiliary ? gate : undefined
  }

  /** The gate of a run whose calls the host decides on. Without one such a run is not started, unless it may do all anyway. */
  private async *gateFor(
    request: Prepared,
    file: string,
    env: Readonly<Record<string, string>>,
    folder: RunFolder | undefined,
  ): AsyncGenerator<EngineEvent, RunGate | undefined> {
    const { cwd, permissions, signal } = request
    const limitMs = this.approvalLimitMs
    const gate = this.decider(request)
    if (gate === undefined) return undefined
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
    { model, cwd, effort, permissions, auxiliary }: Omit<Prepared, 'signal'>,
    folder: RunFolder | undefined,
    places: ReadonlyMap<string, string>,
    gate: RunGate | undefined,
  ): LaunchRequest {
    return {
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
}

const CHANGED_SINCE_PROOF = unproven(
  'the program, a hook or the private folder of the run has changed since they were proved',
  'Send the message again: it is proved anew then.',
)

const notice = (code: string, message: string): EngineEvent => ({ type: 'notice', code, message })

/** One folder, told apart from another one at its path. */
async function placeOf(folder: string): Promise<string> {
  const { dev, ino, birthtimeMs } = await stat(folder)
  return `${await realpath(folder)}|${dev}|${ino}|${birthtimeMs}`
}
