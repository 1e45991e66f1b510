/**
 * Looks for what has the shape of a secret. Secretlint's rules know the tokens of most services; what they leave out, and
 * what this CLI is likely to tell of, stands here.
 */
import { lintSource } from '@secretlint/core'
import { rules as presetRules } from '@secretlint/secretlint-rule-preset-recommend'

/** A text that is looked through. */
export interface Suspect {
  /** Where it stands, for people; it is shown. */
  readonly where: string
  readonly text: string
}

/** Something that has the shape of a secret. What it says is not told. */
export interface SecretFound {
  readonly kind: string
  readonly where: string
}

/** A comment in a text must not be able to switch the rules off, so the rule that obeys such comments is left out. */
const SERVICES = presetRules
  .filter(({ meta }) => !meta.id.includes('filter-comments'))
  .map(rule => ({ id: rule.meta.id, rule, options: {} }))

const SHAPES: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['Google API key', /\bAIza[\w-]{30,}/g],
  ['Google OAuth token', /\bya29\.[\w.-]{10,}/g],
  ['Google refresh token', /(?<![\w/:])1\/\/[\w-]{20,}/g],
  ['Google sign-in code', /(?<![\w/])4\/0[\w-]{20,}/g],
  ['Google client secret', /\bGOCSPX-[\w-]{20,}/g],
  ['API key', /\b(?:sk|pk|rk)[-_][\w-]{20,}/g],
  ['AWS access key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ['JSON web token', /\beyJ[\w-]{8,1000}\.[\w-]{8,}/g],
  ['bearer token', /\b(?:Bearer|Basic)\s+[\w.~+/-]{16,}=*/gi],
  ['private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/g],
  ['password in an address', /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@"']+:[^\s/@"']+@/gi],
  [
    'secret with its name',
    /(?:api[_-]?key|secret|token|passw(?:or)?d|credential)s?["']?\s*[:=]\s*["']?(?=[^\s"',;]{0,200}\d)(?=[^\s"',;]{0,200}[a-z])[^\s"',;()]{12,}/gi,
  ],
]

/** Long runs of letters and digits, as keys are: how long, and from how many bits a character on. */
const RUNS: readonly (readonly [pattern: RegExp, bits: number])[] = [
  [/[\w+=-]{32,}/g, 4.0],
  [/[\w+/=-]{40,}/g, 4.55],
]

const MOST_SLASHES = 3

/** Bits a character (Shannon). */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts.values()].reduce((bits, count) => bits - (count / text.length) * Math.log2(count / text.length), 0)
}

const isRandom = (run: string, bits: number): boolean =>
  [/[a-z]/, /[A-Z]/, /\d/].every(kind => kind.test(run)) &&
  run.split('/').length - 1 <= MOST_SLASHES &&
  entropyOf(run) >= bits

/**
 * Look through texts.
 *
 * @param known - values that are secrets whatever their shape.
 * @returns what was found, each place and kind once, in the order of the texts.
 */
export async function findSecrets(suspects: readonly Suspect[], known: readonly string[] = []): Promise<SecretFound[]> {
  const found = new Map<string, SecretFound>()
  const note = (kind: string, where: string): void => void found.set(`${where}\0${kind}`, { kind, where })
  for (const { where, text } of suspects) {
    for (const [kind, pattern] of SHAPES) if (text.search(pattern) >= 0) note(kind, where)
    if (known.some(secret => text.includes(secret))) note('secret of the environment', where)
    for (const [pattern, bits] of RUNS) {
      if ((text.match(pattern) ?? []).some(run => isRandom(run, bits))) note('long random text', where)
    }
  }
  for (const [kind, at] of await knownToServices(suspects.map(({ text }) => text))) {
    note(kind, suspects[at]?.where ?? '')
  }
  return [...found.values()]
}

/** All texts at once, since each look costs as much as the set-up of all rules. */
async function knownToServices(texts: readonly string[]): Promise<(readonly [kind: string, at: number])[]> {
  const starts: number[] = []
  let length = 0
  for (const text of texts) {
    starts.push(length)
    length += text.length + 1
  }
  const { messages } = await lintSource({
    source: { filePath: 'recording', content: texts.join('\n'), ext: '', contentType: 'text' },
    options: { noPhysicFilePath: true, maskSecrets: true, config: { rules: SERVICES } },
  })
  return messages.map(({ messageId, range }) => {
    const kind = messageId.toLowerCase().replaceAll('_', ' ')
    return [
      kind,
      Math.max(
        0,
        starts.findLastIndex(start => start <= range[0]),
      ),
    ] as const
  })
}
