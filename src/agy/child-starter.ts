/** Gives each run its child: the one that was started ahead for it, if it is what the run would start, or else a new one. */
import { realpath, stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { EngineEvent, Gate, LikelyRequest, StartedAhead, StepRequest } from '../engine/contract.ts'
import type { ChildMaker, ChildRequest, FreshChild, Program, StartedChild } from './child-maker.ts'
import { type AheadLimits, ChildAhead, ChildrenAhead } from './children-ahead.ts'
import { stdinOf } from './launch.ts'
import type { AgyChild } from './process.ts'
import { identify, type VersionBook } from './version.ts'
import { unlessAborted } from './waiting.ts'

/** A child that waits for its prompt. */
interface WaitingChild extends FreshChild {
  /** Whose program it is: a changed one has another identity. */
  readonly identity: string
  /** The folder that it works in: another one may lie at the same path by now. */
  readonly place: string
  /** Who its gate asks. */
  readonly decider: Gate | undefined
  readonly left: Promise<unknown>
  discard(): Promise<void>
}

const NO_FILES: ReadonlyMap<string, string> = new Map()

/** Starts the children of one engine. */
export class ChildStarter {
  private readonly maker: ChildMaker
  private readonly versions: VersionBook | undefined
  private readonly ahead: ChildrenAhead<WaitingChild>
  /** Children that wait for a prompt. */
  private readonly idle = new Set<AgyChild>()

  /** @param versions - looks at the version of a program before it is started; absent, nobody looks. */
  constructor(maker: ChildMaker, versions: VersionBook | undefined, ahead: AheadLimits) {
    this.maker = maker
    this.versions = versions
    this.ahead = new ChildrenAhead(ahead)
  }

  /** How many children work for a run, and how many wait for one. */
  get load(): { readonly running: number; readonly waiting: number } {
    const waiting = this.idle.size
    return { running: this.maker.count - waiting, waiting }
  }

  /** Stop all children; resolves when none is left. */
  async dispose(): Promise<void> {
    await Promise.all([this.maker.dispose(), this.ahead.close(), this.versions?.close()])
  }

  /**
   * Start the child of a run, or hand the prompt to the one that waits for it.
   *
   * @throws AgyRefusal, SpawnFailure, or the reason of the request's signal.
   */
  async *start(request: StepRequest): AsyncGenerator<EngineEvent, StartedChild> {
    const [program] = await unlessAborted(Promise.all([this.maker.locate(), request.durable]), request.signal)
    const word = await this.versions?.check(program.file, program.env, request.signal)
    request.signal.throwIfAborted()
    if (word !== undefined) yield word
    return (await this.takeAhead(request, program)) ?? (yield* this.maker.start(request, program))
  }

  /**
   * Start a child for a run that is likely; nobody hears of what stands in its way.
   *
   * @param turn - waits until a child may be started; what it gives is called when that is done.
   */
  startAhead(request: LikelyRequest, turn: (signal: AbortSignal) => Promise<() => void>): StartedAhead | undefined {
    return this.ahead.start(async signal => {
      const done = await turn(signal)
      try {
        return await this.startWaiting({ ...request, signal })
      } finally {
        done()
      }
    })
  }

  private async startWaiting(request: ChildRequest): Promise<WaitingChild | undefined> {
    const program = await this.maker.locate()
    await this.versions?.check(program.file, program.env, request.signal)
    request.signal.throwIfAborted()
    const [identity, place] = await Promise.all([identify(program.file), placeOf(request.cwd)])
    const notices: EngineEvent[] = []
    const preparing = this.maker.start(request, program)
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
    if (gate === undefined && this.maker.decider(request) !== undefined) {
      await discard()
      return undefined
    }
    return { ...started, identity, place, notices, left, decider: this.maker.decider(request), discard, isAhead: true }
  }

  /** The child that was started ahead for a run, if it is what the run would start itself. */
  private async takeAhead(request: StepRequest, { file }: Program): Promise<StartedChild | undefined> {
    if (!(request.ahead instanceof ChildAhead)) return undefined
    const waiting: WaitingChild | undefined = await request.ahead.take(request.signal)
    if (waiting === undefined) return undefined
    let isUsed = false
    try {
      request.signal.throwIfAborted()
      const fits =
        request.prompt.files.length === 0 &&
        waiting.decider === this.maker.decider(request) &&
        isDeepStrictEqual(waiting.launch, this.maker.launchOf(request, file, waiting)) &&
        waiting.identity === (await identify(file)) &&
        waiting.place === (await placeOf(request.cwd)) &&
        ((await waiting.gate?.isWhole()) ?? true)
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
}

/** One folder, told apart from another one at its path. */
async function placeOf(folder: string): Promise<string> {
  const { dev, ino, birthtimeMs } = await stat(folder)
  return `${await realpath(folder)}|${dev}|${ino}|${birthtimeMs}`
}
