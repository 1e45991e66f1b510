/**
 * `dsh-agy validate`: says whether session logs keep the rules of both generations of dsh. Only reads; what was found goes to
 * `out`, what hindered to `err`.
 */
import { readdirSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Io, readCommandLine, tellRefusals, UNUSABLE } from './command-line.ts'
import { LogUnreadable, readLog } from './log-file.ts'
import { checkLog } from './log-rules.ts'
import { statOf } from './paths.ts'
import { LONG_BYTES, Progress } from './progress.ts'

const USAGE = `dsh-agy validate <log or folder> [--complete] [--json]

  <log>        a session.jsonl or session.jsonl.zstd of dsh, or a folder: each log below it is one line then
  --complete   a log that ends inside a turn is invalid too; dsh itself repairs one at its next open
  --json       one JSON object instead of lines

Exit codes: 0 valid, 3 invalid, 1 not readable or wrong usage; of a folder the highest of its logs.`

const INVALID = 3

/** What one log was found to be. */
interface Checked {
  readonly valid: boolean
  readonly events: number
  readonly turns: number
  readonly torn: boolean
  readonly violations: readonly { readonly rule: string; readonly seq: number; readonly message: string }[]
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/**
 * Run the command.
 *
 * @param args - what follows the command's name.
 * @param io - where the findings and the complaints go.
 * @returns the exit code: 0 valid, 3 invalid, 1 not readable or wrong usage.
 */
export async function validate(args: readonly string[], io: Io): Promise<number> {
  const line = readCommandLine(args, { usage: USAGE, operand: 'log', switches: ['complete', 'json'] }, io)
  if (typeof line === 'number') return line
  const progress = new Progress(io)
  const check = async (file: string): Promise<Checked> => {
    progress.at(`checking ${file}`, sizeOf(file) > LONG_BYTES)
    const { events, torn } = await readLog(file)
    const violations = checkLog(events, { complete: line.given.has('complete') })
    const turns = events.filter(event => event.type === 'turn/start').length
    return { valid: violations.length === 0, events: events.length, turns, torn, violations }
  }
  const found = statOf(line.operand)
  return tellRefusals(io, () =>
    found?.isDirectory()
      ? checkFolder(line.operand, check, io, line.given.has('json'))
      : checkOne(line.operand, check, io, line.given.has('json')),
  ).finally(() => progress.done())
}

type Check = (file: string) => Promise<Checked>

async function checkOne(file: string, check: Check, io: Io, asJson: boolean): Promise<number> {
  const checked = await check(file)
  if (asJson) {
    io.out(JSON.stringify(checked))
  } else {
    for (const { rule, seq, message } of checked.violations) io.out(`${rule} at seq ${seq}: ${message}`)
    io.out(verdictOf(checked))
  }
  if (checked.torn) io.err('The last line is cut off and was left out, as dsh leaves it out at its next open.')
  return checked.valid ? 0 : INVALID
}

const verdictOf = ({ valid, events, turns, violations }: Checked): string =>
  valid ? `valid: ${events} events, ${counted(turns, 'turn')}` : `invalid: ${counted(violations.length, 'violation')}`

async function checkFolder(folder: string, check: Check, io: Io, asJson: boolean): Promise<number> {
  const files = logsBelow(folder)
  if (files.length === 0) throw new LogUnreadable(folder, 'no log lies below it')
  const sum = { valid: 0, invalid: 0, unreadable: 0 }
  const logs: object[] = []
  for (const file of files) {
    const checked = await check(join(folder, file)).catch((error: unknown) => {
      if (error instanceof LogUnreadable) return error
      throw error
    })
    if (checked instanceof LogUnreadable) {
      sum.unreadable += 1
      logs.push({ file, code: checked.code, message: checked.message })
      if (!asJson) io.out(`${file}: unreadable: ${checked.code}: ${checked.message}`)
      continue
    }
    sum[checked.valid ? 'valid' : 'invalid'] += 1
    if (asJson) logs.push({ file, ...checked })
    else io.out(`${file}: ${verdictOf(checked)}${firstOf(checked)}${checked.torn ? '; its last line is cut off' : ''}`)
  }
  if (asJson) io.out(JSON.stringify({ ...sum, logs }))
  else
    io.out(`${counted(files.length, 'log')}: ${sum.valid} valid, ${sum.invalid} invalid, ${sum.unreadable} unreadable`)
  if (sum.invalid > 0) return INVALID
  return sum.unreadable > 0 ? UNUSABLE : 0
}

const firstOf = ({ violations: [first] }: Checked): string =>
  first === undefined ? '' : `, the first: ${first.rule} at seq ${first.seq}`

const LOG_NAMES = ['session.jsonl', 'session.jsonl.zstd']

/** Logs as dsh names them, by their path below the folder, each once. What cannot be looked into is among them: its reading says why. */
function logsBelow(folder: string): string[] {
  const seen = new Set<string>()
  const found: string[] = []
  const walk = (path: string): void => {
    const place = join(folder, path)
    const stats = statOf(place)
    if (stats?.isDirectory()) {
      // A link may lead back to a folder above it.
      const real = realpathSync(place)
      if (seen.has(real)) return
      seen.add(real)
      const names = namesIn(place)
      if (names === undefined) found.push(path)
      else for (const name of names) walk(join(path, name))
    } else if (LOG_NAMES.includes(basename(path)) && (stats === undefined || stats.isFile())) {
      found.push(path)
    }
  }
  walk('.')
  return found
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder).sort()
  } catch {
    return undefined
  }
}

const sizeOf = (path: string): number => statOf(path)?.size ?? 0
