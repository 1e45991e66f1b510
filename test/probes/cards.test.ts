import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cardProblems, framesProblems, probeProblems } from './card-rules.ts'

const PROBES = join(import.meta.dirname, '..', '..', 'probes')
const names = readdirSync(PROBES)
  .filter(name => /^\d\d-/.test(name))
  .sort()

const soundCard = (): Record<string, unknown> =>
  JSON.parse(readFileSync(join(PROBES, '10-denied-canceled', 'card.json'), 'utf8'))

/** A sound probe of one's own to spoil. */
function copyOfProbe(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'probe-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(join(PROBES, name), folder, { recursive: true })
  return folder
}

describe('the recorded probes', () => {
  it('are 34, numbered without a gap', () => {
    expect(names.map(name => Number(name.slice(0, 2)))).toEqual(Array.from({ length: 34 }, (_, index) => index + 1))
  })

  it.each(names)('%s has a sound card, whole frames and stderr where the card says so', name => {
    expect(probeProblems(join(PROBES, name))).toEqual([])
  })

  it.each(names)('%s holds nothing else', name => {
    const others = readdirSync(join(PROBES, name)).filter(
      file => !['card.json', 'frames.ndjson', 'stderr.txt'].includes(file),
    )
    expect(others).toEqual([])
  })

  it('stand in the table of the README, each once', () => {
    const rows = readFileSync(join(PROBES, 'README.md'), 'utf8').matchAll(/^\| `(\d\d-[^`]+)` +\|/gm)
    expect([...rows].map(row => row[1])).toEqual(names)
  })
})

describe('the rules for a card', () => {
  it('accept a sound card', () => {
    expect(cardProblems(soundCard())).toEqual([])
  })

  it('reject a card with a missing member', () => {
    const { outcome: _, ...card } = soundCard()
    expect(cardProblems(card)).toEqual(['outcome: is missing'])
  })

  it('reject a nested object with a missing member', () => {
    expect(cardProblems({ ...soundCard(), exit: { value: 0 } })).toEqual(['exit.origin: is missing'])
  })

  it('reject a wrong origin', () => {
    expect(cardProblems({ ...soundCard(), exit: { value: 0, origin: 'guessed' } })).toEqual([
      'exit.origin: must be one of "recorded", "composed", "unknown"',
    ])
    expect(cardProblems({ ...soundCard(), exit: { value: 0, origin: 'recorded-empty' } })).toHaveLength(1)
  })

  it('reject an unknown member', () => {
    expect(cardProblems({ ...soundCard(), verbatim: true })).toEqual(['verbatim: is not a member of a card'])
  })

  it('accept a timing at the end, and reject one that is none', () => {
    const timing = { firstFrameMs: 3, durationMs: 5 }
    expect(cardProblems({ ...soundCard(), timing })).toEqual([])
    expect(cardProblems({ ...soundCard(), timing: { ...timing, durationMs: -1 } })).toEqual([
      'timing.durationMs: must be milliseconds',
    ])
    expect(cardProblems({ timing, ...soundCard() })).toEqual(['members are out of order'])
  })

  it('reject members out of order', () => {
    const { shows, ...rest } = soundCard()
    expect(cardProblems({ ...rest, shows })).toEqual(['members are out of order'])
  })

  it('reject a value whose origin is unknown', () => {
    expect(cardProblems({ ...soundCard(), exit: { value: 1, origin: 'unknown' } })).toEqual([
      'exit.origin: is unknown although there is a value',
    ])
  })

  it.each([
    ['agyVersion', 'new'],
    ['recorded', 'yesterday'],
    ['platform', 'Windows'],
    ['frames', 'synthetic'],
    ['edits', ''],
    ['argv', { value: '--model x', origin: 'recorded' }],
    ['exit', { value: '1', origin: 'recorded' }],
    ['signal', { value: 'SIGHUP', origin: 'recorded' }],
    ['source', { repository: 'somewhere', path: 'a', commit: '' }],
    ['source', { repository: 'unnamed', path: '/tmp/a', commit: '' }],
  ])('reject %s as %j', (member, value) => {
    expect(cardProblems({ ...soundCard(), [member]: value })).toHaveLength(1)
  })

  it.each([null, [], 'card'])('reject %j, which is no card at all', card => {
    expect(cardProblems(card)).not.toEqual([])
  })
})

describe('the rules for a folder', () => {
  it('reject a stderr.txt that the card does not know of', () => {
    const folder = copyOfProbe('01-text-answer')
    writeFileSync(join(folder, 'stderr.txt'), 'error: interrupted\n')
    expect(probeProblems(folder)).toEqual(['stderr.txt: must not be there when stderr.origin is "unknown"'])
  })

  it('reject a card that promises a stderr.txt', () => {
    const folder = copyOfProbe('10-denied-canceled')
    rmSync(join(folder, 'stderr.txt'))
    expect(probeProblems(folder)).toEqual(['stderr.txt: must be there when stderr.origin is "recorded"'])
  })

  it('reject frames that are not one JSON object a line', () => {
    expect(framesProblems('{}\n[]\n{\n\n')).toEqual([
      'frames.ndjson: line 2 is no object',
      'frames.ndjson: line 3 is no JSON',
      'frames.ndjson: line 4 is no JSON',
    ])
    expect(framesProblems('{}')).toEqual(['frames.ndjson: the last line has no end'])
  })
})
