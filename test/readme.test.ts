/** The README, with the pages that it links, names what the code has: codes, configuration keys, commands. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EngineSchema } from '../src/config.ts'

const ROOT = join(import.meta.dirname, '..')
const FRONT = readFileSync(join(ROOT, 'README.md'), 'utf8')
const linked = [...FRONT.matchAll(/\]\((docs\/[\w-]+\.md)\)/g)].map(([, page = '']) => page)
const README = [FRONT, ...linked.map(page => readFileSync(join(ROOT, page), 'utf8'))].join('\n')
const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => readFileSync(join(ROOT, 'src', name), 'utf8'))
const codes = [
  ...new Set(
    sources.flatMap(
      source =>
        source.match(
          /(?<=['"`])(?:AGY|ENGINE|DSH_(?:UNLINKED|MISSING|VERSION|PROFILE|PLUGIN|ROW)|RECORD|RECORDING|LOG|PROBES)(?:_[A-Z_]+)?(?=['"`:])/g,
        ) ?? [],
    ),
  ),
]

/** Of the CLI's own environment or output, and codes inside a fallback that is never shown to a person. */
const NOT_OURS = ['AGY_ERROR', 'AGY_CLI_DISABLE_AUTO_UPDATE']

const keys = Object.entries(EngineSchema.dict ?? {}).flatMap(([key, { dict }]) =>
  dict === undefined || key === 'env' ? [key] : Object.keys(dict).map(inner => `${key}.${inner}`),
)
const scripts = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts)

describe('the README names', () => {
  test('something at all', () => {
    expect(linked.length).toBeGreaterThan(5)
    expect(codes.length).toBeGreaterThan(40)
    expect(keys.length).toBeGreaterThan(20)
    expect(scripts.length).toBeGreaterThan(5)
  })

  test.each(codes.filter(code => !NOT_OURS.includes(code)))('%s', code => {
    expect(README).toContain(`\`${code}\``)
  })

  test.each(keys)('the key %s', key => {
    expect(README).toMatch(new RegExp(`^\\| \`${key.replace('.', '\\.')}\` `, 'm'))
  })

  test.each(scripts.filter(name => !['build', 'format', 'test', 'start'].includes(name)))('npm run %s', name => {
    expect(FRONT).toContain(`npm run ${name}`)
  })
})

test('each test that SECURITY.md points at is there', () => {
  const named = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').match(/(?<=`)test\/[\w/.-]+(?=`)/g) ?? []
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter(file => !existsSync(join(ROOT, file)))).toEqual([])
})
