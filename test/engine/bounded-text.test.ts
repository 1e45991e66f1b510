import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundedText } from '../../src/engine/bounded-text.ts'

test('a text within the bound is left alone', () => {
  expect(boundedText('äöü', 6)).toBe('äöü')
})

test('head and tail are kept, and the cut is counted', () => {
  expect(boundedText(`${'a'.repeat(50)}${'b'.repeat(50)}`, 20)).toBe(
    `${'a'.repeat(10)}\n[… 80 bytes cut …]\n${'b'.repeat(10)}`,
  )
})

test('no character is cut in two, and what is kept is of the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 20, maxLength: 60 }), fc.nat({ max: 30 }), (text, max) => {
      const bounded = boundedText(text, max)
      if (bounded === text) return
      const [head = '', tail = ''] = bounded.split(/\n\[… \d+ bytes cut …\]\n/)
      expect(text.startsWith(head)).toBe(true)
      expect(text.endsWith(tail)).toBe(true)
      expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(max)
      const cut = Number(/\[… (\d+) bytes/.exec(bounded)?.[1])
      expect(cut).toBe(Buffer.byteLength(text) - Buffer.byteLength(head) - Buffer.byteLength(tail))
    }),
  )
})
