/** `dsh-agy validate` over files as dsh leaves them on disk, and over files that it never wrote. */
import { constants as bufferConstants } from 'node:buffer'
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { packChunkRuns, type SessionEvent } from '@deepseek-ai/dsh-session'
import { describe, expect, test } from 'vitest'
import { readLog } from '../../src/cli/log-file.ts'
import { validate } from '../../src/cli/validate.ts'
import { dshAgy } from '../support/command.ts'
import { privateFolder } from '../support/folders.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const HEADER = { type: 'session', version: 0, id: 's', createdAt: 1, delegationDepth: 0 }
const place = { turn: 1, step: 1 }
const delta = (text: string) => ({
  type: 'assistant/chunk',
  data: { ...place, chunk: { type: 'text-delta', index: 0, text } },
})
const EVENTS = [
  { type: 'turn/start', data: { turn: 1 } },
  { type: 'step/start', data: place },
  ...['a', 'b', 'ü', '\u2028'].map(delta),
  {
    type: 'assistant/message',
    data: { ...place, message: { role: 'assistant', content: [{ type: 'text', text: 'abü\u2028' }] } },
    surfaceOp: 'append',
    sourceEventSeqs: [2, 3, 4, 5],
  },
  { type: 'step/end', data: place },
  { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } },
].map((event, seq) => ({ seq, time: 10 + seq, ...event }))

const lines = (...records: readonly object[]): string => records.map(record => `${JSON.stringify(record)}\n`).join('')
const frame = (text: string | Buffer): Buffer =>
  zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })

/** A file of its own with this content; its path. */
function fileOf(content: string | Buffer, name = 'session.jsonl'): string {
  const file = join(privateFolder(), name)
  writeFileSync(file, content)
  return file
}

async function run(...args: string[]) {
  const out: string[] = []
  const err: string[] = []
  const code = await validate(args, { out: line => out.push(line), err: line => err.push(line) })
  return { code, out, err: err.join('\n') }
}

const VALID = 'valid: 9 events, 1 turn'

describe('a log is read as dsh stored it', () => {
  test('plain', async () => {
    const file = fileOf(lines(HEADER, ...EVENTS))
    expect(await readLog(file)).toEqual({ header: HEADER, events: EVENTS, torn: false })
    expect(await run(file)).toEqual({ code: 0, out: [VALID], err: '' })
  })

  test('with its runs of chunks packed', async () => {
    const rows = packChunkRuns(EVENTS as unknown as SessionEvent[])
    expect(rows.length).toBeLessThan(EVENTS.length)
    expect((await readLog(fileOf(lines(HEADER, ...rows)))).events).toEqual(EVENTS)
  })

  test('in one zstd frame for each write, under any name', async () => {
    const frames = [lines(HEADER), lines(...EVENTS.slice(0, 3)), lines(...EVENTS.slice(3))].map(frame)
    for (const name of ['session.jsonl.zstd', 'copy-of-a-log']) {
      const file = fileOf(Buffer.concat(frames), name)
      expect(await readLog(file)).toEqual({ header: HEADER, events: EVENTS, torn: false })
      expect(await run(file)).toEqual({ code: 0, out: [VALID], err: '' })
    }
  })
})

describe('an end that a crash cut off is left out and told', () => {
  test('a line', async () => {
    const file = fileOf(lines(HEADER, ...EVENTS).slice(0, -9))
    expect(await readLog(file)).toEqual({ header: HEADER, events: EVENTS.slice(0, -1), torn: true })
    const { code, out, err } = await run(file)
    expect([code, out]).toEqual([0, ['valid: 8 events, 1 turn']])
    expect(err).toContain('cut off')
    expect((await run(file, '--complete')).out[0]).toContain('open-tail at seq 7: step/end')
  })

  test('a zstd frame, wherever it is cut', async () => {
    const whole = Buffer.concat([frame(lines(HEADER)), frame(lines(...EVENTS.slice(0, 3)))])
    const last = frame(lines(...EVENTS.slice(3)))
    for (let kept = 1; kept < last.length; kept += 1) {
      const { events, torn } = await readLog(fileOf(Buffer.concat([whole, last.subarray(0, kept)])))
      expect(torn).toBe(true)
      expect(events.length).toBeGreaterThanOrEqual(3)
      expect(events).toEqual(EVENTS.slice(0, events.length))
    }
  })
})

