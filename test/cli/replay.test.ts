/** `dsh-agy replay` over every recording, and over what is none. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CallId, createToolResultMessage } from '@deepseek-ai/dsh-llm'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { playingChild, readRecording } from '../../src/cli/recording.ts'
import { exitCode, replay, summarize } from '../../src/cli/replay.ts'
import { openReplayHost } from '../../src/cli/replay-host.ts'
import { privateFolder } from '../support/folders.ts'
import { foldProbe, probeFolder, probeNames } from '../support/probes.ts'

async function run(...args: string[]) {
  const out: string[] = []
  const err: string[] = []
  const code = await replay(args, { out: line => out.push(line), err: line => err.push(line) })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

// The command leaves its log for the reader; here nobody reads it afterwards.
beforeEach(() => {
  vi.stubEnv('TMPDIR', privateFolder())
  return () => {
    vi.unstubAllEnvs()
  }
})

describe.each(probeNames)('%s', name => {
  test('is told as one object that agrees with the recording', async () => {
    const { code, out } = await run(probeFolder(name), '--json')
    const told = JSON.parse(out)
    const { outcome, events, summary } = foldProbe(name)
    expect(told).toMatchObject({ outcome, text: summary.result?.response || summary.text, valid: true, violations: [] })
    expect(code).toBe(outcome.kind === 'completed' ? 0 : 2)
    expect(told.segments.join('')).toBe(told.text)
    const calls = events.filter(event => event.type === 'tool-call')
    expect(told.tools).toEqual(
      calls.map(({ id, name: tool, arguments: args }) => {
        const result = events.find(event => event.type === 'tool-result' && event.id === id)
        // A call that the recording leaves open is closed by the host's words for it.
        const settled =
          result?.type === 'tool-result'
            ? { result: result.text, isError: result.isError }
            : { result: expect.stringMatching(/outcome is unknown/i), isError: true }
        return { id, name: tool, arguments: args, ...settled }
      }),
    )
    expect(readFileSync(told.log, 'utf8').trimEnd().split('\n').length).toBeGreaterThan(3)
  })
})

test('a person reads the conversation, the usage, the ending and where the log is', async () => {
  const { code, out } = await run(probeFolder('07-command-and-file'))
  expect(code).toBe(0)
  expect(out).toMatch(/tool bash .*\n {2}result\n {4}total 32/)
  expect(out).toContain('### Summary')
  expect(out).toContain('usage: 42272 tokens in')
  expect(out).toMatch(/ended: completed\nlog: .*session\.jsonl\nlog valid$/)
})

test('a person reads why a run failed and what to do', async () => {
  const { code, out } = await run(probeFolder('09-quota'))
  expect(code).toBe(2)
  expect(out).toContain('notice AGY_MODEL_CALL_FAILED')
  expect(out).toMatch(/ended: AGY_QUOTA: .*100h25m46s.*Wait for the reset/)
})

test('a file of frames alone is a recording too', async () => {
  const file = join(privateFolder(), 'caught.ndjson')
  writeFileSync(file, readFileSync(join(probeFolder('01-text-answer'), 'frames.ndjson')))
  expect(await run(file, '--json')).toMatchObject({ code: 0 })
})

test('a log that breaks a rule is told and ends with 3', async () => {
  const host = await openReplayHost()
  onTestFinished(() => host.close())
  const playback = await host.play(() => playingChild(readRecording(probeFolder('01-text-answer'))))
  const stray = createToolResultMessage({
    callId: CallId('nobody'),
    content: [{ type: 'text', text: '' }],
    isError: true,
  })
  playback.session.append(
    'tool/result',
    { turn: 1, step: 1, message: stray },
    { surfaceOp: 'append', sourceEventSeqs: [1] },
  )
  await host.ctx.sessions.flush(playback.session)
  const told = await summarize(playback, host.logOf(playback.session))
  expect(told.violations.map(({ rule }) => rule)).toContain('step-scope')
  expect(exitCode(told)).toBe(3)
})

describe('what is no recording', () => {
  test.each([
    ['nothing of that name', () => '/nowhere/at-all', 'nothing of that name'],
    ['a folder without frames', () => privateFolder(), 'no frames.ndjson'],
    [
      'a folder whose card is broken',
      () => {
        const folder = privateFolder()
        writeFileSync(join(folder, 'frames.ndjson'), '')
        writeFileSync(join(folder, 'card.json'), '{')
        return folder
      },
      'JSON',
    ],
  ])('%s is named', async (_what, make, words) => {
    const path = make()
    const { code, err } = await run(path)
    expect(code).toBe(1)
    expect(err).toContain(`RECORDING_UNREADABLE: ${path}`)
    expect(err).toContain(words)
  })

  test('no operand, two operands and an unknown option end with 1 and the usage', async () => {
    for (const args of [[], ['a', 'b'], ['--frobnicate', 'a']]) {
      const { code, err } = await run(...args)
      expect(code).toBe(1)
      expect(err).toContain('dsh-agy replay <frames.ndjson or probe folder>')
    }
  })
})
