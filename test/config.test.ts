import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'

const problemOf = (raw: unknown) => {
  const { engine } = readConfig(raw)
  return 'problem' in engine ? engine.problem : undefined
}

test('an empty row has safe defaults', () => {
  for (const raw of [undefined, null, {}, { agents: [] }]) {
    expect(readConfig(raw).engine).toEqual({
      env: {},
      approvals: 'cli',
      approvalTimeoutMs: 1_800_000,
      steering: 'interrupt',
      auxiliary: 'agy',
      deadlineMs: 7_200_000,
      firstFrameMs: 120_000,
      stallMs: 600_000,
      toolStallMs: 1_860_000,
      exitGraceMs: 2_000,
      killGraceMs: 2_000,
      maxLineBytes: 16_777_216,
      maxStderrBytes: 16_384,
      maxToolResultBytes: 262_144,
      maxChildren: 8,
      startGapMs: 500,
      prestart: { max: 0, idleMs: 60_000 },
      transcript: { maxBytes: 188_000, maxToolResultBytes: 16_000, overflow: 'file' },
    })
  }
})

test('every key is taken', () => {
  const config = {
    bin: '/bin/agy',
    env: { A: '1', B: null },
    model: 'm',
    mode: 'accept-edits',
    effort: 'high',
    sandbox: false,
    dangerouslySkipPermissions: true,
    approvals: 'cli',
    approvalTimeoutMs: 82_800_000,
    steering: 'queue',
    auxiliary: 'off',
    deadlineMs: 1,
    firstFrameMs: 4,
    stallMs: 2,
    toolStallMs: 3,
    exitGraceMs: 0,
    killGraceMs: 0,
    maxLineBytes: 5,
    maxStderrBytes: 6,
    maxToolResultBytes: 7,
    maxChildren: 1,
    startGapMs: 0,
    prestart: { max: 2, idleMs: 8 },
    transcript: { maxBytes: 20_000, maxToolResultBytes: 1, overflow: 'drop' },
  }
  expect(readConfig(config).engine).toEqual(config)
})

describe('what is wrong is refused by its key, and the loop of dsh still has its part', () => {
  test.each([
    [{ modle: 'x' }, '"modle"'],
    [{ bin: 7 }, '"bin"'],
    [{ env: { A: 1 } }, '"env"'],
    [{ env: 'A=1' }, '"env"'],
    [{ model: {} }, '"model"'],
    [{ effort: 'extreme' }, '"effort"'],
    [{ mode: 'yolo' }, '"mode"'],
    [{ mode: 'plan' }, 'approves its own plan'],
    [{ sandbox: 'yes' }, '"sandbox"'],
    [{ dangerouslySkipPermissions: 1 }, '"dangerouslySkipPermissions"'],
    [{ approvals: 'dsh' }, '"approvals"'],
    [{ approvalTimeoutMs: 82_800_001 }, '"approvalTimeoutMs"'],
    [{ approvals: 'host', dangerouslySkipPermissions: false }, '"approvals: host"'],
    [{ auxiliary: true }, '"auxiliary"'],
    [{ steering: 'wheel' }, '"steering"'],
    [{ deadlineMs: 'soon' }, '"deadlineMs"'],
    [{ stallMs: 0 }, '"stallMs"'],
    [{ killGraceMs: -1 }, '"killGraceMs"'],
    [{ transcript: { maxBytes: 191_000 } }, '"transcript"'],
    [{ transcript: { maxBytes: 19_999 } }, '"transcript"'],
    [{ transcript: { overflow: 'sink' } }, '"transcript"'],
    [{ transcript: { maxbytes: 100_000 } }, '"transcript"'],
    [{ maxChildren: 0 }, '"maxChildren"'],
    [{ maxLineBytes: 1.5 }, '"maxLineBytes"'],
    [{ deadlineMs: 2 ** 31 }, '"deadlineMs"'],
    [[], 'not a map'],
    ['x', 'not a map'],
    [{ agents: 'x' }, "dsh's own loop"],
  ])('%j', (raw, words) => {
    expect(problemOf(raw)).toContain(words)
    expect(readConfig(raw).loop).toMatchObject({ agents: [] })
  })
})
