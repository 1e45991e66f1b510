/**
 * Names how a run ended, once, from everything that is known of it.
 *
 * Neither the exit code nor the status alone decides: the CLI exits 0 after denials, timeouts and some quota failures,
 * and reports ERROR after answers that are whole. Texts were read from the recordings in `probes/` and from public
 * issue trackers (agy 1.1.8 to 1.3.3, 2026-12-01).
 */
import type { EngineEvent, Outcome } from '../engine/contract.ts'
import type { FoldSummary } from './fold.ts'
import { redact } from './redact.ts'
import type { Limit } from './run-clock.ts'
import type { AgyResult } from './wire.ts'

/** How the child left. */
export interface ChildExit {
  readonly code?: number
  readonly signal?: string
  /** It had not left by then, and we ended it. */
  readonly endedByUs?: true
}

/** Everything that the naming looks at. */
export interface RunFacts extends FoldSummary {
  readonly exit: ChildExit
  /** End of what the child wrote to stderr. */
  readonly stderr: string
  /** Why we stopped the child, if we did. */
  readonly stoppedBy?: 'abort' | 'hopeless' | Limit
  /** End of the CLI's own log, where some causes stand alone. */
  readonly log?: string
  /** The user's home folder, which must not be shown. */
  readonly home?: string
}

/** The outcome, and what a person may want to know beside it. */
export interface NamedOutcome {
  readonly outcome: Outcome
  readonly notices: readonly Extract<EngineEvent, { type: 'notice' }>[]
}

type Failed = Extract<Outcome, { kind: 'failed' }>

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

const PRINT_TIMEOUT_ON_STDERR = /print timeout after/i
const DENIAL_ON_STDERR = /a tool required the "([^"]+)" permission/i

const failed = (code: string, message: string, retryable: boolean, hint: string): Failed => ({
  kind: 'failed',
  code,
  message,
  retryable,
  hint,
})

/** Last `AGY_ERROR: {json}` line, which 1.2.6 and later write for API failures; its members beside short_error are undocumented. */
function apiError(stderr: string): { text: string; retryable?: boolean } | undefined {
  const line = stderr.split('\n').findLast(candidate => candidate.startsWith('AGY_ERROR:'))
  if (line === undefined) return undefined
  try {
    const value: unknown = JSON.parse(line.slice('AGY_ERROR:'.length))
    if (typeof value !== 'object' || value === null) return undefined
    const { short_error, retryable } = value as { short_error?: unknown; retryable?: unknown }
    return {
      text: typeof short_error === 'string' ? short_error : line,
      ...(typeof retryable === 'boolean' ? { retryable } : {}),
    }
  } catch {
    return { text: line }
  }
}

function namedCause(text: string, retryable?: boolean): Failed | undefined {
  for (const cause of CAUSES) {
    const match = cause.pattern.exec(text.trim())
    if (match) return failed(cause.code, cause.message(match), retryable ?? cause.retryable, cause.hint)
  }
  return undefined
}

const QUOTA_UNTIL_RESET = /quota reached.*resets in/is

/**
 * Whether the CLI has said that no further try can succeed before a quota is reset. Some versions go on trying all the
 * same, for 45 to 150 s (1.2.1 and later; public issue tracker, 2026-10).
 */
export const isHopeless = (stderr: string): boolean => QUOTA_UNTIL_RESET.test(stderr)

/** What the CLI said of a failure, in the order in which it is to be trusted. */
function failureFromWords(error: string | undefined, stderr: string): Failed | undefined {
  const api = apiError(stderr)
  return (
    (error === undefined ? undefined : namedCause(error, api?.retryable)) ??
    (api === undefined ? undefined : namedCause(api.text, api.retryable)) ??
    namedCause(stderr)
  )
}

/** The error lines of the CLI's log, which is in the form of Go's glog: `E0912 10:11:12.345 123 run.go:389] words`. */
function complaints(log: string | undefined): string {
  return (log ?? '')
    .split('\n')
    .filter(line => /^E\d{4} /.test(line))
    .join('\n')
}

function lastComplaint({ log, home }: RunFacts): string {
  const words = complaints(log)
    .split('\n')
    .at(-1)
    ?.replace(/^E\d{4} [^\]]*\] ?/, '')
  return words ? ` Its log says: ${redact(words, home).slice(0, 500)}` : ''
}

function denied(facts: RunFacts, result: AgyResult): readonly string[] {
  if (result.deniedActions.length > 0) return result.deniedActions
  const named = DENIAL_ON_STDERR.exec(facts.stderr)?.[1]
  if (named !== undefined) return [named]
  return result.status === 'CANCELED' && result.response === '' ? ['unnamed'] : []
}

const permissionDenied = (actions: readonly string[]): Failed =>
  failed(
    'AGY_PERMISSION_DENIED',
    `The run stopped because a tool needed a permission that headless agy cannot ask for (${actions.join(', ')}).`,
    false,
    "Allow it in the CLI's own settings, or set dangerouslySkipPermissions for this deployment.",
  )

