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
      sandbox: true,
      dangerouslySkipPermissions: false,
      deadlineMs: 7_200_000,
      stallMs: 600_000,
      toolStallMs: 1_860_000,
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
    deadlineMs: 1,
    stallMs: 2,
    toolStallMs: 3,
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
    [{ deadlineMs: 'soon' }, '"deadlineMs"'],
    [{ stallMs: 0 }, '"stallMs"'],
    [[], 'not a map'],
    ['x', 'not a map'],
    [{ agents: 'x' }, "dsh's own loop"],
  ])('%j', (raw, words) => {
    expect(problemOf(raw)).toContain(words)
    expect(readConfig(raw).loop).toMatchObject({ agents: [] })
  })
})
