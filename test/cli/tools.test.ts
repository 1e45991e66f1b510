/** What others import: the same replay and rules that the commands use. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { checkLog, RecordingUnreadable, readLog, replay } from '../../src/cli/tools.ts'
import { privateFolder } from '../support/folders.ts'
import { probeFolder } from '../support/probes.ts'

test('a recording is replayed, and its log stays and keeps the rules', async () => {
  vi.stubEnv('TMPDIR', privateFolder())
  const told = await replay(probeFolder('02-two-tools'))
  expect(told).toMatchObject({ outcome: { kind: 'completed' }, valid: true, violations: [] })
  expect(told.tools).toHaveLength(2)
  expect(checkLog((await readLog(told.log)).events, { complete: true })).toEqual([])
  vi.unstubAllEnvs()
})

test('what is no recording is refused before anything is run', async () => {
  const path = join(privateFolder(), 'nothing')
  await expect(replay(path)).rejects.toThrow(RecordingUnreadable)
  expect(existsSync(path)).toBe(false)
})
