/** The command line that the subcommands share: operands, switches, options with a value, `--help`. */
import { parseArgs } from 'node:util'

/** Where a command writes to, line by line. */
export interface Io {
  out(line: string): void
  err(line: string): void
}

/** Exit code for what cannot be read or was asked wrongly. */
export const UNUSABLE = 1

/** A refusal of a command: the sentence names the input, the rule and the way out. */
export class CommandRefusal extends Error {
  readonly code: string
  readonly exitCode: number

  /**
   * @param code - stable machine-readable code.
   * @param exitCode - of the command that refuses.
   */
  constructor(code: string, message: string, exitCode = UNUSABLE) {
    super(message)
    this.name = 'CommandRefusal'
    this.code = code
    this.exitCode = exitCode
  }
}

/**
 * Do a command's work; a refusal is told and gives its exit code.
 *
 * @param work - gives the exit code.
 */
export async function tellRefusals(io: Io, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CommandRefusal)) throw error
    io.err(`${error.code}: ${error.message}`)
    return error.exitCode
  }
}

/** What a command takes. */
export interface CommandShape<Switch extends string, Value extends string> {
  /** Shown for `--help`, and below a complaint. */
  readonly usage: string
  /** What the one operand is called in a complaint; absent if there is none. */
  readonly operand?: string
  /** The operand may be left out. */
  readonly optional?: true
  /** Options that are given or not. */
  readonly switches: readonly Switch[]
  /** Options that take a value. */
  readonly values?: readonly Value[]
  /** What stands behind `--` is called so, and is taken as it is; absent if nothing may stand there. */
  readonly behind?: string
}

/** A command line that was read. */
export interface CommandLine<Switch extends string, Value extends string> {
  /** Empty where there is none. */
  readonly operand: string
  readonly given: ReadonlySet<Switch>
  readonly values: Readonly<Partial<Record<Value, string>>>
  /** What stands behind `--`, joined by blanks as a shell hands it over. */
  readonly behind: string
}

/**
 * Read a command line.
 *
 * @param args - what follows the command's name.
 * @returns what was read, or the exit code if there is nothing left to do.
 */
export function readCommandLine<Switch extends string, Value extends string = never>(
  args: readonly string[],
  { usage, operand, optional, switches, values = [], behind }: CommandShape<Switch, Value>,
  io: Io,
): CommandLine<Switch, Value> | number {
  const separator = behind === undefined ? -1 : args.indexOf('--')
  try {
    const { values: told, positionals }: { values: Record<string, unknown>; positionals: string[] } = parseArgs({
      args: separator < 0 ? [...args] : args.slice(0, separator),
      allowPositionals: true,
      options: {
        ...Object.fromEntries(switches.map(name => [name, { type: 'boolean' as const }])),
        ...Object.fromEntries(values.map(name => [name, { type: 'string' as const }])),
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (told.help === true) {
      io.out(usage)
      return 0
    }
    const [only = '', ...rest] = positionals
    if (operand === undefined && only !== '') throw new Error(`There is nothing to do with "${only}".`)
    if (operand !== undefined && ((only === '' && !optional) || rest.length > 0))
      throw new Error(`${optional ? 'At most' : 'Exactly'} one ${operand} must be named.`)
    const after = separator < 0 ? '' : args.slice(separator + 1).join(' ')
    if (behind !== undefined && after.trim() === '') throw new Error(`No ${behind} stands behind "--".`)
    return {
      operand: only,
      given: new Set(switches.filter(name => told[name] === true)),
      values: told as Partial<Record<Value, string>>,
      behind: after,
    }
  } catch (error) {
    io.err(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    return UNUSABLE
  }
}
