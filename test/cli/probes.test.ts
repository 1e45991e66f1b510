/** `dsh-agy probes check` over the recordings of this project, over spoilt copies of them, and over what is none. */
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { probes } from '../../src/cli/probes.ts'
import { dshAgy, said } from '../support/command.ts'
import { privateFolder } from '../support/folders.ts'
import { probeFolder, probeNames } from '../support/probes.ts'

const GOLDEN = join(import.meta.dirname, '..', 'golden')
const check = (...args: string[]) => said(io => probes(['check', ...args], io))

/** A folder with copies of these recordings. */
function copies(...names: readonly string[]): string {
  const folder = privateFolder()
  for (const name of names) cpSync(probeFolder(name), join(folder, name), { recursive: true })
  return folder
}

function linkToItself(): string {
  const link = join(privateFolder(), 'link')
  symlinkSync(link, link)
  return link
}

const append = (folder: string, name: string, frame: object | string): void =>
  appendFileSync(join(folder, name, 'frames.ndjson'), `${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n`)

test('the recordings of this project are known and as before, and leave nothing behind', async () => {
  const temporary = privateFolder()
  const { exitCode, stdout } = await dshAgy(['probes', 'check', '--json'], { env: { TMPDIR: temporary } })
  expect(exitCode).toBe(0)
  const { ok, probes: found, vocabulary } = JSON.parse(String(stdout))
  expect(ok).toBe(true)
  expect(found.map(({ probe }: { probe: string }) => probe)).toEqual(probeNames)
  expect(found).toContainEqual({
    probe: '09-quota',
    version: '1.1.14',
    outcome: 'AGY_QUOTA',
    unknown: [],
    differences: [],
    compared: true,
  })
  expect(vocabulary['1.3.1'].stepTypes).toMatchObject({ finish: expect.any(Number) })
  expect(readdirSync(temporary)).toEqual([])
})

describe('a recording of a new CLI', () => {
  test.each<[string, object | string, string]>([
    ['an event', { event: 'brand_new', brand_new: {} }, 'event "brand_new" ×1'],
    [
      'a step type',
      { event: 'step_update', step_update: { step_index: 90, state: 'DONE', step_type: 'dance' } },
      'step type "dance" ×1',
    ],
    [
      'a state',
      { event: 'step_update', step_update: { step_index: 90, state: 'WAITING', step_type: 'tool' } },
      'state of a "tool" step ×1',
    ],
    [
      'a member',
      { event: 'step_update', step_update: { step_index: 90, state: 'DONE', step_type: 'user_input', mood: 1 } },
      'member "step_update.mood" ×1',
    ],
    ['a line that is no frame', 'hello', 'a line that is no frame: hello'],
  ])('with %s that nobody knows is named and ends with 3', async (_what, frame, words) => {
    const folder = copies('01-text-answer')
    append(folder, '01-text-answer', frame)
    const { code, out } = await check(folder)
    expect(code).toBe(3)
    expect(out).toContain('new         01-text-answer')
    expect(out).toContain(words)
    expect(out).toContain('1 recordings: 1 with something new')
  })

  test('that becomes something else than before is named and ends with 3', async () => {
    const folder = copies('01-text-answer', '09-quota')
    const file = join(folder, '01-text-answer', 'frames.ndjson')
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('HELLO', 'HALLO'))
    const { code, out } = await check(folder, '--golden', GOLDEN)
    expect(code).toBe(3)
    expect(out).toMatch(/events\.jsonl differs from line 1 on: .*HELLO.* became .*HALLO/)
    expect(out).toMatch(/^ok .*09-quota \(1\.1\.14\): AGY_QUOTA; as before$/m)
  })

  test('is no difference where there is nothing to compare with', async () => {
    const { code, out } = await check(copies('09-quota'))
    expect(code).toBe(0)
    expect(out).toContain('AGY_QUOTA; nothing to compare with')
  })

  test('shows its words as a table, one version after the other', async () => {
    const { out } = await check(copies('09-quota', '24-model-500'))
    expect(out).toMatch(/^1\.1\.14 {2}events {6}init result step_update$/m)
    expect(out).toMatch(/^1\.2\.11 {2}states {6}.*DONE$/m)
    expect(out.indexOf('1.1.14  events')).toBeLessThan(out.indexOf('1.2.11  events'))
  })
})

test('one recording can be named by itself', async () => {
  const { code, out } = await check(probeFolder('09-quota'))
  expect(code).toBe(0)
  expect(out).toContain('1 recordings: all known')
})

test('a recording that cannot be read is told beside the others and ends with 3', async () => {
  const folder = copies('01-text-answer', '09-quota')
  writeFileSync(join(folder, '01-text-answer', 'card.json'), '{')
  const { code, out } = await check(folder)
  expect(code).toBe(3)
  expect(out).toContain('unreadable  01-text-answer: RECORDING_UNREADABLE')
  expect(out).toContain('ok          09-quota')
})

test('golden files that cannot be read are told', async () => {
  const golden = privateFolder()
  mkdirSync(join(golden, '09-quota', 'events.jsonl'), { recursive: true })
  const { code, out } = await check(copies('09-quota'), '--golden', golden, '--json')
  expect(code).toBe(3)
  expect(JSON.parse(out).probes[0].differences).toContain('events.jsonl cannot be read (EISDIR)')
})

test.each(['null', '[]', '{"exit": null, "signal": {"value": "SIGNONE"}}'])('a card %s tells nothing', async card => {
  const folder = copies('09-quota')
  writeFileSync(join(folder, '09-quota', 'card.json'), card)
  expect((await check(folder)).out).toContain('09-quota (unknown): AGY_QUOTA')
})

test('the clocks go on afterwards', async () => {
  const before = Date.now()
  await check(copies('09-quota'))
  expect(Date.now()).toBeGreaterThanOrEqual(before)
  await new Promise(resolve => setTimeout(resolve, 1))
})

describe('what is asked wrongly is refused', () => {
  test.each<[string, () => string[], string]>([
    ['no such folder', () => ['/nowhere/at-all'], 'PROBES_MISSING: /nowhere/at-all is no folder'],
    ['a folder without recordings', () => [privateFolder()], 'holds no recording'],
    [
      'golden files that are not there',
      () => [copies('09-quota'), '--golden', '/nowhere/golden'],
      'PROBES_GOLDEN_MISSING: There is no folder /nowhere/golden',
    ],
    [
      'golden files that are a file',
      () => [copies('09-quota'), '--golden', import.meta.filename],
      'PROBES_GOLDEN_MISSING',
    ],
    ['a name that is too long', () => ['x'.repeat(300)], 'is no folder'],
    ['a link to itself', () => [linkToItself()], 'is no folder'],
    ['two folders', () => ['a', 'b'], 'At most one folder'],
  ])('%s', async (_what, args, words) => {
    const { code, out, err } = await check(...args())
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(words)
  })

  test.each([
    [[], 'No action is named'],
    [['dance'], 'There is no action "dance"'],
  ])('the action %j', async (args, words) => {
    const { code, err } = await said(io => probes(args, io))
    expect(code).toBe(1)
    expect(err).toContain(words)
    expect(err).toContain('dsh-agy probes check [folder]')
  })

  test('and --help says it with 0', async () => {
    for (const args of [['--help'], ['check', '--help']]) {
      const { code, out } = await said(io => probes(args, io))
      expect(code).toBe(0)
      expect(out).toContain('dsh-agy probes check [folder]')
    }
  })
})
