/**
 * The CLI's flags as its help of 1.1.18 lists them, parsed the way Go's `flag` package does, with the traps that the
 * recordings and public drivers report (2026-12-01).
 */

const STRING_FLAGS = new Set([
  'add-dir',
  'agent',
  'conversation',
  'effort',
  'input-format',
  'json-schema',
  'log-file',
  'mode',
  'model',
  'output-format',
  'print',
  'print-timeout',
  'project',
])
const BOOL_FLAGS = new Set([
  'continue',
  'dangerously-skip-permissions',
  'disable-slash-commands',
  'new-project',
  'sandbox',
  'version',
])
const ALIASES = { p: 'print', prompt: 'print', c: 'continue' }

/** The command line is refused: usage goes to stderr, stdout stays empty, the exit code is 2. */
export class FlagError extends Error {}

/**
 * @param {readonly string[]} argv
 * @returns {{ flags: Map<string, string[]>, rest: string[] }} values of each flag in order, and what is no flag.
 */
export function parseArguments(argv) {
  /** @type {Map<string, string[]>} */
  const flags = new Map()
  const set = (name, value) => flags.set(name, [...(flags.get(name) ?? []), value])
  let at = 0
  for (; at < argv.length; at += 1) {
    const match = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(argv[at])
    if (match === null) break
    const name = ALIASES[match[1]] ?? match[1]
    const attached = match[2]
    if (BOOL_FLAGS.has(name)) {
      if (attached !== undefined && !/^(?:true|false|[01tTfF])$/.test(attached)) {
        throw new FlagError(`invalid boolean value "${attached}" for -${name}`)
      }
      set(name, attached ?? 'true')
    } else if (STRING_FLAGS.has(name)) {
      if (attached === undefined) at += 1
      const value = attached ?? argv[at]
      if (value === undefined) throw new FlagError(`flag needs an argument: -${name}`)
      // The next token is the value, whatever it looks like.
      if (name === 'print' && attached === undefined && value.startsWith('-')) {
        throw new FlagError(
          `Error: --print took "${value}" as its prompt, so the intended prompt was left as an argument and ignored.\n` +
            `Attach the prompt to the flag (--print='your prompt') and move ${value} elsewhere on the command line.`,
        )
      }
      set(name, value)
    } else {
      throw new FlagError(`flags provided but not defined: -${match[1]}`)
    }
  }
  return { flags, rest: argv.slice(at) }
}