describe('what is no log is refused with what is wrong, where, and the way out', () => {
  const damagedFrame = () => {
    const bytes = frame(lines(...EVENTS))
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 0xff, bytes.length - 1)
    return bytes
  }
  test.each<[string, string | Buffer, string]>([
    ['nothing', '', 'line 1 is no session header. Name a session.jsonl'],
    ['a header without its line end', JSON.stringify(HEADER), 'line 1 is no session header'],
    ['other text', 'garbage\n', 'line 1 is no session header'],
    ['other JSON lines', lines({ type: 'turn/start' }), 'line 1 is no session header'],
    [
      'a line that is no JSON',
      `${lines(HEADER, ...EVENTS)}{"type"\n`,
      'line 11 is no JSON. Take the file from a backup',
    ],
    ['an empty line', `${lines(HEADER)}\n${lines(...EVENTS)}`, 'line 2 is no JSON'],
    ['a line that is no event', lines(HEADER, { type: 'turn/start' }), 'line 2 is no event: it has no type or no seq'],
    ['a damaged row of chunks', lines(HEADER, { type: 'text-chunks' }), 'line 2 is no event: malformed text-chunks'],
    ['a damaged zstd frame', Buffer.concat([frame(lines(HEADER)), damagedFrame()]), 'zstd frame at byte '],
    ['bytes after a zstd frame', Buffer.concat([frame(lines(HEADER)), Buffer.from('garbage')]), 'zstd frame at byte '],
  ])('%s', async (_, content, told) => {
    const file = fileOf(content)
    await expect(readLog(file)).rejects.toMatchObject({ code: 'LOG_UNREADABLE' })
    const { code, out, err } = await run(file)
    expect([code, out]).toEqual([1, []])
    expect(err).toContain(`LOG_UNREADABLE: ${file} is no readable dsh session log: `)
    expect(err).toContain(told)
  })

  test('a log that is larger than a text can be', async () => {
    const file = fileOf(lines(HEADER))
    truncateSync(file, bufferConstants.MAX_STRING_LENGTH + 1)
    const { code, err } = await run(file)
    expect(code).toBe(1)
    expect(err).toMatch(/^LOG_UNREADABLE: .* it has \d+ bytes, more than can be looked at/m)
  })

  test('a missing file, a folder, a link to itself, and a name that is too long', async () => {
    const link = join(privateFolder(), 'session.jsonl')
    symlinkSync(link, link)
    for (const path of [join(privateFolder(), 'session.jsonl'), privateFolder(), link, 'x'.repeat(5000)]) {
      const { code, out, err } = await run(path)
      expect([code, out]).toEqual([1, []])
      expect(err).toContain(path)
      expect(err).toContain('Name a session.jsonl')
    }
  })
})

describe('broken rules', () => {
  test('are told of what is nested deep, too', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const event = `{"type":"user/message","seq":0,"time":1,"data":{},"surfaceOp":${deep}}`
    const { code, out } = await run(fileOf(`${lines(HEADER)}${event}\n`))
    expect(code).toBe(3)
    expect(out.join('\n')).toContain('nested too deep')
  })

  const broken = () =>
    fileOf(lines(HEADER, { type: 'turn/start', seq: 0, data: { turn: 2 } }, { type: 'agy/thing', seq: 1 }))

  test('are told line by line and end with 3', async () => {
    const { code, out, err } = await run(broken())
    expect(code).toBe(3)
    expect(out).toEqual([
      expect.stringMatching(/^turn-start-number at seq 0: turn\/start .+; expected: .+/),
      expect.stringMatching(/^known-event-type at seq 1: agy\/thing .+; expected: .+/),
      'invalid: 2 violations',
    ])
    expect(err).toBe('')
  })

  test('are one JSON object on request', async () => {
    const { code, out } = await run(broken(), '--json', '--complete')
    expect(code).toBe(3)
    expect(out).toHaveLength(1)
    expect(JSON.parse(out[0] ?? '')).toMatchObject({
      valid: false,
      events: 2,
      turns: 1,
      torn: false,
      violations: [{ rule: 'turn-start-number', seq: 0 }, { rule: 'known-event-type' }, { rule: 'open-tail', seq: 1 }],
    })
  })
})

