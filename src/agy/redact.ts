/** Takes what must not be shown out of the CLI's own words before they enter a message. */

const RULES: readonly (readonly [RegExp, string])[] = [
  // A sign-in address carries a one-time code.
  [/https?:\/\/accounts\.google\.com\/\S*/gi, '<sign-in address>'],
  [/\bya29\.[\w.-]+|\bAIza[\w-]{20,}|\b1\/\/[\w-]{20,}|\bBearer\s+[\w.~+/-]+=*/g, '<credential>'],
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '<mail address>'],
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
