import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { copyOf } from './support/copy.ts'

const ROOT = join(import.meta.dirname, '..')

/** Names of the rules that a copy of src with one more file breaks. */
async function broken(file: string, content: string): Promise<string[]> {
  const copy = copyOf(['src', 'tsconfig.json', '.dependency-cruiser.mjs', 'package.json'], { [file]: content })
  const { stdout } = await execa('depcruise', ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src'], {
    cwd: copy,
    preferLocal: true,
    localDir: ROOT,
    reject: false,
  })
  const { summary } = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } }
  return [...new Set(summary.violations.map(violation => violation.rule.name))].sort()
}

describe('an import that the plan of the house forbids is refused', () => {
  test.each([
    ['src/agy/bad.ts', "import '../engine/transcript.ts'", 'agy-knows-no-dsh'],
    ['src/agy/bad.ts', "import '@deepseek-ai/dsh-session'", 'agy-knows-no-dsh'],
    ['src/engine/bad.ts', "import '../agy/wire.ts'", 'engine-knows-no-agy'],
    ['src/engine/bad.ts', "import '@deepseek-ai/dsh-llm'", 'engine-knows-no-agy'],
    ['src/router/bad.ts', "import '../agy/wire.ts'", 'router-knows-no-agy'],
    ['src/router/bad.ts', "import '@deepseek-ai/dsh-llm'", 'router-takes-only-types-of-dsh'],
    ['src/host/bad.ts', "import '../engine/contract.ts'", 'host-holds-no-policy'],
    ['src/engine/bad.ts', "import 'execa'", 'one-file-spawns'],
    ['src/agy/bad.ts', "import 'node:child_process'", 'one-file-spawns'],
    ['src/router/bad.ts', "import '../cli/main.ts'", 'plugin-needs-no-cli'],
    ['src/bad.ts', "import '../test/nothing.ts'", 'resolvable'],
    ['src/bad.ts', "import './bad.ts'", 'no-circular'],
  ])('%s: %s', async (file, content, rule) => {
    expect(await broken(file, content)).toContain(rule)
  })

  test('and the house as it stands breaks none', async () => {
    expect(await broken('src/good.ts', "import './config.ts'")).toEqual([])
  })
})

test('no file is longer than 400 lines', async () => {
  const { stdout } = await execa('git', ['ls-files', 'src', 'test', 'scripts', 'probes/stand-in'], { cwd: ROOT })
  const long = stdout
    .split('\n')
    .filter(file => /\.(ts|mjs)$/.test(file))
    .filter(file => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 400)
  expect(long).toEqual([])
})
