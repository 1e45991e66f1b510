/** The command line that the subcommands share: one operand, switches, `--help`. */
import { parseArgs } from 'node:util'

/** Where a command writes to, line by line. */
export interface Io {
  out(line: string): void
  err(line: string): void
}

/** Exit code for what cannot be read or was asked wrongly. */
export const UNUSABLE = 1

/**
 * Read a command line of one operand, or of none, and switches.
 *
 * @param args - what follows the command's name.
 * @param usage - shown for `--help`, and below a complaint.
 * @param operand - what the one operand is called in a complaint; `undefined` if there is none.
 * @param switches - names of the options that are given or not.
 * @returns operand and switches, or the exit code if there is nothing left to do.
 */
export function readCommandLine<Switch extends string>(
  args: readonly string[],
  usage: string,
  operand: string | undefined,
  switches: readonly Switch[],
  io: Io,
): { operand: string; given: ReadonlySet<Switch> } | number {
  const options = Object.fromEntries([...switches, 'help'].map(name => [name, { type: 'boolean' as const }]))
  try {
    const { values, positionals }: { values: Record<string, unknown>; positionals: string[] } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) {
      io.out(usage)
      return 0
    }
    const [only = '', ...rest] = positionals
    if (operand === undefined && only !== '') throw new Error(`There is nothing to do with "${only}".`)
    if (operand !== undefined && (only === '' || rest.length > 0))
      throw new Error(`Exactly one ${operand} must be named.`)
    return { operand: only, given: new Set(switches.filter(name => values[name] === true)) }
  } catch (error) {
    io.err(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    return UNUSABLE
  }
}
