/** What a command learns of a path, also of one that is not there. */
import { realpathSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { currentFolder, realOf, statOf } from '../../src/cli/paths.ts'
import { privateFolder } from '../support/folders.ts'

test('a link is followed, and a path where nothing is stays as it is', () => {
  const folder = realpathSync(privateFolder())
  writeFileSync(join(folder, 'there'), 'four')
  symlinkSync('there', join(folder, 'link'))
  expect(realOf(join(folder, 'link'))).toBe(join(folder, 'there'))
  expect(realOf(join(folder, 'absent'))).toBe(join(folder, 'absent'))
  expect(statOf(join(folder, 'link'))?.size).toBe(4)
  expect(statOf(join(folder, 'absent'))).toBeUndefined()
})

test('a folder that was removed under a command is refused by name', () => {
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  const folder = realpathSync(privateFolder())
  process.chdir(folder)
  expect(currentFolder()).toBe(folder)
  // What this process knew of its folder is forgotten by the change alone.
  process.chdir(folder)
  rmdirSync(folder)
  expect(currentFolder).toThrow(expect.objectContaining({ code: 'FOLDER_GONE' }))
})
