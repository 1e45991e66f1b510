/** Each check that `npm test` makes before the tests refuses something: it is given a copy of the project with one fault. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { checksOf } from '../scripts/check-table.mjs'
import { undocumented } from '../scripts/docstrings.mjs'
import { forbiddenLicences } from '../scripts/licences.mjs'
import { packageProblems } from '../scripts/package-contents.mjs'
import { copyOf } from './support/copy.ts'
import { privateFolder } from './support/folders.ts'

const ROOT = join(import.meta.dirname, '..')
const PARTS = [
  ...[
    'src',
    'scripts',
    'bench',
    'test',
    'probes',
    'lib',
    'presets',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ],
  ...['biome.json', 'knip.jsonc', '.jscpd.json', '.dependency-cruiser.mjs', 'vitest.config.ts', 'pnpm-workspace.yaml'],
  ...['.gitignore', 'cordis.patch.yml', 'LICENSE'],
]
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

const source = (content: string) => ({ 'src/agy/spoiled.ts': content })
const exporting = (spoiled: object) => ({
  'package.json': JSON.stringify({ ...manifest, exports: { ...manifest.exports, './spoiled': spoiled } }),
})

/** One fault for each check. All of them hold the word `spoiled`, which the check must name. */
const FAULTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'formatting and lint': source('export const a = "a";\n'),
  types: source('export const a: string = 1\n'),
  'imports between the rooms': source("import '../engine/transcript.ts'\n"),
  'dead code and dependencies': source('/** Asked for by nobody. */\nexport const a = 1\n'),
  'code that stands twice': source(readFileSync(join(ROOT, 'src', 'agy', 'lines.ts'), 'utf8')),
  'package manifest': exporting({ default: './lib/spoiled.js' }),
  'types of the packed package': {
    'lib/spoiled.js': 'export const a = 1\n',
    ...exporting({ default: './lib/spoiled.js' }),
  },
}

const CHECKS = checksOf('spoiled.tgz')

test('there is a fault for each check', () => {
  expect(Object.keys(FAULTS)).toEqual(CHECKS.map(([what]) => what))
})

describe('a fault is refused by the check of', () => {
  test.each(CHECKS)('%s', async (what, program, args) => {
    const cwd = copyOf(PARTS, FAULTS[what] ?? {})
    const options = { cwd, preferLocal: true, localDir: ROOT, reject: false, all: true, env: { NO_COLOR: '1' } }
    if (args.includes('spoiled.tgz'))
      await execa('pnpm', ['pack', '--out', 'spoiled.tgz'], { ...options, reject: true })
    const { exitCode, all } = await execa(program, args, options)
    expect(exitCode).not.toBe(0)
    expect(all?.replaceAll('spoiled.tgz', '')).toContain('spoiled')
  })
})

describe('docstrings', () => {
  test('every export and every public method has one', () => {
    expect(undocumented(join(ROOT, 'src'))).toEqual([])
  })

  test('one that is missing is named', () => {
    const folder = privateFolder()
    const module = `
        export const bare = 1
        /** Said. */
        export const said = 1
        /** @returns words, which do. */
        export function tagged(): void {}
        /** @internal */
        export interface Empty {}
        /** A class. */
        export class Thing {
          open(): void {}
          private hidden(): void {}
        }`
    writeFileSync(join(folder, 'a.ts'), module)
    expect(undocumented(folder)).toEqual(['a.ts: bare', 'a.ts: Empty', 'a.ts: Thing.open'])
  })
})

describe('licences of what is installed with the package', () => {
  test('are all allowed', async () => {
    const { stdout } = await execa('pnpm', ['licenses', 'list', '--prod', '--json'], { cwd: ROOT, preferLocal: true })
    const listed = JSON.parse(stdout)
    expect(Object.keys(listed)).toContain('MIT')
    expect(forbiddenLicences(listed)).toEqual([])
  })

  test.each(['GPL-3.0-only', 'MIT AND GPL-2.0', 'Unknown', 'SEE LICENSE IN LICENSE.txt'])('%s is not', licence => {
    const listed = { MIT: [{ name: 'a' }], [licence]: [{ name: 'b' }] }
    expect(forbiddenLicences(listed)).toEqual([`b: ${licence}`])
  })

  test('a choice of which one is allowed is', () => {
    expect(forbiddenLicences({ '(MIT OR GPL-3.0)': [{ name: 'a' }] })).toEqual([])
  })
})

describe('contents of the package', () => {
  const sound = [
    'package.json',
    'README.md',
    'README.zh.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'LICENSE',
    'cordis.patch.yml',
  ].concat(['docs/failures.md', 'presets/agy/preset.yml', 'lib/index.js', 'lib/index.d.ts'])

  test('a sound list has no problem', () => {
    expect(packageProblems(sound, ['index.ts'])).toEqual([])
  })

  test.each(['test/a.test.ts', 'lib/index.js.map', '.env', 'src/index.ts', 'docs/images/a.png'])(
    '%s is refused',
    name => {
      expect(packageProblems([...sound, name], ['index.ts'])).toEqual([`${name} must not be in the package`])
    },
  )

  test('a file that is missing, or that no source has any more, is refused', () => {
    expect(packageProblems(sound, ['index.ts', 'preset.ts'])).toEqual([
      'lib/preset.js is missing',
      'lib/preset.d.ts is missing',
    ])
    expect(packageProblems([...sound, 'lib/old.js'], ['index.ts'])).toEqual(['lib/old.js has no source'])
    expect(packageProblems(sound.slice(1), ['index.ts'])).toEqual(['package.json is missing'])
  })
})

test('a file whose lines no test runs is refused by its floor', async () => {
  const { exitCode, all } = await execa(
    'vitest',
    [
      'run',
      'test/engine/bounded-text.test.ts',
      '--coverage',
      '--coverage.include=src/engine/{bounded-text,skills}.ts',
    ].concat(`--coverage.reportsDirectory=${privateFolder()}`),
    { cwd: ROOT, preferLocal: true, localDir: ROOT, reject: false, all: true, env: { NO_COLOR: '1' } },
  )
  expect(exitCode).toBe(1)
  expect(all).toMatch(/lines \(0%\) does not meet .* for src\/engine\/skills\.ts/)
  expect(all).not.toMatch(/for src\/engine\/bounded-text\.ts/)
})
