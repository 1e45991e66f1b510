/** Runs a subcommand of `dsh-agy` by its function, or all of it as a process. */
import { join } from 'node:path'
import { execa, type Options } from 'execa'
import type { Io } from '../../src/cli/command-line.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts')

/** What a command said, and its exit code. */
export interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Run a command by its function. */
export async function said(run: (io: Io) => Promise<number>): Promise<Said> {
  const out: string[] = []
  const err: string[] = []
  const code = await run({ out: line => out.push(line), err: line => err.push(line) })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** Start `dsh-agy` as a process of its own. */
export const dshAgy = (args: readonly string[], options: Options = {}) =>
  execa(process.execPath, [MAIN, ...args], { reject: false, ...options })
