import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import plan from '../.dependency-cruiser.mjs'
import { copyOf } from './support/copy.ts'

const ROOT = join(import.meta.dirname, '..')

/** What more files in a copy of src break: the file and the rule. */
async function broken(files: Readonly<Record<string, string>>): Promise<{ from: string; rule: string }[]> {
  const copy = copyOf(['src', 'tsconfig.json', '.dependency-cruiser.mjs', 'package.json'], files)
  const { stdout } = await execa('depcruise', ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src'], {
    cwd: copy,
    preferLocal: true,
    localDir: ROOT,
    reject: false,
  })
  const { summary } = JSON.parse(stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } }
  return summary.violations.map(({ from, rule }) => ({ from, rule: rule.name }))
}

const FORBIDDEN: readonly (readonly [file: string, content: string, rule: string])[] = [
  ['src/agy/bad-1.ts', "import '../engine/transcript.ts'", 'agy-knows-no-dsh'],
  ['src/agy/bad-2.ts', "import '@deepseek-ai/dsh-session'", 'agy-knows-no-dsh'],
  ['src/engine/bad-1.ts', "import '../agy/wire.ts'", 'engine-knows-no-agy'],
  ['src/engine/bad-2.ts', "import '@deepseek-ai/dsh-llm'", 'engine-knows-no-agy'],
  ['src/router/bad-1.ts', "import '../agy/wire.ts'", 'router-knows-no-agy'],
  ['src/router/bad-2.ts', "import '@deepseek-ai/dsh-llm'", 'router-takes-only-types-of-dsh'],
  ['src/host/bad.ts', "import '../engine/contract.ts'", 'host-holds-no-policy'],
  ['src/engine/bad-3.ts', "import 'execa'", 'one-file-spawns'],
  ['src/agy/bad-3.ts', "import 'node:child_process'", 'one-file-spawns'],
  ['src/router/bad-3.ts', "import '../cli/main.ts'", 'plugin-needs-no-cli'],
  ['src/bad-1.ts', "import '../test/nothing.ts'", 'resolvable'],
  ['src/bad-2.ts', "import './bad-2.ts'", 'no-circular'],
  ['src/bad-3.ts', "import '../test/there.ts'", 'src-stands-alone'],
]

test('there is a forbidden import for each rule', () => {
  expect(new Set(FORBIDDEN.map(([, , rule]) => rule))).toEqual(new Set(plan.forbidden.map(({ name }) => name)))
})

test('each import that the plan of the house forbids is refused', async () => {
  const found = await broken({ ...Object.fromEntries(FORBIDDEN), 'test/there.ts': '' })
  for (const [from, , rule] of FORBIDDEN) expect(found).toContainEqual({ from, rule })
})

test('and the house as it stands breaks none', async () => {
  expect(await broken({ 'src/good.ts': "import './config.ts'" })).toEqual([])
})

test('no file is longer than 400 lines', async () => {
  const { stdout } = await execa('git', ['ls-files', 'src', 'test', 'scripts', 'probes/stand-in'], { cwd: ROOT })
  const long = stdout
    .split('\n')
    .filter(file => /\.(ts|mjs)$/.test(file))
    .filter(file => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 400)
  expect(long).toEqual([])
})
