/** Takes what must not be shown out of the CLI's own words before they enter a message. */

/** A mail address, as it is written or percent-encoded. Looked for from the start of a run of its characters: else long runs take long. */
export const MAIL =
  /(?<![\p{L}\p{M}\p{N}._%+-])[\p{L}\p{M}\p{N}._%+-]+(?:@|%40)[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*\.\p{L}[\p{L}\p{M}\p{N}-]+/u

const RULES: readonly (readonly [RegExp, string])[] = [
  // A sign-in address carries a one-time code.
  [/https?:\/\/accounts\.google\.com\/\S*/gi, '<sign-in address>'],
  [/\bya29\.[\w.-]+|\bAIza[\w-]{20,}|\b1\/\/[\w-]{20,}|\b4\/0[\w-]{8,}|\bBearer\s+[\w.~+/-]+=*/g, '<credential>'],
  [/\beyJ[\w-]{8,1000}\.[\w.-]+|\b(?:sk|pk|gh[a-z]|github_pat|GOCSPX|xox[a-z])[-_][\w-]{16,}/g, '<credential>'],
  [/(?<=[a-z]:\/\/)[^\s/@"']+@/gi, '<credential>@'],
  [new RegExp(MAIL, 'gu'), '<mail address>'],
]

/**
 * @param text - any text from the CLI.
 * @param home - the user's home folder, shown as `~`.
 */
export function redact(text: string, home: string | undefined): string {
  let clean = text
  if (home !== undefined && home.length > 1) clean = clean.replaceAll(home, '~')
  for (const [pattern, replacement] of RULES) clean = clean.replace(pattern, replacement)
  return clean
}

/** Shortest value that is taken for a secret: shorter ones would be found in every text. */
export const SHORTEST = 4

/** What opens an address: a password, and what stands in the place of one, or of a name, and is no word. */
function openingOf(value: string, isProxy: boolean): string[] {
  // A password may hold an @, and that of a proxy a slash: an address of a proxy has no path.
  const [, opening = ''] = (isProxy ? /\/\/(\S+)@/ : /\/\/([^\s/]+)@/).exec(value) ?? []
  const [first = '', ...rest] = opening.split(':')
  const password = rest.join(':')
  return [...(password === '' || /^(?=.*\d).{12,}$/.test(first) ? [first] : []), password]
}

/**
 * Values of an environment that must not be shown wherever they come up: those under the name of a secret, and what opens an
 * address.
 */
export function secretsIn(env: Readonly<Record<string, string | null>>): readonly string[] {
  const values = Object.entries(env).flatMap(([name, value]) => {
    if (value === null) return []
    return [...(/KEY|TOKEN|SECRET|PASSW/i.test(name) ? [value] : []), ...openingOf(value, /PROXY/i.test(name))]
  })
  return values.filter(value => value.length >= SHORTEST).sort((a, b) => b.length - a.length)
}

/** What a program said, without what its environment, a home folder or its shape tell of. To be cut afterwards: a piece has no shape. */
export const saidBy = (text: string, env: Readonly<Record<string, string>>): string =>
  redact(without(text, secretsIn(env)), env.HOME)

/** A text without values that must not be shown. */
export const without = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((clean, secret) => clean.replaceAll(secret, '<credential>'), text)
