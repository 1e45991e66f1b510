import { appendFileSync, chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compareVersions, parseVersion, VersionBook } from '../../src/agy/version.ts'
import { privateFolder } from '../support/folders.ts'

const ENV = { PATH: process.env.PATH ?? '' }
const never = new AbortController().signal

/** A program that writes down each start and then runs a script. */
function program(script: string): { file: string; starts: () => number; change: () => void } {
  const folder = privateFolder()
  const file = join(folder, 'agy')
  writeFileSync(file, `#!/bin/sh\necho start >> "${folder}/starts"\n${script}\n`)
  chmodSync(file, 0o755)
  return {
    file,
    starts: () => readFileSync(join(folder, 'starts'), 'utf8').trimEnd().split('\n').length,
    change: () => appendFileSync(file, '# updated\n'),
  }
}

test('versions are in the order of their numbers', () => {
  expect(['1.2.10', '1.10.0', '1.2.9'].sort(compareVersions)).toEqual(['1.2.9', '1.2.10', '1.10.0'])
  expect(compareVersions('1.2.3', '1.2.3')).toBe(0)
})

test('a version is a line of its own', () => {
  expect(parseVersion('1.2.7\n')).toBe('1.2.7')
  expect(parseVersion('using profile x\n1.2.7')).toBe('1.2.7')
  for (const output of ['', 'git version 2.43.0', '1.2', 'agy']) expect(parseVersion(output)).toBeUndefined()
})

describe('what a program says of itself decides', () => {
  test.each([
    ['a recorded version', 'echo 1.3.2', undefined],
    ['a newer one', 'echo 1.4.0', 'AGY_VERSION_UNVERIFIED'],
    ['one that fails to tell', 'echo "no keyring" >&2; exit 3', 'AGY_VERSION_UNREAD'],
  ])('%s goes on', async (_what, script, code) => {
    const word = await new VersionBook().check(program(script).file, ENV, never)
    expect(word?.code).toBe(code)
  })

  test.each([
    ['one that is too old', 'echo 1.1.14', 'AGY_TOO_OLD', '1.1.14'],
    ['another program of that name', 'echo "usage: agy <image>"', 'AGY_NOT_AGY', 'usage: agy <image>'],
  ])('%s is refused', async (_what, script, code, words) => {
    await expect(new VersionBook().check(program(script).file, ENV, never)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words),
    })
  })

  test('stdin is closed: a program that reads it does not hang', async () => {
    expect(await new VersionBook().check(program('cat; echo 1.3.2').file, ENV, never)).toBeUndefined()
  })
})

test('a program is asked once, and again when it was replaced', async () => {
  const book = new VersionBook()
  const { file, starts, change } = program('echo 1.3.2')
  await Promise.all([book.check(file, ENV, never), book.check(file, ENV, never)])
  await book.check(file, ENV, never)
  expect(starts()).toBe(1)
  change()
  await book.check(file, ENV, never)
  expect(starts()).toBe(2)
})
