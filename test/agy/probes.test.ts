import { describe, expect, test } from 'vitest'
import type { EngineEvent } from '../../src/engine/contract.ts'
import { foldBytes, foldProbe, probeNames, readProbe } from '../support/probes.ts'

/** How each recording ends; a code is a named failure. */
const ENDINGS: Readonly<Record<string, string>> = {
  '01-text-answer': 'completed',
  '02-two-tools': 'completed',
  '03-truncated': 'AGY_CRASHED',
  '04-tool-error-recovered': 'completed',
  '05-denied-action': 'AGY_PERMISSION_DENIED',
  '06-unknown-model': 'AGY_MODEL_UNKNOWN',
  '07-command-and-file': 'completed',
  '08-subagents': 'completed',
  '09-quota': 'AGY_QUOTA',
  '10-denied-canceled': 'AGY_PERMISSION_DENIED',
  '11-agent-terminated': 'AGY_FAILED',
  '12-our-mode-one-turn': 'completed',
  // Interrupted by a signal that was not ours.
  '13-sigint-context-canceled': 'AGY_STOPPED_FROM_OUTSIDE',
  '14-stdin-not-json': 'AGY_FAILED',
  '15-print-timeout': 'AGY_PRINT_TIMEOUT',
  '16-plan-mode-interleaved': 'completed',
  '17-tool-error-result-error': 'completed',
  // A subcommand's answer, without a result.
  '18-command-result-models': 'AGY_CRASHED',
  '19-text-answer-1.1.8': 'completed',
  '20-interrupted': 'AGY_STOPPED_FROM_OUTSIDE',
  '21-denied-but-done-1.3.1': 'AGY_PERMISSION_DENIED',
  '22-not-signed-in': 'AGY_NOT_SIGNED_IN',
  '23-429-retried': 'AGY_QUOTA',
  '24-model-500': 'AGY_API_FAILURE',
  '25-background-command-held': 'completed',
  '26-finish-changes-type': 'completed',
  '27-content-filter': 'completed',
  '28-killed-no-result': 'AGY_CRASHED',
  '29-mcp-tool': 'completed',
  '30-slash-refused': 'AGY_SLASH_COMMAND',
  '31-question-skipped': 'completed',
  '32-hook-denied': 'completed',
  '33-two-turns': 'completed',
  // An excerpt that stops before the result.
  '34-nonzero-exit-is-done': 'AGY_CRASHED',
}

const calls = (events: readonly EngineEvent[]) => events.filter(event => event.type === 'tool-call')
const results = (events: readonly EngineEvent[]) => events.filter(event => event.type === 'tool-result')

test('there is an expected ending for every recording', () => {
  expect(Object.keys(ENDINGS)).toEqual(probeNames)
})

describe.each(probeNames)('%s', name => {
  test('ends as it should', () => {
    const { outcome } = foldProbe(name)
    expect(outcome.kind === 'failed' ? outcome.code : outcome.kind).toBe(ENDINGS[name])
  })

  test('gives each call one id, one announcement before its result, and at most one result', () => {
    const { events } = foldProbe(name)
    const ids = calls(events).map(call => call.id)
    expect(new Set(ids).size).toBe(ids.length)
    const settled = results(events).map(result => result.id)
    expect(new Set(settled).size).toBe(settled.length)
    for (const id of settled) {
      const at = events.findIndex(event => event.type === 'tool-call' && event.id === id)
      expect(at).toBeGreaterThanOrEqual(0)
      expect(at).toBeLessThan(events.findIndex(event => event.type === 'tool-result' && event.id === id))
    }
  })

  test('gives the same events byte by byte as in one piece', () => {
    const { frames } = readProbe(name)
    expect(foldBytes(frames, 1)).toEqual(foldBytes(frames))
  })

  test('tells the whole answer and all tokens of its result', () => {
    const { events, summary } = foldProbe(name)
    if (summary.result === undefined) return
    const { response, usage } = summary.result
    if (response !== '') expect(summary.text).toBe(response)
    if (usage === undefined) return
    const told = events.flatMap(event => (event.type === 'usage' ? [event.usage] : []))
    expect(told.reduce((sum, part) => sum + part.inputTokens, 0)).toBe(usage.input)
    expect(told.reduce((sum, part) => sum + part.outputTokens, 0)).toBe(usage.output)
    // Results of 1.1.8 do not tell what came from the cache.
    if (usage.cacheRead === undefined) return
    expect(told.reduce((sum, part) => sum + (part.cacheReadTokens ?? 0), 0)).toBe(usage.cacheRead)
  })
})

test('a denied call that looked finished is an error', () => {
  for (const name of ['10-denied-canceled', '21-denied-but-done-1.3.1']) {
    expect(results(foldProbe(name).events).at(-1)).toMatchObject({ isError: true })
  }
})

test('a subagent call is closed under the index under which it was opened', () => {
  const [result] = results(foldProbe('08-subagents').events)
  expect(result).toMatchObject({ isError: false, text: expect.stringContaining('Researcher A, research') })
})

test('the reset time of a quota and the name of an unknown model reach the user', () => {
  expect(foldProbe('09-quota').outcome).toMatchObject({ message: expect.stringContaining('100h25m46s') })
  expect(foldProbe('06-unknown-model').outcome).toMatchObject({ message: expect.stringContaining('"does-not-exist"') })
})
