/**
 * The only impure file of this room: spawns one child, and sees to it that the child and everything it started are gone before
 * the run is over.
 *
 * Killing is done to the whole process group (the tree on Windows), since the CLI starts helpers that outlive it.
 */
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { execa as Execa } from 'execa'
import type { Launch } from './launch.ts'
import { type Lines, MAX_LINE_BYTES } from './lines.ts'
import type { ChildExit } from './outcome.ts'
import { drained, ended, keepTail, LineReader } from './pipes.ts'
import { within } from './waiting.ts'

/** What one child may take and give. */
export interface ChildLimits {
  /** From the end of stdin and of the answer until SIGTERM, in milliseconds. */
  readonly exitGraceMs: number
  /** From SIGTERM until SIGKILL, and as long again until a pipe held open by somebody else is let go, in milliseconds. */
  readonly killGraceMs: number
  /** Longest line of stdout that is taken; a longer one is dropped and named. */
  readonly maxLineBytes: number
  /** Bytes of stderr that are kept; the end says most. */
  readonly maxStderrBytes: number
}

/** What a well-behaved child stays far below. */
export const DEFAULT_CHILD_LIMITS: ChildLimits = {
  exitGraceMs: 2_000,
  killGraceMs: 2_000,
  maxLineBytes: MAX_LINE_BYTES,
  maxStderrBytes: 16 * 1024,
}

/** One running child. */
export interface AgyChild {
  /** Lines of stdout until it ends, as many at once as have arrived. */
  readonly lines: AsyncIterable<readonly Lines[]>
  /** Stop reading and end the child: wait for it, then SIGTERM, then SIGKILL. Safe to call more than once. */
  settle(): Promise<void>
  /** The same without the wait. */
  stop(): Promise<void>
  /** Resolves when the child has left and both pipes are drained or let go. */
  readonly left: Promise<ChildExit>
  /** The end of what it wrote to stderr so far. */
  stderr(): string
}

/** A child that is a process of this machine. */
export interface AgyProcess extends AgyChild {
  readonly pid: number
  /** Give a child that waits its one line of stdin, and close stdin. */
  ask(line: string): void
}

