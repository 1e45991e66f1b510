/** Cuts a text to a number of bytes, so that both of its ends are kept and the cut is said. */

/**
 * @param text - any text.
 * @param maxBytes - longest result in UTF-8 bytes, without the word on the cut.
 * @returns the text, or its head and its tail with the number of bytes between them.
 */
export function boundedText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const half = Math.floor(maxBytes / 2)
  const head = wholeCharacters(bytes.subarray(0, half))
  const tail = wholeCharacters(bytes.subarray(bytes.length - half))
  const cut = bytes.length - Buffer.byteLength(head) - Buffer.byteLength(tail)
  return `${head}\n[… ${cut} bytes cut …]\n${tail}`
}

/** A cut may fall inside a character: what is left of it at either end is no character. */
function wholeCharacters(bytes: Buffer): string {
  let start = 0
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  let end = bytes.length
  let last = end - 1
  while (last > start && ((bytes[last] ?? 0) & 0xc0) === 0x80) last -= 1
  const lead = bytes[last] ?? 0
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  if (last + length > end) end = last
  return bytes.toString('utf8', start, end)
}
