import { describe, expect, test } from 'vitest'
import { nameOutcome, type RunFacts } from '../../src/agy/outcome.ts'
import { redact } from '../../src/agy/redact.ts'
import type { AgyResult } from '../../src/agy/wire.ts'

const facts = (more: Partial<RunFacts> = {}): RunFacts => ({
  text: '',
  understood: true,
  toolSucceeded: false,
  toolErrors: [],
  exit: { code: 0 },
  stderr: '',
  ...more,
})
const result = (more: Partial<AgyResult>): AgyResult => ({
  status: 'SUCCESS',
  response: '',
  deniedActions: [],
  ...more,
})
const codeOf = (more: Partial<RunFacts>) => {
  const { outcome } = nameOutcome(facts(more))
  return outcome.kind === 'failed' ? outcome.code : outcome.kind
}

describe('an ending is named by everything together', () => {
  test.each<[string, Partial<RunFacts>, string]>([
    [
      'our own stop wins over what the CLI says of it',
      { stoppedBy: 'abort', result: result({ status: 'ERROR', error: 'interrupted' }) },
      'aborted',
    ],
    ['our deadline', { stoppedBy: 'deadline' }, 'AGY_DEADLINE'],
    [
      'our bound of silence',
      { stoppedBy: 'stall', result: result({ status: 'ERROR', error: 'interrupted' }) },
      'AGY_STALLED',
    ],
    [
      'a quota that no try can get over',
      {
        stoppedBy: 'hopeless',
        stderr: 'API error: Individual quota reached. Resets in 2h18m58s.',
        result: result({ status: 'ERROR', error: 'interrupted' }),
      },
      'AGY_QUOTA',
    ],
    ['an answer', { result: result({ response: 'x' }) }, 'completed'],
    ['success that did nothing', { result: result({}) }, 'AGY_NO_OUTPUT'],
    ['success after tools, without words', { toolSucceeded: true, result: result({}) }, 'completed'],
    ['a denial that exits 0', { result: result({ deniedActions: ['command'] }) }, 'AGY_PERMISSION_DENIED'],
    [
      'a denial told by stderr alone',
      { stderr: 'jetski: a tool required the "command" permission', result: result({}) },
      'AGY_PERMISSION_DENIED',
    ],
    ['an answer beside a denial', { result: result({ response: 'x', deniedActions: ['command'] }) }, 'completed'],
    [
      'a partial answer at the print timeout',
      {
        stderr: '[agy] print timeout after 5s with turn in progress; returning partial output',
        result: result({ response: 'x' }),
      },
      'AGY_PRINT_TIMEOUT',
    ],
    [
      'an error that the answer got over',
      { toolErrors: ['no such file'], result: result({ status: 'ERROR', response: 'x', error: 'tool: no such file' }) },
      'completed',
    ],
    [
      'an error with some other cause beside text',
      { result: result({ status: 'ERROR', response: 'x', error: 'boom' }) },
      'AGY_FAILED',
    ],
    [
      'a quota that exits 0',
      { result: result({ status: 'ERROR', error: 'API error: RESOURCE_EXHAUSTED (code 429)' }) },
      'AGY_QUOTA',
    ],
    [
      'credits',
      { result: result({ status: 'ERROR', error: 'Your AI credits balance is too low to continue.' }) },
      'AGY_CREDITS',
    ],
    [
      'AGY_ERROR on stderr names the cause',
      {
        stderr: 'AGY_ERROR: {"short_error":"UNAVAILABLE (code 503): No capacity","retryable":false}',
        result: result({ status: 'ERROR', error: 'Agent execution terminated due to error.' }),
      },
      'AGY_API_FAILURE',
    ],
    [
      'signed out, by stderr alone',
      { exit: { code: 1 }, stderr: "Error: authentication required. Run 'agy' to log in, then retry." },
      'AGY_NOT_SIGNED_IN',
    ],
    ['no home', { exit: { code: 1 }, stderr: 'Failed to start: $HOME is not defined' }, 'AGY_HOME_MISSING'],
    [
      'a flag that this version lacks',
      { exit: { code: 2 }, stderr: 'flags provided but not defined: -x' },
      'AGY_FLAGS_REFUSED',
    ],
    ['a crash', { exit: { code: 134 } }, 'AGY_CRASHED'],
    ['killed by somebody else', { exit: { signal: 'SIGKILL' } }, 'AGY_KILLED'],
    ['another program', { understood: false, exit: { code: 0 } }, 'AGY_PROTOCOL'],
  ])('%s', (_what, more, code) => {
    expect(codeOf(more)).toBe(code)
  })

  test('retryable is what AGY_ERROR says', () => {
    const stderr = 'AGY_ERROR: {"short_error":"UNAVAILABLE (code 503)","retryable":false}'
    const { outcome } = nameOutcome(
      facts({ stderr, result: result({ status: 'ERROR', error: 'Agent execution terminated due to error.' }) }),
    )
    expect(outcome).toMatchObject({ retryable: false })
  })
})

test('secrets, addresses and the home folder never enter a message', () => {
  const planted =
    '/home/ada/x https://accounts.google.com/o/oauth2?code=4 ya29.abc-DEF ada@example.com Bearer abc.def=='
  const { outcome } = nameOutcome(facts({ exit: { code: 1 }, stderr: planted, home: '/home/ada' }))
  expect(JSON.stringify(outcome)).not.toMatch(/ada|oauth2|ya29|abc\.def/)
  expect(redact('nothing to hide', undefined)).toBe('nothing to hide')
})
