import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FrameParser } from '../../src/agy/frames.ts'
import { LineSplitter, type Lines } from '../../src/agy/lines.ts'

/** The lines one by one, without the blank ones. */
function split(bytes: Buffer, pieceSize: number, maxBytes?: number): Lines[] {
  const splitter = new LineSplitter(maxBytes)
  const told: Lines[] = []
  for (let at = 0; at < bytes.length; at += pieceSize) told.push(...splitter.push(bytes.subarray(at, at + pieceSize)))
  return [...told, ...splitter.end()].flatMap((lines): Lines[] => {
    if ('droppedBytes' in lines) return [lines]
    const filled = lines.text.split('\n').filter(text => text.trim() !== '')
    // Blank ones among others are the parser's to leave out.
    expect(filled).not.toEqual([])
    return filled.map(text => ({ text }))
  })
}

describe('lines', () => {
  const stream = Buffer.from('{"a":"é\u2028\u2029"}\r\n\n  \n{"b":"漢字"}\n{"c":1}')

  test.each([1, 2, 3, 7, 1000])('are cut at LF alone, whatever the pieces (%i bytes)', size => {
    expect(split(stream, size)).toEqual([
      { text: '{"a":"é\u2028\u2029"}\r' },
      { text: '{"b":"漢字"}' },
      { text: '{"c":1}' },
    ])
  })

  test('are the same however the bytes are cut', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 12 }).map(text => text.replaceAll('\n', ' '))
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.integer({ min: 1, max: 30 }),
        fc.boolean(),
        (lines, size, ended) => {
          const bytes = Buffer.from(lines.join('\n') + (ended ? '\n' : ''))
          const max = 16
          const expected = lines.flatMap((text): Lines[] => {
            if (Buffer.byteLength(text) > max) return [{ droppedBytes: Buffer.byteLength(text) }]
            return text.trim() === '' ? [] : [{ text }]
          })
          expect(split(bytes, size, max)).toEqual(expected)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('a line over the bound is dropped and named, and the next one is whole', () => {
    const long = Buffer.from(`${'x'.repeat(50)}\n{"a":1}\n`)
    for (const size of [1, 8, 1000]) expect(split(long, size, 20)).toEqual([{ droppedBytes: 50 }, { text: '{"a":1}' }])
  })
})

describe('frames', () => {
  const parser = new FrameParser()
  const parse = (text: string) => parser.parse([{ text }])[0]

  test('an object is a frame', () => {
    expect(parse('{"a":"\u2028"}\r')).toEqual({ value: { a: '\u2028' } })
  })

  test.each(['Fetching available models...', 'null', '[1]', '{"a":', '"x"'])(
    '%s is a problem, and the next line is read',
    text => {
      expect(parse(text)).toEqual({ problem: text })
      expect(parse('{"b":2}')).toEqual({ value: { b: 2 } })
    },
  )

  test('a batch gives one frame for each line, in order, whatever they are', () => {
    const batch = ['{"a":1}', 'noise', '{"b":', '{"b":', '{"c":3}', ' {"d":4}', 'null', '{"e":5}']
    const frames = parser.parse([...batch.map(text => ({ text })), { droppedBytes: 7 }])
    expect(frames).toEqual([
      { value: { a: 1 } },
      { problem: 'noise' },
      { problem: '{"b":' },
      { problem: '{"b":' },
      { value: { c: 3 } },
      { value: { d: 4 } },
      { problem: 'null' },
      { value: { e: 5 } },
      { problem: 'a line of 7 bytes, which is too long' },
    ])
    expect(parser.parse([])).toEqual([])
  })

  test('a block is the same as its lines one by one, blank ones left out', () => {
    const line = fc.oneof(
      fc.json({ maxDepth: 2 }).map(json => `{"a":${json}}`),
      fc.constantFrom(
        '',
        '  ',
        '\r',
        'null',
        '{',
        '{}',
        '{"a":1}\r',
        ' {"b":2}',
        '{"a":1}{"b":2}',
        '{"a":"\u2028"}',
        '[{}]',
        'noise',
      ),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), lines => {
        const filled = lines.filter(text => text.trim() !== '')
        expect(parser.parse([{ text: lines.join('\n') }])).toEqual(filled.map(parse))
      }),
      { numRuns: 2_000 },
    )
  })

  test('what is nested too deeply is cut off, in a block too', () => {
    const deep = `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)}}`
    const frames = parser.parse([{ text: `{"b":1}\n${deep}\n{"c":2}` }])
    expect([frames[0], frames[2]]).toEqual([{ value: { b: 1 } }, { value: { c: 2 } }])
    expect(JSON.stringify(frames[1])).toMatch(/^\{"value":\{"a":\[{199}"…"/)
  })

  test('a dropped line and a long one are told shortly', () => {
    expect(parser.parse([{ droppedBytes: 9 }])[0]).toEqual({ problem: 'a line of 9 bytes, which is too long' })
    expect(parse('x'.repeat(500))).toEqual({ problem: `${'x'.repeat(120)}…` })
  })
})
