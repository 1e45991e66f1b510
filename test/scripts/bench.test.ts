import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

test('the bench runs, and says that a quick run proves nothing', async () => {
  const { stdout, exitCode } = await execa(process.execPath, ['bench/run.mjs', '--quick'], { cwd: ROOT, reject: false })
  expect(exitCode).toBe(0)
  expect(stdout).toContain('proves nothing')
  expect(stdout).toMatch(/^decode and fold .* at least 0\.70/m)
  expect(stdout).toMatch(/^next prompt of .* at most 0\.10/m)
})
