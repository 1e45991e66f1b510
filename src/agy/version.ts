/**
 * Which version of the CLI a program is, read once for each identity of the file.
 *
 * `agy --version` prints the bare number and exits 0 within about 100 ms; the stream itself carries no version (seen by
 * two public drivers, 1.1.27 and 1.2.7; 2026-12-01).
 */
import { realpath, stat } from 'node:fs/promises'
import type { EngineEvent } from '../engine/contract.ts'
import { runToEnd } from './process.ts'
import { saidBy } from './redact.ts'
import { AgyRefusal } from './refusal.ts'
import { unlessAborted } from './waiting.ts'

/**
 * Every flag that a launch passes is known to this version and later; 1.1.14 and earlier take no stream-json input
 * (release notes of 1.1.15, 2026-08-19).
 */
const OLDEST_VERSION = '1.1.15'

/** The newest version of which recordings lie in `probes/`. */
export const NEWEST_RECORDED = '1.3.2'

const LIMIT_MS = 10_000

type Notice = Extract<EngineEvent, { type: 'notice' }>

/** Order of two versions as their numbers say it. */
export function compareVersions(a: string, b: string): number {
  const numbers = (version: string): number[] => version.split('.').map(Number)
  const [left, right] = [numbers(a), numbers(b)]
  return left.map((part, at) => part - (right[at] ?? 0)).find(difference => difference !== 0) ?? 0
}

/** The version in what `--version` printed: a line that is a number and nothing else, since a wrapper may add its own. */
export function parseVersion(output: string): string | undefined {
  return /^v?(\d+\.\d+\.\d+)\s*$/m.exec(output)?.[1]
}

/** What one file said of itself. */
type Reading =
  | { readonly kind: 'version'; readonly version: string }
  | { readonly kind: 'other'; readonly said: string }
  | { readonly kind: 'unreadable'; readonly why: string }

/** Remembers the version of each program that was asked. */
export class VersionBook {
  private readonly readings = new Map<string, Promise<Reading>>()
  private readonly closing = new AbortController()

  /**
   * Look at a program before it is started.
   *
   * @param file - absolute path of the program.
   * @param env - its environment.
   * @returns something to be told of the version, if there is.
   * @throws AgyRefusal for a version that is too old, and for a program that is not the CLI.
   */
  async check(file: string, env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Notice | undefined> {
    const reading = await unlessAborted(this.read(file, env), signal)
    switch (reading.kind) {
      case 'other':
        throw new AgyRefusal(
          'AGY_NOT_AGY',
          `"${file}" is not the Antigravity CLI: asked for its version it said ${JSON.stringify(reading.said)}.`,
          "Set bin to the absolute path of Google's own program.",
        )
      case 'unreadable':
        return notice(
          'AGY_VERSION_UNREAD',
          `The version of the CLI could not be read (${reading.why}); it is tried all the same.`,
        )
      case 'version': {
        const { version } = reading
        if (compareVersions(version, OLDEST_VERSION) < 0) {
          throw new AgyRefusal(
            'AGY_TOO_OLD',
            `The installed Antigravity CLI is ${version}; ${OLDEST_VERSION} is the oldest that can be driven.`,
            'Run `agy update`, or install the current version.',
          )
        }
        if (compareVersions(version, NEWEST_RECORDED) <= 0) return undefined
        return notice(
          'AGY_VERSION_UNVERIFIED',
          `The CLI is ${version}, newer than the recordings of this engine (up to ${NEWEST_RECORDED}).`,
        )
      }
    }
  }

  /** What a program says that it is, in a word for people. */
  async say(file: string, env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string> {
    const reading = await unlessAborted(this.read(file, env), signal)
    switch (reading.kind) {
      case 'version':
        return reading.version
      case 'other':
        return `no version, but ${JSON.stringify(reading.said)}`
      case 'unreadable':
        return `unknown (${reading.why})`
    }
  }

  /** Ask no more; resolves when no program is being asked. */
  async close(): Promise<void> {
    this.closing.abort()
    await Promise.allSettled(this.readings.values())
  }

  /** Shared by all who ask meanwhile, so none of them can break it off; it takes no longer than its own limit. */
  private async read(file: string, env: Readonly<Record<string, string>>): Promise<Reading> {
    const identity = await identify(file)
    const known = this.readings.get(identity)
    if (known !== undefined) return known
    const reading = ask(file, env, this.closing.signal)
    this.readings.set(identity, reading)
    // A reading that failed for the moment's reasons is taken again.
    if ((await reading).kind === 'unreadable') this.readings.delete(identity)
    return reading
  }
}

/** One file as it is now: another version, or a changed one, has another identity. */
export async function identify(file: string): Promise<string> {
  const { size, mtimeMs } = await stat(file)
  return `${await realpath(file)}|${size}|${mtimeMs}`
}

async function ask(file: string, env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Reading> {
  const { stdout, stderr, exitCode, timedOut } = await runToEnd(file, ['--version'], env, LIMIT_MS, signal)
  const version = parseVersion(stdout)
  if (version !== undefined) return { kind: 'version', version }
  if (timedOut) return { kind: 'unreadable', why: `no answer in ${LIMIT_MS / 1000} s` }
  const said = saidBy(stdout.trim() || stderr.trim(), env).slice(0, 200)
  if (exitCode === 0 && said !== '') return { kind: 'other', said }
  return { kind: 'unreadable', why: `exit code ${exitCode ?? 'unknown'}${said === '' ? '' : `: ${said}`}` }
}

const notice = (code: string, message: string): Notice => ({ type: 'notice', code, message })
