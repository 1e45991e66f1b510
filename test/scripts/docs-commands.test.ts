/** Every command that the docs show is run: here, or by the test that is named for it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { privateFolder } from '../support/folders.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const PAGES = [
  'README.md',
  'README.zh.md',
  'CONTRIBUTING.md',
  'probes/README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
]

/** What becomes of a command: it is run here in a small way, another test holds it, or why it cannot be run. */
type Fate =
  | { readonly here: readonly string[]; readonly says: RegExp }
  | { readonly test: string; readonly holds: string }
  | { readonly not: string }

const FATES: readonly (readonly [RegExp, Fate])[] = [
  [/^npm start\b/, { test: 'test/scripts/commands.test.ts', holds: 'start.mjs' }],
  [/^npm run web$/, { test: 'test/scripts/commands.test.ts', holds: 'web.mjs' }],
  [/^npm test$/, { not: 'it is what runs this test' }],
  [/^npm test -- /, { not: 'it is what runs this test, for some of them' }],
  [/^npm run format$/, { test: 'test/scripts/upkeep.test.ts', holds: "'format'" }],
  [/^npm run faults\b/, { here: ['faults.mjs', 'exit-api-failure'], says: /1 scenarios, 0 not as expected/ }],
  [/^npm run soak$/, { here: ['soak.mjs', '--seconds', '5', '--sessions', '2'], says: /nothing has grown/ }],
  [/^npm run bench$/, { test: 'test/scripts/bench.test.ts', holds: 'bench/run.mjs' }],
  [/^npm run fuzz\b/, { here: ['fuzz.mjs', '--runs', '20'], says: /1 passed/ }],
  [/^npm run pictures$/, { test: 'test/scripts/upkeep.test.ts', holds: 'take-pictures.mjs' }],
  [/^npm run probes:update$/, { test: 'test/scripts/upkeep.test.ts', holds: 'golden-files.mjs' }],
  [/^npm run package$/, { here: ['package.mjs'], says: /dsh-loop-engine-agy-\w+\.tgz$/ }],
  [/^dsh plugin --profile \S+ add /, { test: 'test/support/global-setup.ts', holds: 'installInto' }],
  [/^dsh plugin --profile web remove /, { test: 'test/web/preset.test.ts', holds: "'remove'" }],
  [/^dsh web$/, { test: 'test/support/dsh.ts', holds: "'web', '--patch'" }],
  [/^dsh-agy doctor\b/, { test: 'test/cli/doctor.test.ts', holds: 'doctor(' }],
  [/^dsh-agy record\b/, { test: 'test/cli/record.test.ts', holds: 'record(' }],
  [/^dsh-agy replay\b/, { test: 'test/cli/replay.test.ts', holds: 'replay(' }],
  [/^dsh-agy validate\b/, { test: 'test/cli/validate.test.ts', holds: 'validate(' }],
  [/^dsh-agy probes check\b/, { test: 'test/cli/probes.test.ts', holds: "'check'" }],
  [/^agy\b/, { not: "Google's own program, which is not here" }],
]

const isHeld = ({ test, holds }: { readonly test: string; readonly holds: string }): boolean =>
  existsSync(join(ROOT, test)) && read(test).includes(holds)

const commands = [
  ...new Set(
    PAGES.flatMap(page => {
      const text = read(page)
      const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.split('\n'))
      const inline = [...text.matchAll(/`((?:npm (?:start|test|run)|dsh plugin|dsh web|dsh-agy \w|agy [\w-])[^`]*)`/g)]
      return [...blocks, ...inline.map(([, command = '']) => command)]
    })
      .map(line => line.replace(/\s+#.*$/, '').trim())
      .filter(line => line !== ''),
  ),
]

test('there are commands in the docs', () => expect(commands.length).toBeGreaterThan(15))

describe('each command has a place where it is run', () => {
  test.each(commands)('%s', command => {
    const fate = FATES.find(([pattern]) => pattern.test(command))?.[1]
    if (fate === undefined) throw new Error(`nobody runs "${command}"`)
    if ('test' in fate) expect(isHeld(fate)).toBe(true)
    else if ('not' in fate) {
      expect(fate.not).not.toBe('')
    }
  })

  test('and a test that does not hold it is found out', () => {
    expect(isHeld({ test: 'test/cli/replay.test.ts', holds: 'validate-nothing(' })).toBe(false)
    expect(isHeld({ test: 'test/cli/nothing.test.ts', holds: '' })).toBe(false)
  })

  test('and one that nobody runs is found out', () => {
    expect(FATES.some(([pattern]) => pattern.test('npm run nothing'))).toBe(false)
  })
})

describe('run here', () => {
  const here = FATES.flatMap(([pattern, fate]) => ('here' in fate ? [[pattern.source, fate] as const] : []))

  test.each(here)('%s', async (_, { here: [script = '', ...args], says }) => {
    const { stdout, stderr, exitCode } = await execa(process.execPath, [join(ROOT, 'scripts', script), ...args], {
      cwd: ROOT,
      env: { DSH_AGY_PRIVATE: privateFolder() },
      reject: false,
    })
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('Error')])
    expect(stdout).toMatch(says)
  })
})
