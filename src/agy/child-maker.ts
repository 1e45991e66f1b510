/** Makes a running child of a request: program, private folder, gate, files, launch, process. */
import type { EngineEvent, Gate, LikelyRequest, StepRequest } from '../engine/contract.ts'
import { recordChild } from './child-records.ts'
import { findExecutable } from './executable.ts'
import { DEFAULT_APPROVAL_TIMEOUT_MS, hookSpec } from './hooks/files.ts'
import { ProofBook, unproven, withoutFolder } from './hooks/proof.ts'
import { RunGate } from './hooks/run-gate.ts'
import { buildLaunch, childEnvironment, type Launch, type LaunchRequest, type LaunchSettings } from './launch.ts'
import { DEFAULT_MODEL_ID } from './models.ts'
import { type AgyChild, type ChildLimits, spawnAgy } from './process.ts'
import { AgyRefusal } from './refusal.ts'
import { RunFolder } from './run-folder.ts'

/** What a child is started with beside the request. */
export interface MakerOptions extends LaunchSettings {
  /** Absolute path or name of the CLI; absent searches for `agy`. */
  readonly bin?: string
  /** The parent's environment without credentials, read anew for each child. */
  readonly parentEnv: () => Readonly<Record<string, string>>
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

/** What a child is made for: the request of a run, or of one that is only likely and has no prompt yet. */
export type ChildRequest = LikelyRequest &
  Pick<StepRequest, 'signal'> &
  Partial<Pick<StepRequest, 'prompt' | 'auxiliary'>>

/** A program that was found, and the environment that a child of it gets. */
export interface Program {
  readonly file: string
  readonly env: Readonly<Record<string, string>>
}

/** A child that was just spawned. */
export interface FreshChild extends StartedChild {
  readonly launch: Launch
  /** Hands it a line that it waits for. */
  ask(line: string): void
}

const NO_FILES: ReadonlyMap<string, string> = new Map()

/** Makes the children of one engine, each from nothing. */
export class ChildMaker {
  private readonly options: MakerOptions
  private readonly limits: ChildLimits
  private readonly proofs = new ProofBook()
  /** Children from the moment that they are being spawned. */
  private readonly children = new Set<Promise<AgyChild>>()

  constructor(options: MakerOptions, limits: ChildLimits) {
    this.options = options
    this.limits = limits
  }

  /** The program that a run would start, with its environment. */
  async locate(): Promise<Program> {
    const env = childEnvironment(this.options.parentEnv(), this.options.env)
    return { file: await findExecutable(this.options.bin, env), env }
  }

  /** How many children there are. */
  get count(): number {
    return this.children.size
  }

  /** Whether it is proved that the host decides on the calls of runs in a workspace. Asks nobody. */
  async isGated(cwd: string): Promise<boolean> {
    if (this.options.approvals !== 'host') return false
    const { file, env } = await this.locate()
    return this.proofs.has({ file, env, cwd, spec: hookSpec(this.approvalLimitMs) })
  }

  /** Stop all children; resolves when none is left. */
  async dispose(): Promise<void> {
    await Promise.all([...this.children].map(async child => (await child.catch(() => undefined))?.stop()))
  }

  /**
   * Start a child with all that belongs to it, and with its prompt if there is one by now.
   *
   * @throws AgyRefusal, SpawnFailure, or the reason of the request's signal.
   */
  async *start(request: ChildRequest, { file, env }: Program): AsyncGenerator<EngineEvent, FreshChild> {
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
      const launch = this.launchOf(request, file, { folder, gate, places, ...(prompt !== undefined && { prompt }) })
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
  decider({ gate, auxiliary }: Pick<ChildRequest, 'gate' | 'auxiliary'>): Gate | undefined {
    return this.options.approvals === 'host' && !auxiliary ? gate : undefined
  }

  /** What a child of a request is started with; its folder, its gate and its files are there by now. */
  launchOf(
    { model, cwd, effort, permissions, auxiliary }: Omit<ChildRequest, 'signal'>,
    file: string,
    {
      folder,
      gate,
      places = NO_FILES,
      prompt,
    }: Pick<StartedChild, 'folder' | 'gate'> & { places?: ReadonlyMap<string, string>; prompt?: string },
  ): Launch {
    const request: LaunchRequest = {
      cwd,
      permissions,
      ...(auxiliary && { auxiliary }),
      ...(model !== undefined && model !== DEFAULT_MODEL_ID && { model }),
      ...(effort !== undefined && { effort }),
      ...(folder && { logFile: folder.logFile }),
      ...(gate && { gate: gate.launch }),
      ...(folder && places.size > 0 && { filesFolder: folder.filesFolder }),
      ...(prompt !== undefined && { prompt }),
    }
    return buildLaunch(file, this.options, request, this.options.parentEnv())
  }

  /** The gate of a run whose calls the host decides on. Without one such a run is not started, unless it may do all anyway. */
  private async *gateFor(
    request: ChildRequest,
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

  private get approvalLimitMs(): number {
    return this.options.approvalTimeoutMs ?? DEFAULT_APPROVAL_TIMEOUT_MS
  }
}

const CHANGED_SINCE_PROOF = unproven(
  'the program, a hook or the private folder of the run has changed since they were proved',
  'Send the message again: it is proved anew then.',
)

const notice = (code: string, message: string): EngineEvent => ({ type: 'notice', code, message })
