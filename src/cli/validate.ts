/**
 * `dsh-agy validate`: says whether a session log keeps the rules of both generations of dsh. Only reads; what was found
 * goes to `out`, what hindered to `err`.
 */
import { type Io, readCommandLine, UNUSABLE } from './command-line.ts'
import { LogUnreadable, readLog } from './log-file.ts'
import { checkLog } from './log-rules.ts'

const USAGE = `dsh-agy validate <log> [--complete] [--json]

  <log>        a session.jsonl or session.jsonl.zstd of dsh
  --complete   a log that ends inside a turn is invalid too; dsh itself repairs one at its next open
  --json       one JSON object instead of lines

Exit codes: 0 valid, 3 invalid, 1 not readable or wrong usage.`

/**
 * Run the command.
 *
 * @param args - what follows the command's name.
 * @param io - where the findings and the complaints go.
 * @returns the exit code: 0 valid, 3 invalid, 1 not readable or wrong usage.
 */
export async function validate(args: readonly string[], io: Io): Promise<number> {
  const line = readCommandLine(args, USAGE, 'log', ['complete', 'json'], io)
  if (typeof line === 'number') return line
  try {
    const { events, torn } = await readLog(line.operand)
    const violations = checkLog(events, { complete: line.given.has('complete') })
    const turns = events.filter(event => event.type === 'turn/start').length
    if (line.given.has('json')) {
      io.out(JSON.stringify({ valid: violations.length === 0, events: events.length, turns, torn, violations }))
    } else {
      for (const { rule, seq, message } of violations) io.out(`${rule} at seq ${seq}: ${message}`)
      io.out(
        violations.length === 0
          ? `valid: ${events.length} events, ${turns} turn${turns === 1 ? '' : 's'}`
          : `invalid: ${violations.length} violation${violations.length === 1 ? '' : 's'}`,
      )
    }
    if (torn) io.err('The last line is cut off and was left out, as dsh leaves it out at its next open.')
    return violations.length === 0 ? 0 : 3
  } catch (error) {
    if (!(error instanceof LogUnreadable)) throw error
    io.err(`${error.code}: ${error.message}`)
    return UNUSABLE
  }
}
