/** A host is killed as SIGKILL does it; the next one ends what it left, and nothing else. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { endOrphans, recordChild } from '../../src/agy/child-records.ts'
import { privateFolder } from '../support/folders.ts'

let temporary: string
const records = () => join(temporary, `dsh-agy-children-${process.getuid?.()}`)

beforeEach(() => {
  temporary = privateFolder()
  vi.stubEnv('TMPDIR', temporary)
  return () => {
    vi.unstubAllEnvs()
  }
})

/** A process in a group of its own that stays until it is ended. */
function longLived(): { pid: number; gone: Promise<unknown> } {
  const child = execa('sleep', ['600'], { detached: true, reject: false })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { pid: child.pid as number, gone: child }
}

test("a killed host's child is ended, with its private folder", async () => {
  const folder = join(temporary, 'dsh-agy-run-x')
  mkdirSync(folder)
  const child = longLived()
  // The owner: a process that records the child and is killed.
  const source = pathToFileURL(join(import.meta.dirname, '..', '..', 'src', 'agy', 'child-records.ts')).href
  const owner = `import { recordChild } from ${JSON.stringify(source)}
await recordChild(${child.pid}, ${JSON.stringify(folder)})
process.kill(process.pid, 'SIGKILL')`
  const { signal } = await execa(process.execPath, ['--input-type=module', '-e', owner], { reject: false })
  expect(signal).toBe('SIGKILL')
  expect(readdirSync(records())).toEqual([`${child.pid}.json`])

  expect(await endOrphans(500)).toEqual([child.pid])
  await child.gone
  expect(existsSync(folder)).toBe(false)
  expect(readdirSync(records())).toEqual([])
})

test('the child of a host that lives is left alone', async () => {
  const child = longLived()
  const forget = await recordChild(child.pid, undefined)
  expect(await endOrphans(500)).toEqual([])
  expect(process.kill(child.pid, 0)).toBe(true)
  await forget()
  expect(readdirSync(records())).toEqual([])
})

test('a pid that was given to somebody else, and a folder that is not of a run, are not touched', async () => {
  const child = longLived()
  const precious = join(temporary, 'precious')
  mkdirSync(precious)
  await recordChild(child.pid, precious)
  const file = join(records(), `${child.pid}.json`)
  const record = JSON.parse(readFileSync(file, 'utf8'))
  record.owner.started = 'another boot:1'
  record.child.started = 'another boot:2'
  writeFileSync(file, JSON.stringify(record))
  expect(await endOrphans(500)).toEqual([])
  expect(process.kill(child.pid, 0)).toBe(true)
  expect(existsSync(precious)).toBe(true)
  expect(readdirSync(records())).toEqual([])
})

test('a record that cannot be read is removed, and a folder that others may write is not trusted', async () => {
  const child = longLived()
  await recordChild(child.pid, undefined)
  writeFileSync(join(records(), 'broken.json'), '{')
  writeFileSync(join(records(), 'odd.json'), '{"child":{"pid":1,"started":"x"},"owner":{"pid":1,"started":"x"}}')
  expect(await endOrphans(500)).toEqual([])
  expect(readdirSync(records())).toEqual([`${child.pid}.json`])

  temporary = privateFolder()
  vi.stubEnv('TMPDIR', temporary)
  mkdirSync(records(), { mode: 0o777 })
  await execa('chmod', ['777', records()])
  await recordChild(child.pid, undefined)
  expect(readdirSync(records())).toEqual([])
})
