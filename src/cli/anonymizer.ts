/**
 * Replaces what tells of a person or a machine: folders, names, mail addresses, sign-in addresses and ids. The same thing
 * always becomes the same replacement, so that what belongs together still does.
 */
import { MAIL } from '../agy/redact.ts'

/** Whom and what a recording may tell of. */
export interface Surroundings {
  /** Absolute paths, each with what stands in its place. */
  readonly folders: readonly (readonly [path: string, alias: string])[]
  /** Names of the user. */
  readonly users: readonly string[]
  /** Names of the machine. */
  readonly hosts: readonly string[]
  /** Ids that are known as such, whatever they look like. */
  readonly ids: readonly string[]
}

/** What was replaced, in the plural, with how many different ones there were. */
export type Replaced = Readonly<Record<string, number>>

interface Rule {
  readonly kind: string
  /** Without flags: all rules become one pattern, which takes no notice of case. */
  readonly pattern: RegExp
  readonly alias: (found: string, count: number) => string
  /** A bare word, which may stand for something else in a word of the CLI. */
  readonly isName?: true
}

interface Span {
  readonly start: number
  readonly end: number
  readonly alias: string
}

/** Replaces by the rules of one recording. */
export class Anonymizer {
  private readonly rules: readonly Rule[]
  private readonly everything: RegExp
  private readonly withoutNames: RegExp
  private readonly aliases = new Map<string, Map<string, string>>()

  constructor(surroundings: Surroundings) {
    this.rules = rulesFor(surroundings)
    this.everything = oneOf(this.rules, true)
    this.withoutNames = oneOf(this.rules, false)
  }

  /** How many different things of each kind were replaced. */
  get replaced(): Replaced {
    return Object.fromEntries([...this.aliases].map(([kind, aliases]) => [kind, aliases.size]))
  }

  /**
   * @param names - whether bare names are replaced too; a word of the CLI could be one of them.
   */
  text(text: string, names = true): string {
    return this.pieces([text], names)[0] ?? ''
  }

  /**
   * A text that arrived in pieces, which may cut through what is to be replaced.
   *
   * @returns as many pieces; a replacement stands where what it replaces began.
   */
  pieces(pieces: readonly string[], names = true): string[] {
    const text = pieces.join('')
    const spans = this.spansIn(text, names)
    let offset = 0
    return pieces.map(piece => {
      const [from, to] = [offset, offset + piece.length]
      offset = to
      let clean = ''
      let at = from
      for (const { start, end, alias } of spans) {
        if (end <= from || start >= to) continue
        if (start >= at) clean += text.slice(at, start)
        if (start >= from) clean += alias
        at = Math.min(end, to)
      }
      return clean + text.slice(at, to)
    })
  }

  private spansIn(text: string, names: boolean): Span[] {
    return [...text.matchAll(names ? this.everything : this.withoutNames)].map(match => {
      const rule = this.rules.find((_rule, at) => match.groups?.[groupOf(at)] !== undefined) as Rule
      const [found] = match
      return { start: match.index, end: match.index + found.length, alias: this.aliasOf(rule, found) }
    })
  }

  private aliasOf({ kind, alias }: Rule, found: string): string {
    const known = this.aliases.get(kind) ?? new Map<string, string>()
    this.aliases.set(kind, known)
    const key = found.toLowerCase()
    const made = known.get(key) ?? alias(found, known.size + 1)
    known.set(key, made)
    return made
  }
}

const groupOf = (at: number): string => `rule${at}`

/** One pattern for all rules: where two begin at one place, the one that stands first wins. */
const oneOf = (rules: readonly Rule[], names: boolean): RegExp =>
  new RegExp(
    rules
      .map(({ pattern, isName }, at) => (isName && !names ? undefined : `(?<${groupOf(at)}>${pattern.source})`))
      .filter(source => source !== undefined)
      .join('|'),
    'giu',
  )

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Ways in which frames may write a path: as it is, in an address, as a part of one, or with its backslashes doubled. */
const SPELLINGS: readonly ((path: string) => string)[] = [
  path => path,
  encodeURI,
  encodeURIComponent,
  path => path.replaceAll('\\', '\\\\'),
  path => path.replaceAll('\\', '/'),
]

/** Words that say nothing of anybody. */
const PLAIN: ReadonlySet<string> = new Set(['user', 'host', 'localhost', 'root'])

const nameRule = (kind: string, names: readonly string[], alias: string): Rule[] => {
  const telling = names.filter(name => name.length > 1 && !PLAIN.has(name.toLowerCase()))
  if (telling.length === 0) return []
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${telling.map(literally).join('|')})(?![\\p{L}\\p{N}])`, 'u')
  return [{ kind, pattern, alias: () => alias, isName: true }]
}

const numbered = (count: number, length: number): string => String(count).padStart(length, '0')

function rulesFor({ folders, users, hosts, ids }: Surroundings): Rule[] {
  const longestFirst = folders
    .filter(([path]) => path.length > 1)
    .flatMap(([path, alias]) => SPELLINGS.map(spell => [spell(path), spell(alias)] as const))
    .sort(([a], [b]) => b.length - a.length)
  return [
    { kind: 'sign-in addresses', pattern: /https?:\/\/accounts\.google\.com\/\S*/, alias: () => '<sign-in address>' },
    ...longestFirst.map(
      ([path, alias]): Rule => ({
        kind: 'folders',
        // A folder beside it may have its name with something behind.
        pattern: new RegExp(`${literally(path)}(?![\\p{L}\\p{N}])`, 'u'),
        alias: () => alias,
      }),
    ),
    {
      kind: 'users in paths',
      pattern:
        /(?<=\/(?:home|Users)\/|%2F(?:home|Users)%2F|\\Users\\|\\\\Users\\\\|%5CUsers%5C)(?:[^/\\\s"':%]|%(?!2F|5C|3A|2[27]))+/,
      alias: (_found, count) => `user-${count}`,
    },
    {
      kind: 'mail addresses',
      pattern: MAIL,
      alias: (_found, count) => `user-${count}@example.com`,
    },
    {
      kind: 'ids',
      pattern: /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/,
      alias: (_found, count) => `00000000-0000-4000-8000-${numbered(count, 12)}`,
    },
    ...ids.map(
      (id): Rule => ({
        kind: 'ids',
        pattern: new RegExp(`(?<!\\w)${literally(id)}(?!\\w)`),
        alias: (_found, count) => `id-${count}`,
      }),
    ),
    // Digests, and keys that look like them.
    {
      kind: 'ids',
      pattern: /(?<!\w)(?=[0-9a-f]*\d)[0-9a-f]{24,}(?!\w)/,
      alias: (found, count) => numbered(count, found.length),
    },
    ...nameRule('host names', hosts, 'host'),
    ...nameRule('user names', users, 'user'),
  ]
}
