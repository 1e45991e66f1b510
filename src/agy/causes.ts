/**
 * Causes of a failure that the CLI tells in words, by the words.
 *
 * Read from the recordings in `probes/` and from public issue trackers (agy 1.1.8 to 1.3.3, 2026-12-01).
 */
import type { Outcome } from '../engine/contract.ts'

/** An outcome that is a named failure. */
export type Failed = Extract<Outcome, { kind: 'failed' }>

/** @param hint - what to do about it. */
export const failed = (code: string, message: string, retryable: boolean, hint: string): Failed => ({
  kind: 'failed',
  code,
  message,
  retryable,
  hint,
})

interface Cause {
  readonly code: string
  readonly pattern: RegExp
  readonly retryable: boolean
  readonly message: (match: RegExpExecArray) => string
  readonly hint: string
}

/** The listed names that share most of their words with the asked one; the CLI lists them below the refusal. */
function nearNames(asked: string, refusal: string): string[] {
  const words = (name: string): string[] => name.toLowerCase().match(/[a-z]+|[0-9.]+/g) ?? []
  const wanted = new Set(words(asked))
  const listed = refusal
    .split('\n')
    .slice(1)
    .filter(line => line.startsWith('  '))
  return listed
    .map(line => ({ name: line.trim(), shared: words(line).filter(word => wanted.has(word)).length }))
    .filter(({ shared }) => shared > 0)
    .sort((a, b) => b.shared - a.shared)
    .slice(0, 3)
    .map(({ name }) => name)
}

/** Causes that the CLI tells in words, the most telling first. */
const CAUSES: readonly Cause[] = [
  {
    code: 'AGY_NOT_SIGNED_IN',
    pattern: /authentication (?:failed|required|timed out)|please sign in|not logged in/i,
    retryable: false,
    message: () => 'The Antigravity CLI is not signed in.',
    hint: 'Run `agy` once in a terminal and sign in, then send the message again.',
  },
  {
    code: 'AGY_ACCOUNT_BLOCKED',
    pattern: /verify your account|terms of service/i,
    retryable: false,
    message: () => 'Google has blocked the account or wants it to be verified.',
    hint: 'Run `agy` in a terminal and follow what it says.',
  },
  {
    code: 'AGY_CREDITS',
    pattern: /credits balance is too low/i,
    retryable: false,
    message: () => 'The balance of AI credits is too low.',
    hint: 'Buy credits or wait for the next period.',
  },
  {
    code: 'AGY_QUOTA',
    pattern: /quota reached|resource_exhausted|resource has been exhausted|error 429|code 429|usage limit/i,
    retryable: false,
    message: match => {
      const reset = /resets in ([0-9hms]+)/i.exec(match.input)?.[1]
      return `The subscription's quota is used up${reset === undefined ? '' : `; it resets in ${reset}`}.`
    },
    hint: 'Wait for the reset, or pick a model of another family: each family has its own quota.',
  },
  {
    code: 'AGY_MODEL_UNKNOWN',
    pattern: /invalid model selection \(--model "([^"]*)"|model (\S+) is not recognized/i,
    retryable: false,
    message: match => {
      const asked = match[1] ?? match[2] ?? ''
      const near = nearNames(asked, match.input)
      return `The CLI does not know the model "${asked}".${near.length === 0 ? '' : ` Near it are ${near.join(', ')}.`}`
    },
    hint: 'Pick a model from the list of `agy models`.',
  },
  {
    code: 'AGY_EFFORT_CONFLICT',
    pattern: /conflicts with --effort|invalid --effort|--effort is not supported/i,
    retryable: false,
    message: () => 'The CLI refused the effort for this model.',
    hint: 'Leave effort out, or choose the model whose name carries it.',
  },
  {
    code: 'AGY_LOCATION',
    pattern: /user location is not supported/i,
    retryable: false,
    message: () => 'Google does not offer the service at this location.',
    hint: 'Check the proxy settings that the CLI sees.',
  },
  {
    code: 'AGY_HOME_MISSING',
    pattern: /\$HOME is not defined/i,
    retryable: false,
    message: () => 'The CLI was started without a home folder.',
    hint: "Set HOME for dsh, or in the engine's env.",
  },
  {
    code: 'AGY_CONTENT_FILTER',
    pattern: /blocked by content safety filters/i,
    retryable: false,
    message: () => 'The answer was blocked by a content filter.',
    hint: 'Word the request differently.',
  },
  {
    code: 'AGY_PRINT_TIMEOUT',
    pattern: /timeout waiting for response|print timeout after/i,
    retryable: true,
    message: () => 'The CLI gave up waiting for the model by its own time limit.',
    hint: 'Send the message again.',
  },
  {
    code: 'AGY_STOPPED_FROM_OUTSIDE',
    pattern: /^(?:interrupted|context canceled)$/i,
    retryable: true,
    message: () => 'The CLI was interrupted from outside.',
    hint: 'Send the message again.',
  },
  {
    code: 'AGY_SLASH_COMMAND',
    pattern: /is answered by the CLI itself/i,
    retryable: false,
    message: () => 'The CLI took the message for one of its own commands.',
    hint: 'Update agy: this version does not honour --disable-slash-commands.',
  },
  {
    code: 'AGY_FLAGS_REFUSED',
    pattern: /flags? provided but not defined|flag needs an argument|took "[^"]*" as its prompt/i,
    retryable: false,
    message: () => 'The CLI does not know a flag that it was started with.',
    hint: 'Update agy; version 1.1.15 is the oldest that can be driven.',
  },
  {
    code: 'AGY_API_FAILURE',
    pattern: /unavailable|error 50\d|code 50\d|internal error|no capacity/i,
    retryable: true,
    message: () => "The model's service failed.",
    hint: 'Send the message again, or pick another model.',
  },
]

/**
 * The cause that a text tells, if it tells one.
 *
 * @param retryable - what the CLI says of it, where it says so.
 */
export function namedCause(text: string, retryable?: boolean): Failed | undefined {
  for (const cause of CAUSES) {
    const match = cause.pattern.exec(text.trim())
    if (match) return failed(cause.code, cause.message(match), retryable ?? cause.retryable, cause.hint)
  }
  return undefined
}