/** The program could not be started at all. */
export class SpawnFailure extends Error {
  /** The system's own code, such as `EACCES` or `ENOENT`. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'SpawnFailure'
    this.code = code
  }
}

let loaded: typeof Execa | undefined

/** Loads what starts programs when the first one is started: that takes longer than all else of dsh's start with us. */
async function starter(): Promise<typeof Execa> {
  loaded ??= (await import('execa')).execa
  return loaded
}

const groups = new Set<number>()

// A host that exits without unloading its plugins must not leave a child behind. (SIGKILL cannot be heard.)
process.on('exit', () => {
  for (const pid of groups) killTree(pid, 'SIGKILL')
})

function killTree(pid: number, signal: NodeJS.Signals): void {
  if (process.platform === 'win32') {
    // Windows has no groups and no signals: taskkill ends the tree. Unproven here: no Windows was at hand.
    const force = signal === 'SIGKILL' ? ['/F'] : []
    loaded?.('taskkill', ['/PID', String(pid), '/T', ...force], { reject: false, windowsHide: true, stdio: 'ignore' })
    return
  }
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // Nobody left in the group is what we want.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Whether somebody of the group is left; one that was killed is, until the system has taken note of it. */
function groupExists(pid: number): boolean {
  if (process.platform === 'win32') return false
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}

/** How often one looks whether a killed group is gone, in milliseconds: nobody tells the end of what is no child of ours. */
const LOOK_MS = 5

/** Wait until nobody of the group is left, at most so long. */
async function groupGone(pid: number, limitMs: number): Promise<boolean> {
  const until = performance.now() + limitMs
  while (groupExists(pid) && performance.now() < until) await pause(LOOK_MS)
  return !groupExists(pid)
}

/**
 * End a whole process group: SIGTERM, and SIGKILL for whoever is left.
 *
 * @param graceMs - time for each, in milliseconds.
 */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  killTree(pid, 'SIGTERM')
  if (await groupGone(pid, graceMs)) return
  killTree(pid, 'SIGKILL')
  await groupGone(pid, graceMs)
}

/**
 * Spawn a child, and give it its one line of stdin if there is one by now.
 *
 * @throws SpawnFailure when the system refuses to start it.
 */
export async function spawnAgy(launch: Launch, limits: ChildLimits = DEFAULT_CHILD_LIMITS): Promise<AgyProcess> {
  const execa = await starter()
  const child = execa(launch.file, launch.args, {
    cwd: launch.cwd,
    env: launch.env,
    extendEnv: false,
    // A pipe, always: on a terminal or /dev/null a signed-out CLI waits a minute and prints a sign-in address.
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: false,
    reject: false,
    windowsHide: true,
    // Its own group, so that helpers can be ended with it.
    detached: process.platform !== 'win32',
    cleanup: false,
  })
  const { pid } = child
  if (pid === undefined) {
    const result = await child
    throw new SpawnFailure(result.code ?? 'UNKNOWN', result.originalMessage ?? 'the program could not be started')
  }
  groups.add(pid)

  let signalled = false
  const exited = new Promise<ChildExit>(resolve => {
    child.nodeChildProcess.once('exit', (code, signal) => {
      resolve({
        ...(code === null ? {} : { code }),
        ...(signal === null ? {} : { signal }),
        ...(signalled && { endedByUs: true }),
      })
    })
  })
  const pipes = [child.stdout, child.stderr].map(pipe => ({ pipe: pipe as Socket, end: ended(pipe) }))
  const stderr = keepTail(child.stderr, limits.maxStderrBytes)

  // The child may die before it reads: EPIPE is no failure of ours, its exit tells what happened.
  child.stdin.on('error', () => {})
  const ask = (line: string): void => void child.stdin.end(line)
  if (launch.stdin !== undefined) ask(launch.stdin)

  let isHurried = false
  const hurried = Promise.withResolvers<void>()
  const left = exited.then(async exit => {
    // The leader is gone; what it left running would hold the pipes.
    killTree(pid, 'SIGTERM')
    await within(Promise.all(pipes.map(({ end }) => end)), limits.killGraceMs)
    killTree(pid, 'SIGKILL')
    await groupGone(pid, limits.killGraceMs)
    await Promise.all(pipes.map(({ pipe, end }) => drained(pipe, end, limits.killGraceMs, () => isHurried)))
    groups.delete(pid)
    return exit
  })

  const reader = new LineReader(child.stdout, limits.maxLineBytes)
  let ladder: Promise<void> | undefined
  const climb = async (): Promise<void> => {
    reader.close()
    if (!(await within(Promise.race([exited, hurried.promise]), limits.exitGraceMs)) || !(await within(exited, 0))) {
      signalled = true
      killTree(pid, 'SIGTERM')
      if (!(await within(exited, limits.killGraceMs))) killTree(pid, 'SIGKILL')
    }
    await left
  }
  const settle = (): Promise<void> => {
    ladder ??= climb()
    return ladder
  }

  return {
    pid,
    ask,
    lines: reader,
    left,
    stderr,
    settle,
    stop: () => {
      isHurried = true
      hurried.resolve()
      return settle()
    },
  }
}

/** What a short-lived program answered. */
export interface Answer {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number | undefined
  readonly timedOut: boolean
}

/** This process's folder, which may have been removed. */
function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/** More than any of them has to say. */
const MOST_SAID = 16 * 1024 * 1024

/**
 * Run a short-lived program, such as `agy models`, to its end; what it started is ended with it.
 *
 * @param limitMs - it is ended when it takes longer.
 * @param signal - ends it at once, if there is one.
 * @param cwd - where it works; this process's own folder, if absent.
 */
export async function runToEnd(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  limitMs: number,
  signal?: AbortSignal,
  cwd: string = currentFolder(),
): Promise<Answer> {
  let child: AgyProcess
  try {
    // A pipe that is closed at once: up to 1.1.22 a subcommand hangs while its stdin is open.
    child = await spawnAgy({ file, args, cwd, env, stdin: '' })
  } catch (error) {
    if (!(error instanceof SpawnFailure)) throw error
    return { stdout: '', stderr: error.message, exitCode: undefined, timedOut: false }
  }
  let timedOut = false
  const stop = (): void => void child.stop()
  const timer = setTimeout(() => {
    timedOut = true
    stop()
  }, limitMs)
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  try {
    let stdout = ''
    for await (const batch of child.lines) {
      for (const line of batch) if ('text' in line && stdout.length < MOST_SAID) stdout += `${line.text}\n`
    }
    const { code } = await child.left
    return { stdout, stderr: child.stderr(), exitCode: code, timedOut }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
