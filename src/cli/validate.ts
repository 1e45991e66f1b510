/**
 * `dsh-agy validate`: says whether a session log keeps the rules of both generations of dsh. Only reads; what was found
 * goes to `out`, what hindered to `err`.
 */
import { parseArgs } from 'node:util'
import { LogUnreadable, readLog } from './log-file.ts'
import { checkLog } from './log-rules.ts'

/** Where a command writes to, line by line. */
export interface Io {
  out(line: string): void
  err(line: string): void
}

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
  let parsed: { log: string | undefined; json: boolean; complete: boolean; help: boolean }
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        complete: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    parsed = { ...values, log: positionals.length === 1 ? positionals[0] : undefined }
  } catch (error) {
    io.err(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    return 1
  }
  if (parsed.help) {
    io.out(USAGE)
    return 0
  }
  if (parsed.log === undefined) {
    io.err(`Exactly one log must be named.\n\n${USAGE}`)
    return 1
  }
  try {
    const { events, torn } = await readLog(parsed.log)
    const violations = checkLog(events, { complete: parsed.complete })
    const turns = events.filter(event => event.type === 'turn/start').length
    if (parsed.json) {
      io.out(JSON.stringify({ valid: violations.length === 0, events: events.length, turns, torn, violations }))
    } else {
      for (const { rule, seq, message } of violations) io.out(`${rule} at seq ${seq}: ${message}`)
      io.out(
        violations.length === 0
          ? `valid: ${events.length} events, ${turns} turns`
          : `invalid: ${violations.length} violations`,
      )
    }
    if (torn) io.err('The last line is cut off and was left out, as dsh leaves it out at its next open.')
    return violations.length === 0 ? 0 : 3
  } catch (error) {
    if (!(error instanceof LogUnreadable)) throw error
    io.err(`${error.code}: ${error.message}`)
    return 1
  }
}
