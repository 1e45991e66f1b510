import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { privateFolder } from '../support/folders.ts'

const ROOT = join(import.meta.dirname, '..', '..')

const bench = (folder: string, ...args: string[]) =>
  execa(process.execPath, ['bench/run.mjs', ...args], {
    cwd: ROOT,
    env: { DSH_AGY_PRIVATE: folder },
    reject: false,
  })

/** A row of the table for each promise. */
const PROMISES = [
  /^decode and fold .* at least 0\.70/m,
  /^whole step with a log of 100 messages.* at most 1\.10/m,
  /^delta to a subscriber, 1 × 30\/s.* under 10/m,
  /^delta to a subscriber, 1 × 2,000\/s.* under 10/m,
  /^delta to a subscriber, 32 × 30\/s.* under 60/m,
  /^durable rows of 1,000 pieces .* at most 100/m,
  /^first prompt of .* at most 1\.50/m,
  /^next prompt of .* at most 0\.10/m,
  /^prompts of .* at least 0\.95/m,
  /^most memory over the host's own loop.* at most 150/m,
  /^time of the run as the log grows.* at most 1\.10/m,
  /^memory kept as the log grows.* at most 1\.10/m,
  /^time of the next step as the log grows.* at most 1\.10/m,
  /^32 sessions, as fast as can be, share of .* at least 0\.80/m,
  /^32 sessions × 30\/s, delay of the event loop.* under 50/m,
  /^first word with a child started ahead.* at most 0\.20/m,
  /^life of a child that nobody asks.* at most 1\.20/m,
  /^dsh's start with the plugin.* at most 1\.10/m,
]

test('the bench measures every promise, and says that a quick run proves nothing', async () => {
  const folder = privateFolder()
  const { stdout, stderr, exitCode } = await bench(folder, '--quick')
  expect(stderr).not.toContain('Error')
  expect(exitCode).toBe(0)
  expect(stdout).toContain('proves nothing')
  for (const promise of PROMISES) expect(stdout).toMatch(promise)
  const { results } = JSON.parse(readFileSync(join(folder, 'bench.json'), 'utf8')) as { results: { value: number }[] }
  expect(results.filter(({ value }) => !Number.isFinite(value))).toEqual([])
  expect(readFileSync(join(folder, 'latency.svg'), 'utf8')).toMatch(/^<svg .*32 × 2,000\/s/s)
})

test('some measures alone can be named, and no others', async () => {
  const folder = privateFolder()
  const { stdout } = await bench(folder, '--quick', 'decode')
  expect(stdout).toMatch(PROMISES[0] as RegExp)
  expect(stdout).not.toContain('delta to a subscriber')
  expect(existsSync(join(folder, 'latency.svg'))).toBe(false)
  const refused = await bench(folder, 'speed')
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/"speed".*decode, step, latency/)])
})
