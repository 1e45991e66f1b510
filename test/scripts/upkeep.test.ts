/** What a maintainer runs now and then: each on a copy, or with a folder of its own to write into. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { copyOf } from '../support/copy.ts'
import { privateFolder } from '../support/folders.ts'
import { chromium } from '../support/page.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PARTS = [
  'src',
  'scripts',
  'test',
  'probes',
  'package.json',
  'tsconfig.json',
  'biome.json',
  'vitest.config.ts',
  '.gitignore',
]

test('npm run format formats', async () => {
  const copy = copyOf(PARTS, { 'src/agy/spoiled.ts': 'export const a = "a";\n' })
  await execa('npm', ['run', 'format'], { cwd: copy })
  expect(readFileSync(join(copy, 'src/agy/spoiled.ts'), 'utf8')).toBe("export const a = 'a'\n")
})

test('npm run probes:update writes anew what a recording becomes, and shows it', async () => {
  const golden = 'test/golden/09-quota/events.jsonl'
  const copy = copyOf(PARTS, { [golden]: 'spoiled\n' })
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'a'],
  ])
    await execa('git', args, { cwd: copy })
  const { stdout } = await execa(process.execPath, [join(copy, 'scripts', 'golden-files.mjs')], { cwd: copy })
  expect(readFileSync(join(copy, golden), 'utf8')).toBe(readFileSync(join(ROOT, golden), 'utf8'))
  expect(stdout).toContain('-spoiled')
})

// Left out only where no Chromium is installed and none can be.
test.runIf(chromium !== undefined)('npm run pictures takes pictures of the page', async () => {
  const pictures = privateFolder()
  const chosen = ['test/web/browser.test.ts', '-t', 'model of Antigravity']
  await execa(process.execPath, [join(ROOT, 'scripts', 'take-pictures.mjs'), ...chosen], {
    cwd: ROOT,
    env: { DSH_AGY_PICTURES: pictures },
  })
  expect(readdirSync(pictures)).toEqual(['model-picker.png'])
})