describe('a folder of sessions', () => {
  const sessions = (logs: Readonly<Record<string, string | Buffer>>): string => {
    const folder = privateFolder()
    for (const [path, content] of Object.entries(logs)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    return folder
  }
  const valid = lines(HEADER, ...EVENTS)
  const invalid = lines(HEADER, { type: 'turn/start', seq: 0, data: { turn: 2 } })

  test('is one line for each log, packed or not, and a sum', async () => {
    const folder = sessions({
      'p/a/session.jsonl': valid,
      'p/b/session.jsonl.zstd': frame(valid),
      'p/b/notes.txt': 'no log',
    })
    expect(await run(folder)).toEqual({
      code: 0,
      out: [
        `p/a/session.jsonl: ${VALID}`,
        `p/b/session.jsonl.zstd: ${VALID}`,
        '2 logs: 2 valid, 0 invalid, 0 unreadable',
      ],
      err: '',
    })
  })

  test.each([
    ['invalid', { 'a/session.jsonl': invalid, 'b/session.jsonl': valid, 'c/session.jsonl': 'x' }, 3],
    ['unreadable', { 'b/session.jsonl': valid, 'c/session.jsonl': 'x' }, 1],
  ])('ends with the code of the worst, which is %s', async (_what, logs, expected) => {
    const { code, out } = await run(sessions(logs))
    expect(code).toBe(expected)
    expect(out.at(-1)).toMatch(/1 valid, \d invalid, 1 unreadable$/)
    expect(out).toContainEqual(
      expect.stringMatching(/^c\/session\.jsonl: unreadable: LOG_UNREADABLE: .*no session header/),
    )
  })

  test('whose links lead in a circle ends, and counts each log once', async () => {
    const folder = sessions({ 'a/session.jsonl': valid, 'b/notes.txt': 'no log' })
    for (const name of ['self', 'a/up', 'b/up', 'b/other']) symlinkSync(folder, join(folder, name))
    expect((await run(folder)).out).toEqual([`a/session.jsonl: ${VALID}`, '1 log: 1 valid, 0 invalid, 0 unreadable'])
  })

  test('with a log that cannot be looked at tells the others', async () => {
    const folder = sessions({ 'a/notes.txt': '', 'b/session.jsonl': valid })
    symlinkSync(join(folder, 'a/session.jsonl'), join(folder, 'a/session.jsonl'))
    const { code, out } = await run(folder)
    expect(code).toBe(1)
    expect(out[0]).toMatch(/^a\/session\.jsonl: unreadable: LOG_UNREADABLE: .*ELOOP/)
    expect(out[1]).toBe(`b/session.jsonl: ${VALID}`)
  })

  test('whose reader leaves early is looked through all the same', async () => {
    const logs = Array.from({ length: 2000 }, (_, at) => [`s${at}/session.jsonl`, valid] as const)
    const folder = sessions({ ...Object.fromEntries(logs), 'z/session.jsonl': invalid })
    const child = dshAgy(['validate', folder], { buffer: { stdout: false } })
    child.stdout?.once('data', () => child.stdout?.destroy())
    const { exitCode, stderr } = await child
    expect(exitCode).toBe(3)
    expect(stderr).not.toContain('Error')
  })

  test('tells the first broken rule of a log, and a cut end', async () => {
    const { out } = await run(sessions({ 'a/session.jsonl': invalid, 'b/session.jsonl': `${valid}{"to` }))
    expect(out[0]).toBe('a/session.jsonl: invalid: 1 violation, the first: turn-start-number at seq 0')
    expect(out[1]).toContain('; its last line is cut off')
  })

  test('is one JSON object on request', async () => {
    const { code, out } = await run(sessions({ 'a/session.jsonl': invalid, 'b/session.jsonl': 'x' }), '--json')
    expect(code).toBe(3)
    expect(JSON.parse(out[0] ?? '')).toMatchObject({
      valid: 0,
      invalid: 1,
      unreadable: 1,
      logs: [
        { file: 'a/session.jsonl', valid: false, violations: [{ rule: 'turn-start-number' }] },
        { file: 'b/session.jsonl', code: 'LOG_UNREADABLE' },
      ],
    })
  })
})

describe('wrong usage ends with 1 and says what the command takes', () => {
  test.each([[[]], [['one', 'two']], [['--loud', 'one']]])('%j', async args => {
    const { code, out, err } = await run(...args)
    expect([code, out]).toEqual([1, []])
    expect(err).toContain('dsh-agy validate <log or folder> [--complete] [--json]')
  })

  test('and --help says it with 0', async () => {
    const { code, out } = await run('--help')
    expect(code).toBe(0)
    expect(out.join('\n')).toContain('dsh-agy validate <log or folder>')
  })
})

describe('the command itself', () => {
  const command = (...args: string[]) => dshAgy(args)

  test('hands over to validate with its exit code', async () => {
    const { exitCode, stdout } = await command('validate', fileOf(lines(HEADER, ...EVENTS)))
    expect([exitCode, stdout]).toEqual([0, VALID])
    expect((await command('validate')).exitCode).toBe(1)
    expect((await command('validate', fileOf(lines(HEADER, ...EVENTS.slice(1))))).exitCode).toBe(3)
  })

  test('tells its version and its commands', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    expect((await command('--version')).stdout).toBe(version)
    const { exitCode, stdout } = await command('--help')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('validate')
  })

  test.each([[[]], [['frobnicate']], [['constructor']]])(
    'ends with 1 and the list of commands after %j',
    async args => {
      const { exitCode, stdout, stderr } = await command(...args)
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).toContain('validate')
    },
  )
})
