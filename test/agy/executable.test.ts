import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findExecutable } from '../../src/agy/executable.ts'
import { privateFolder } from '../support/folders.ts'

function program(folder: string, name = 'agy', mode = 0o755): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  writeFileSync(file, '#!/bin/sh\n')
  chmodSync(file, mode)
  return file
}
const refusal = (code: string) => expect.objectContaining({ code })

test('the pin wins, PATH comes next, then the install place', async () => {
  const root = privateFolder()
  const pinned = program(join(root, 'pinned dir é'))
  const onPath = program(join(root, 'path'))
  const installed = program(join(root, 'home', '.local', 'bin'))
  const env = { PATH: join(root, 'path'), HOME: join(root, 'home') }
  expect(await findExecutable(pinned, env)).toBe(pinned)
  expect(await findExecutable(undefined, env)).toBe(onPath)
  expect(await findExecutable(undefined, { ...env, PATH: '' })).toBe(installed)
})

test('a name may be pinned, and a link is followed', async () => {
  const root = privateFolder()
  symlinkSync(program(join(root, 'real')), join(root, 'agy-beta'))
  expect(await findExecutable('agy-beta', { PATH: root })).toBe(join(root, 'agy-beta'))
})

test('a folder of that name, or a file without the run bit, is passed over on PATH', async () => {
  const root = privateFolder()
  mkdirSync(join(root, 'a', 'agy'), { recursive: true })
  program(join(root, 'b'), 'agy', 0o644)
  const real = program(join(root, 'c'))
  expect(await findExecutable(undefined, { PATH: ['a', 'b', 'c'].map(name => join(root, name)).join(':') })).toBe(real)
})

test('what cannot be run is told apart', async () => {
  const root = privateFolder()
  await expect(findExecutable(join(root, 'none'), {})).rejects.toThrow(refusal('AGY_EXECUTABLE_MISSING'))
  await expect(findExecutable(root, {})).rejects.toThrow(refusal('AGY_EXECUTABLE_IS_FOLDER'))
  await expect(findExecutable(program(root, 'plain', 0o644), {})).rejects.toThrow(refusal('AGY_NOT_EXECUTABLE'))
  await expect(findExecutable('./agy', {})).rejects.toThrow(refusal('AGY_BIN_RELATIVE'))
  await expect(findExecutable('surely-not-there', { PATH: root, HOME: root })).rejects.toThrow(
    refusal('AGY_EXECUTABLE_MISSING'),
  )
})
