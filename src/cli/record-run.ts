/** Runs the CLI once, as the engine does, and keeps what it wrote, within bounds. */
import { recordChild } from '../agy/child-records.ts'
import { Fold } from '../agy/fold.ts'
import { FrameParser } from '../agy/frames.ts'
import { buildLaunch, type Launch } from '../agy/launch.ts'
import { type ChildExit, nameOutcome } from '../agy/outcome.ts'
import { type AgyChild, DEFAULT_CHILD_LIMITS, spawnAgy } from '../agy/process.ts'
import { RunFolder } from '../agy/run-folder.ts'
import { decodeFrame } from '../agy/wire.ts'
import type { Outcome } from '../engine/contract.ts'

/** What is run. */
export interface RecordedRun {
  /** Absolute path of the program. */
  readonly file: string
  /** The parent's environment, already free of credentials. */
  readonly parent: Readonly<Record<string, string>>
  readonly cwd: string
  readonly prompt: string
  readonly model?: string
  /** From the start until the run is cut off, in milliseconds. */
  readonly limitMs: number
  /** Ends the run at once. */
  readonly signal: AbortSignal
}

/** Why a run did not end by itself. */
export type Cut = 'time' | 'size'

/** What the CLI wrote, and how it left. */
export interface Recorded {
  readonly frames: readonly unknown[]
  readonly stderr: string
  readonly exit: ChildExit
  readonly launch: Launch
  readonly outcome: Outcome
  readonly cut?: Cut
  /** Lines of stdout that are no frames, each in a word; they are not kept. */
  readonly strange: readonly string[]
  /** From the start on, in milliseconds; the first is absent where no frame came. */
  readonly timing: { readonly firstFrameMs?: number; readonly durationMs: number }
  /** The private folder of the run, which is gone. */
  readonly runFolder?: string
}

/** Most characters of stdout that are kept: a recording is to be read and kept in a repository. */
const MOST_OUTPUT = 16 * 1024 * 1024
const LIMITS = { ...DEFAULT_CHILD_LIMITS, maxStderrBytes: 256 * 1024 }
const MOST_STRANGE = 100

/**
 * Run the CLI once. Nothing of it is left when this is over, however it ends.
 *
 * @throws AgyRefusal for a request that contradicts itself, SpawnFailure when the program cannot be started.
 */
export async function recordRun(run: RecordedRun): Promise<Recorded> {
  const folder = await RunFolder.open()
  try {
    const launch = buildLaunch(
      run.file,
      { env: {} },
      {
        prompt: run.prompt,
        cwd: run.cwd,
        permissions: { confined: true, everythingAllowed: false },
        ...(run.model !== undefined && { model: run.model }),
        ...(folder && { logFile: folder.logFile }),
      },
      run.parent,
    )
    run.signal.throwIfAborted()
    const start = performance.now()
    const child = await spawnAgy(launch, LIMITS)
    const forget = await recordChild(child.pid, folder?.path)
    try {
      const read = await readAll(child, run, start)
      const exit = await child.left
      const stderr = wholeLines(child.stderr())
      const { outcome } = nameOutcome({
        ...read.fold.summary(),
        exit,
        stderr,
        ...(folder && { log: await folder.readLog() }),
      })
      const { frames, strange, cut, firstFrameMs } = read
      return {
        frames,
        stderr,
        exit,
        launch,
        outcome,
        strange,
        ...(cut && { cut }),
        timing: {
          ...(firstFrameMs !== undefined && { firstFrameMs }),
          durationMs: Math.round(performance.now() - start),
        },
        ...(folder && { runFolder: folder.path }),
      }
    } finally {
      await child.stop()
      await forget()
    }
  } finally {
    await folder?.remove()
  }
}

async function readAll(child: AgyChild, { limitMs, signal }: RecordedRun, start: number) {
  const parser = new FrameParser()
  const fold = new Fold('recorded')
  const frames: unknown[] = []
  const strange: string[] = []
  let cut: Cut | undefined
  let firstFrameMs: number | undefined
  let kept = 0
  const end = (why?: Cut): void => {
    cut ??= why
    void child.stop()
  }
  const onAbort = (): void => end()
  signal.addEventListener('abort', onAbort, { once: true })
  const deadline = setTimeout(end, limitMs, 'time')
  try {
    if (signal.aborted) end()
    for await (const lines of child.lines) {
      if (signal.aborted || cut !== undefined) continue
      kept += lines.reduce((sum, block) => sum + ('text' in block ? block.text.length : block.droppedBytes), 0)
      if (kept > MOST_OUTPUT) {
        end('size')
        continue
      }
      for (const frame of parser.parse(lines)) {
        if ('problem' in frame) {
          if (strange.length < MOST_STRANGE) strange.push(frame.problem)
          continue
        }
        firstFrameMs ??= Math.round(performance.now() - start)
        frames.push(frame.value)
        fold.push(decodeFrame(frame.value))
      }
      // What comes after the result belongs to the recording too, but the CLI need not leave by itself.
      if (fold.isOver) void child.settle()
    }
    fold.finish()
    return { fold, frames, strange, cut, firstFrameMs }
  } finally {
    clearTimeout(deadline)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Without a first line whose beginning was not kept: what is left of it could not be known for what it is. */
const wholeLines = (stderr: string): string =>
  Buffer.byteLength(stderr) < LIMITS.maxStderrBytes ? stderr : stderr.slice(stderr.indexOf('\n') + 1)