function fromResult(facts: RunFacts, result: AgyResult): NamedOutcome {
  const words = redact(result.error ?? '', facts.home)
  const completed = (...notices: [code: string, message: string][]): NamedOutcome => ({
    outcome: { kind: 'completed' },
    notices: notices.map(([code, message]) => ({ type: 'notice', code, message })),
  })
  const failure = (outcome: Failed): NamedOutcome => ({ outcome, notices: [] })
  const answered = result.response.trim() !== '' || facts.text.trim() !== ''
  const actions = denied(facts, result)

  if (PRINT_TIMEOUT_ON_STDERR.test(facts.stderr)) {
    return failure(namedCause('print timeout after') as Failed)
  }
  if (result.status === 'SUCCESS' || result.status === 'CANCELED') {
    if (actions.length > 0 && !(answered && result.status === 'SUCCESS')) return failure(permissionDenied(actions))
    if (result.status === 'CANCELED') {
      return failure(
        failed('AGY_CANCELED', 'The CLI canceled the run without giving a reason.', true, 'Send the message again.'),
      )
    }
    if (actions.length > 0) {
      return completed([
        'AGY_PERMISSION_DENIED',
        `A tool was denied because headless agy cannot ask (${actions.join(', ')}).`,
      ])
    }
    if (answered) return completed()
    if (facts.toolSucceeded)
      return completed(['AGY_NO_TEXT', 'The run ended after its last tool without a closing text.'])
    return failure(
      failed('AGY_NO_OUTPUT', 'The CLI reported success but did nothing.', true, 'Send the message again.'),
    )
  }

  const cause = failureFromWords(result.error, facts.stderr) ?? namedCause(complaints(facts.log))
  const recovered = facts.toolErrors.some(
    message => message !== '' && (result.error?.includes(message.slice(0, 200)) ?? false),
  )
  if (result.response.trim() !== '' && (recovered || cause?.code === 'AGY_CONTENT_FILTER')) {
    return completed(['AGY_RECOVERED', `The CLI reports an error that its answer got over: ${words.slice(0, 500)}`])
  }
  return failure(
    cause ??
      failed(
        'AGY_FAILED',
        `The CLI ended with ${result.status}${words === '' ? '' : `: ${words.slice(0, 1000)}`}${lastComplaint(facts)}`,
        true,
        'Send the message again.',
      ),
  )
}

function withoutResult(facts: RunFacts): Failed {
  const cause = failureFromWords(undefined, facts.stderr) ?? namedCause(complaints(facts.log))
  if (cause !== undefined) return cause
  const { code, signal } = facts.exit
  const how = signal === undefined ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`
  const tail = redact(facts.stderr, facts.home).trim().slice(-1000)
  const said = tail === '' ? lastComplaint(facts) : ` Its last words: ${tail}`
  if (!facts.understood && code === 0) {
    return failed(
      'AGY_PROTOCOL',
      `The program ended with ${how} without one frame that this version understands.${said}`,
      false,
      'Check that the configured program is agy 1.1.15 or later.',
    )
  }
  if (facts.exit.endedByUs) {
    return failed(
      'AGY_CRASHED',
      `The CLI closed its output before it finished, and had to be ended.${said}`,
      true,
      'Send the message again.',
    )
  }
  if (signal !== undefined) {
    return failed(
      'AGY_KILLED',
      `The CLI was killed before it finished (${how}).${said}`,
      true,
      'Send the message again.',
    )
  }
  return failed('AGY_CRASHED', `The CLI ended before it finished (${how}).${said}`, true, 'Send the message again.')
}

const LIMIT_REACHED: Readonly<Record<Limit, Failed>> = {
  deadline: failed(
    'AGY_DEADLINE',
    'The run took longer than it may and was stopped.',
    true,
    'Ask for less at once, or raise deadlineMs.',
  ),
  'first-frame': failed(
    'AGY_START_STALLED',
    'The CLI said nothing after its start and was stopped.',
    true,
    'Send the message again; if the CLI starts slow MCP servers, raise firstFrameMs.',
  ),
  stall: failed(
    'AGY_STALLED',
    'The CLI was silent for longer than it may be and was stopped.',
    true,
    'Send the message again, or raise stallMs and toolStallMs.',
  ),
}

/**
 * Name the ending of one run.
 *
 * @param facts - the frames in sum, both ends of the child, and what we did to it.
 */
export function nameOutcome(facts: RunFacts): NamedOutcome {
  const only = (outcome: Outcome): NamedOutcome => ({ outcome, notices: [] })
  if (facts.stoppedBy === 'abort') return only({ kind: 'aborted' })
  if (facts.stoppedBy !== undefined && facts.stoppedBy !== 'hopeless') return only(LIMIT_REACHED[facts.stoppedBy])
  // Our stop made the frames say "interrupted"; the cause stands on stderr.
  if (facts.stoppedBy === 'hopeless') return only(withoutResult(facts))
  return facts.result === undefined ? only(withoutResult(facts)) : fromResult(facts, facts.result)
}
