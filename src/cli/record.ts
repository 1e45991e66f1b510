/** `dsh-agy record`: runs the installed CLI once and keeps the run as a probe that can be shown to anybody. */
import { constants } from 'node:fs'
import { access, lstat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { findExecutable } from '../agy/executable.ts'
import { childEnvironment } from '../agy/launch.ts'
import { SpawnFailure } from '../agy/process.ts'
import { redact } from '../agy/redact.ts'
import { AgyRefusal } from '../agy/refusal.ts'
import { VersionBook } from '../agy/version.ts'
import { scrubbedParentEnv } from '../host/parent-env.ts'
import type { Replaced } from './anonymizer.ts'
import { CommandRefusal, type Io, readCommandLine, tellRefusals } from './command-line.ts'
import { packageManifest } from './package-manifest.ts'
import { currentFolder } from './paths.ts'
import { folderTaken, outcomeOf, probeOf, unwritable, writeProbe } from './probe-folder.ts'
import { Progress } from './progress.ts'
import { type Recorded, recordRun } from './record-run.ts'

const USAGE = `dsh-agy record [--out <folder>] [--timeout <seconds>] [--model <id>] [--json] -- <prompt>

  --out       the folder to write, which must not exist yet; agy-recording-<time> in this folder if it is left out
  --timeout   after so many seconds the run is cut off; 600 if it is left out
  --model     what \`agy models\` lists
  --json      one JSON object instead of lines

Runs the installed \`agy\` once in this folder, as the engine starts it for a read-only session, and writes frames.ndjson,
stderr.txt and card.json. **This is a model call on your quota.** Folders, names, mail addresses and ids are replaced; if
something with the shape of a secret is left, nothing is written. Look through the folder before you show it to anybody.

Exit codes: 0 recorded, 2 recorded but cut off by time or size, 3 nothing written because of a secret, 1 wrong usage or nothing
to record, 130 stopped.`

const CUT_OFF = 2
const STOPPED = 130

const DEFAULT_SECONDS = 600
const MOST_SECONDS = 24 * 3600

/** What a test may want to have otherwise. */
export interface RecordSurroundings {
  /** The environment to start from; dsh's own for its children, if absent. */
  readonly parent?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/**
 * Run the command. While it runs, SIGINT, SIGTERM and SIGHUP end the child and then the command.
 *
 * @param args - what follows the command's name.
 * @param open - where the outcome and the complaints go.
 * @returns the exit code, as the usage tells them.
 */
export async function record(
  args: readonly string[],
  open: Io,
  { parent = scrubbedParentEnv(), ...given }: RecordSurroundings = {},
): Promise<number> {
  const io: Io = {
    out: line => open.out(redact(line, parent.HOME)),
    err: line => open.err(redact(line, parent.HOME)),
  }
  const shape = {
    usage: USAGE,
    switches: ['json'],
    values: ['out', 'timeout', 'model'],
    behind: 'prompt',
  } as const
  const line = readCommandLine(args, shape, io)
  if (typeof line === 'number') return line
  const stopping = new AbortController()
  const stop = (): void => stopping.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  const letGo = (): void => signals.forEach(signal => void process.off(signal, stop))
  const progress = new Progress(io)
  try {
    return await tellRefusals(io, async () => {
      const cwd = given.cwd ?? currentFolder()
      const limitMs = secondsOf(line.values.timeout) * 1000
      const now = new Date()
      const folder = line.values.out ?? `agy-recording-${now.toISOString().slice(0, 19).replaceAll(':', '-')}`
      const out = resolve(cwd, folder)
      await mayBeWritten(out)
      const env = childEnvironment(parent, {})
      const { file, version } = await programOf(env, stopping.signal)
      progress.at('running agy')
      const run = await refusable(env.HOME, () =>
        recordRun({
          file,
          parent,
          cwd,
          prompt: line.behind,
          limitMs,
          signal: stopping.signal,
          ...(line.values.model !== undefined && { model: line.values.model }),
        }),
      )
      if (stopping.signal.aborted) return STOPPED
      // No child runs any more, and what is written is written at once.
      letGo()
      if (run.frames.length === 0) throw withoutFrames(run, env.HOME)
      progress.at('looking for secrets')
      const { files, replaced } = await probeOf(run, env, { version, recorder: packageManifest().version, now })
      await writeProbe(out, files)
      tell({ folder, version, replaced, run }, io, line.given.has('json'))
      return run.cut === undefined ? 0 : CUT_OFF
    })
  } catch (error) {
    if (!stopping.signal.aborted) throw error
    return STOPPED
  } finally {
    progress.done()
    letGo()
    if (stopping.signal.aborted) io.err('RECORD_STOPPED: Stopped; the child is gone and nothing was written.')
  }
}

/** What a recording became. */
interface Written {
  /** As it was named. */
  readonly folder: string
  readonly version: string
  readonly replaced: Replaced
  readonly run: Recorded
}

function tell({ folder, version, replaced, run }: Written, io: Io, asJson: boolean): void {
  const outcome = outcomeOf(run)
  const { cut, timing } = run
  const frames = run.frames.length
  if (asJson) {
    io.out(JSON.stringify({ folder, outcome, frames, version, cut: cut ?? null, replaced, ...timing }))
    return
  }
  const told = Object.entries(replaced).map(([kind, count]) => `${count} ${kind}`)
  io.out(`recorded ${frames} frames of agy ${version} in ${timing.durationMs} ms: ${outcome}`)
  if (cut !== undefined) io.out(`cut off by its ${cut}`)
  io.out(`replaced: ${told.join(', ') || 'nothing'}`)
  io.out(`written: ${folder}`)
}

function secondsOf(told: string | undefined): number {
  const seconds = told === undefined ? DEFAULT_SECONDS : Number(told)
  if (seconds > 0 && seconds <= MOST_SECONDS) return seconds
  throw new CommandRefusal(
    'RECORD_TIMEOUT_INVALID',
    `"${told}" is no time limit. Give --timeout a number of seconds up to ${MOST_SECONDS}.`,
  )
}

/** Refused before the quota is spent, not after. */
async function mayBeWritten(out: string): Promise<void> {
  if ((await lstat(out).catch(() => undefined)) !== undefined) throw folderTaken(out)
  await access(dirname(out), constants.W_OK).catch(error => {
    throw unwritable(out, error)
  })
}

async function programOf(env: Readonly<Record<string, string>>, signal: AbortSignal) {
  return refusable(env.HOME, async () => {
    const file = await findExecutable(undefined, env)
    const book = new VersionBook()
    // A version newer than the recordings is what one records for.
    await book.check(file, env, signal)
    return { file, version: await book.say(file, env, signal) }
  })
}

/** The engine's refusals, as the command's own. */
async function refusable<T>(home: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AgyRefusal)
      throw new CommandRefusal(error.code, redact(`${error.message} ${error.hint}`, home))
    if (error instanceof SpawnFailure) {
      throw new CommandRefusal('AGY_SPAWN_FAILED', redact(`The CLI could not be started: ${error.message}.`, home))
    }
    throw error
  }
}

function withoutFrames(
  { outcome }: { readonly outcome: { kind: string; message?: string; hint?: string } },
  home?: string,
) {
  const why = redact([outcome.message, outcome.hint].filter(Boolean).join(' '), home)
  return new CommandRefusal('RECORD_NO_FRAMES', `The CLI wrote no frame, so there is nothing to record. ${why}`.trim())
}
