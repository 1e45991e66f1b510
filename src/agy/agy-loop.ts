/**
 * The engine: one run is one `agy` child with a fresh conversation.
 *
 * Reads like the road of a frame: launch, spawn, lines, parse, decode, fold, and one outcome at the end.
 */
import type { EngineEvent, HostedEngine, StepRequest } from '../engine/contract.ts'
import { findExecutable } from './executable.ts'
import { Fold } from './fold.ts'
import { type Frame, FrameParser } from './frames.ts'
import { buildLaunch, childEnvironment, type LaunchSettings } from './launch.ts'
import { DEFAULT_MODEL_ID } from './models.ts'
import { nameOutcome, type RunFacts } from './outcome.ts'
import { type AgyChild, SpawnFailure, spawnAgy } from './process.ts'
import { redact } from './redact.ts'
import { AgyRefusal } from './refusal.ts'
import { decodeFrame } from './wire.ts'

/** What the engine needs beside the request. */
export interface AgyLoopOptions extends LaunchSettings {
  /** Absolute path or name of the CLI; absent searches for `agy`. */
  readonly bin?: string
  /** The parent's environment without credentials, read anew for each child. */
  readonly parentEnv: () => Readonly<Record<string, string>>
  /** Total time of one run in milliseconds. */
  readonly deadlineMs?: number
}

/** Two hours: longer than any recorded run, short enough that a forgotten child ends. */
export const DEFAULT_DEADLINE_MS = 2 * 60 * 60_000

const failure = (code: string, message: string, hint: string): EngineEvent => ({
  type: 'end',
  outcome: { kind: 'failed', code, message, retryable: false, hint },
})

/** Drives `agy` over stream-json. */
export class AgyLoop implements HostedEngine {
  readonly id = 'agy'
  private readonly options: AgyLoopOptions
  private readonly children = new Set<AgyChild>()

  /** @param options - pins of the deployment. */
  constructor(options: AgyLoopOptions) {
    this.options = options
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
    if (request.signal.aborted) {
      yield { type: 'end', outcome: { kind: 'aborted' } }
      return
    }
    const child = await this.start(request)
    if (!('lines' in child)) {
      yield child
      return
    }
    this.children.add(child)
    const { deadlineMs = DEFAULT_DEADLINE_MS } = this.options
    let stoppedBy: RunFacts['stoppedBy']
    const stop = (why: 'abort' | 'deadline'): void => {
      stoppedBy ??= why
      void child.stop()
    }
    const onAbort = (): void => stop('abort')
    request.signal.addEventListener('abort', onAbort, { once: true })
    if (request.signal.aborted) onAbort()
    const deadline = setTimeout(() => stop('deadline'), deadlineMs)
    try {
      const fold = new Fold(request.scope)
      const problems: string[] = []
      yield* this.frames(child, fold, problems)
      // `result` closes the turn; the CLI leaves by itself then, or is helped.
      await child.settle()
      yield* fold.finish()
      const home = this.options.parentEnv().HOME
      if (problems.length > 0) yield strangeLines(problems, home)
      const { outcome, notices } = nameOutcome({
        ...fold.summary(),
        exit: await child.left,
        stderr: child.stderr(),
        deadlineMs,
        ...(stoppedBy && { stoppedBy }),
        ...(home !== undefined && { home }),
      })
      yield* notices
      yield { type: 'end', outcome }
    } finally {
      clearTimeout(deadline)
      request.signal.removeEventListener('abort', onAbort)
      await child.stop()
      this.children.delete(child)
    }
  }

  /** Yields what the child tells, until its result. */
  private async *frames(child: AgyChild, fold: Fold, problems: string[]): AsyncGenerator<EngineEvent> {
    const parser = new FrameParser()
    for await (const line of child.lines) {
      const frame: Frame = parser.parse(line)
      if ('problem' in frame) {
        problems.push(frame.problem)
        continue
      }
      yield* fold.push(decodeFrame(frame.value))
      if (fold.summary().result !== undefined) return
    }
  }

  private async start(request: StepRequest): Promise<AgyChild | EngineEvent> {
    try {
      const { file } = await this.locate()
      const { model, ...rest } = request
      const asked = model === undefined || model === DEFAULT_MODEL_ID ? rest : { ...rest, model }
      return await spawnAgy(buildLaunch(file, this.options, asked, this.options.parentEnv()))
    } catch (error) {
      if (error instanceof AgyRefusal) return failure(error.code, error.message, error.hint)
      if (error instanceof SpawnFailure) {
        return failure(
          'AGY_SPAWN_FAILED',
          `The CLI could not be started (${error.code}): ${redact(error.message, this.options.parentEnv().HOME)}`,
          'Check that the workspace folder exists and that the program can be run.',
        )
      }
      throw error
    }
  }
}

function strangeLines(problems: readonly string[], home: string | undefined): EngineEvent {
  return {
    type: 'notice',
    code: 'AGY_STRANGE_LINES',
    message: `${problems.length} line(s) of the CLI's output were no frames, the first: ${redact(problems[0] ?? '', home)}`,
  }
}
