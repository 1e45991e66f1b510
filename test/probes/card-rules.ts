/** What a probe folder must hold. Each rule that is broken gives one problem in words; no problem means a sound probe. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Check = (value: unknown) => string | undefined

const words: Check = value => (typeof value === 'string' && value.trim() !== '' ? undefined : 'must be a text')
const text: Check = value => (typeof value === 'string' ? undefined : 'must be a string')

const oneOf =
  (...allowed: readonly unknown[]): Check =>
  value =>
    allowed.includes(value) ? undefined : `must be one of ${allowed.map(each => JSON.stringify(each)).join(', ')}`

const matching =
  (pattern: RegExp, description: string): Check =>
  value =>
    typeof value === 'string' && pattern.test(value) ? undefined : `must be ${description}`

const argv: Check = value =>
  value === null || (Array.isArray(value) && value.every(each => typeof each === 'string'))
    ? undefined
    : 'must be a list of strings or null'

const exitCode: Check = value =>
  value === null || (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255)
    ? undefined
    : 'must be an exit code or null'

const duration: Check = value =>
  Number.isInteger(value) && (value as number) >= 0 ? undefined : 'must be milliseconds'

const ORIGIN = oneOf('recorded', 'composed', 'unknown')

/** The members of a card in their order; a record of checks is a nested object. */
const CARD: Readonly<Record<string, Check | Readonly<Record<string, Check>>>> = {
  shows: words,
  agyVersion: matching(/^(?:\d+\.\d+\.\d+|unknown\b.*)$/, 'a version, or "unknown" with what is known'),
  recorded: matching(/^(?:\d{4}-\d{2}-\d{2}|unknown\b.*)$/, 'a day, or "unknown" with what is known'),
  platform: oneOf('Linux', 'macOS', 'Windows 11', 'unknown'),
  frames: oneOf('verbatim', 'edited', 'abridged', 'excerpt'),
  edits: words,
  argv: { value: argv, origin: ORIGIN },
  exit: { value: exitCode, origin: ORIGIN },
  signal: { value: oneOf(null, 'SIGINT', 'SIGTERM', 'SIGKILL'), origin: ORIGIN },
  stderr: { origin: oneOf('recorded', 'composed', 'unknown', 'recorded-empty'), note: text },
  outcome: words,
  source: {
    repository: matching(/^(?:[\w.-]+\/[\w.-]+|unnamed)$/, 'owner/name or "unnamed"'),
    path: matching(/^(?!\/|[A-Za-z]:)\S/, 'a path inside the repository'),
    commit: matching(/^(?:[0-9a-f]{7,40})?$/, 'a short commit or empty'),
  },
}

/** Members that a card may lack; they stand behind all others. */
const OPTIONAL: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  timing: { firstFrameMs: duration, durationMs: duration },
  ended: { by: oneOf('recorder') },
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members are there, no others, in order. */
function memberProblems(value: Record<string, unknown>, members: readonly string[], at: string): string[] {
  const present = Object.keys(value)
  const problems = [
    ...members.filter(name => !present.includes(name)).map(name => `${at}${name}: is missing`),
    ...present.filter(name => !members.includes(name)).map(name => `${at}${name}: is not a member of a card`),
  ]
  if (problems.length === 0 && present.join() !== members.join()) problems.push(`${at}members are out of order`)
  return problems
}

function shapeProblems(value: unknown, shape: typeof CARD, at: string): string[] {
  if (!isObject(value)) return [`${at || 'card'} must be an object`]
  const problems = memberProblems(value, Object.keys(shape), at)
  for (const [name, rule] of Object.entries(shape)) {
    if (!(name in value)) continue
    if (typeof rule !== 'function') {
      problems.push(...shapeProblems(value[name], rule, `${at}${name}.`))
      continue
    }
    const problem = rule(value[name])
    if (problem !== undefined) problems.push(`${at}${name}: ${problem}`)
  }
  return problems
}

/** What is known must say from where: a value of its own cannot have the origin `unknown`. */
function originProblems(card: Record<string, unknown>): string[] {
  return ['argv', 'exit', 'signal'].flatMap(name => {
    const known = card[name]
    return isObject(known) && known.origin === 'unknown' && known.value !== null
      ? [`${name}.origin: is unknown although there is a value`]
      : []
  })
}

/**
 * @param card the parsed `card.json`
 * @returns what is wrong with it, one sentence each
 */
export function cardProblems(card: unknown): string[] {
  const told = isObject(card) ? Object.entries(OPTIONAL).filter(([name]) => name in card) : []
  const problems = shapeProblems(card, { ...CARD, ...Object.fromEntries(told) }, '')
  return isObject(card) ? [...problems, ...originProblems(card)] : problems
}

/**
 * @param frames the bytes of `frames.ndjson`
 * @returns the lines that are no JSON object
 */
export function framesProblems(frames: string): string[] {
  if (!frames.endsWith('\n')) return ['frames.ndjson: the last line has no end']
  return frames
    .slice(0, -1)
    .split('\n')
    .flatMap((line, index) => {
      try {
        return isObject(JSON.parse(line)) ? [] : [`frames.ndjson: line ${index + 1} is no object`]
      } catch {
        return [`frames.ndjson: line ${index + 1} is no JSON`]
      }
    })
}

/**
 * @param folder path of a probe
 * @returns what is wrong with its card, its frames and its stderr
 */
export function probeProblems(folder: string): string[] {
  const card: unknown = JSON.parse(readFileSync(join(folder, 'card.json'), 'utf8'))
  const problems = [...cardProblems(card), ...framesProblems(readFileSync(join(folder, 'frames.ndjson'), 'utf8'))]
  const origin = isObject(card) && isObject(card.stderr) ? card.stderr.origin : undefined
  const expected = origin === 'recorded' || origin === 'composed'
  if (existsSync(join(folder, 'stderr.txt')) !== expected) {
    problems.push(`stderr.txt: must ${expected ? '' : 'not '}be there when stderr.origin is ${JSON.stringify(origin)}`)
  }
  return problems
}
