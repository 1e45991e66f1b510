/**
 * Names how a run ended, once, from everything that is known of it.
 *
 * Neither the exit code nor the status alone decides: the CLI exits 0 after denials, timeouts and some quota failures,
 * and reports ERROR after answers that are whole. Texts were read from the recordings in `probes/` and from public
 * issue trackers (agy 1.1.8 to 1.3.3, 2026-12-01).
 */
import type { EngineEvent, Outcome } from '../engine/contract.ts'
import { type Failed, failed, namedCause } from './causes.ts'
import type { FoldSummary } from './fold.ts'
import type { Breach } from './hooks/gated-calls.ts'
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
  readonly stoppedBy?: 'abort' | 'hopeless' | 'breach' | Limit
  /** The gate did not hold; we stopped the child for that. */
  readonly breach?: Breach
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

const PRINT_TIMEOUT_ON_STDERR = /print timeout after/i
const DENIAL_ON_STDERR = /a tool required the "([^"]+)" permission/i

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
    'Set approvals to "host", so that dsh asks you, or allow it in the CLI\'s own settings.',
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

const breached = ({ code, message }: Breach): Failed =>
  failed(code, message, false, 'Look at what changed. Set approvals to "cli", or use another version of the CLI.')

/**
 * Name the ending of one run.
 *
 * @param facts - the frames in sum, both ends of the child, and what we did to it.
 */
export function nameOutcome(facts: RunFacts): NamedOutcome {
  const only = (outcome: Outcome): NamedOutcome => ({ outcome, notices: [] })
  // It says what may have happened, so it is told whatever else there is to tell.
  if (facts.breach !== undefined) return only(breached(facts.breach))
  if (facts.stoppedBy === 'abort') return only({ kind: 'aborted' })
  if (facts.stoppedBy !== undefined && facts.stoppedBy in LIMIT_REACHED) {
    return only(LIMIT_REACHED[facts.stoppedBy as Limit])
  }
  // Our stop made the frames say "interrupted"; the cause stands on stderr.
  if (facts.stoppedBy === 'hopeless') return only(withoutResult(facts))
  return facts.result === undefined ? only(withoutResult(facts)) : fromResult(facts, facts.result)
}
