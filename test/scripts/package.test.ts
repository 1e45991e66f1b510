/** The packed package: what is in it, what can be imported from it, and that its types resolve where it is installed. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageProblems } from '../../scripts/package-contents.mjs'
import { PRIVATE, pack } from '../../scripts/private-host.mjs'
import { probeFolder } from '../support/probes.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const NAME = 'dsh-loop-engine-agy'

let tarball: string
/** A project that has the package among its dependencies. */
let consumer: string

beforeAll(async () => {
  tarball = await pack(join(PRIVATE, 'package'))
  consumer = mkdtempSync(join(tmpdir(), 'dsh-agy-consumer-'))
  const modules = join(consumer, 'node_modules')
  mkdirSync(join(modules, NAME), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  await execa('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(modules, NAME)])
  writeFileSync(join(consumer, 'package.json'), '{"type":"module"}')
})

afterAll(() => rmSync(consumer, { recursive: true }))

const consume = (script: string) =>
  execa(process.execPath, ['--input-type=module', '-e', script], {
    cwd: consumer,
    // The log of a replay stays where it was written.
    env: { TMPDIR: consumer },
    reject: false,
  })

test('holds what users need and nothing else', async () => {
  const { stdout } = await execa('tar', ['-tzf', tarball])
  const names = stdout.split('\n').map(name => name.replace(/^package\//, ''))
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  expect(
    packageProblems(
      names,
      sources.filter(name => name.endsWith('.ts')),
    ),
  ).toEqual([])
})

describe('what can be imported', () => {
  test.each([
    ['', ['Config', 'apply', 'inject', 'name']],
    ['/preset', ['Config', 'apply', 'name']],
    ['/tools', ['LOG_RULES', 'LogUnreadable', 'RecordingUnreadable', 'checkLog', 'readLog', 'replay']],
  ])(`${NAME}%s`, async (path, names) => {
    const { stdout } = await consume(`console.log(JSON.stringify(Object.keys(await import('${NAME}${path}'))))`)
    expect(JSON.parse(stdout)).toEqual(names)
  })

  test.each(['/lib/index.js', '/lib/cli/tools.js', '/src/index.ts'])(`${NAME}%s cannot`, async path => {
    const { stderr, exitCode } = await consume(`await import('${NAME}${path}')`)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })
})

test('a recording is replayed by the tools, and its log keeps the rules', async () => {
  const { stdout } = await consume(`
    import { checkLog, readLog, replay } from '${NAME}/tools'
    const { outcome, log, valid } = await replay(${JSON.stringify(probeFolder('02-two-tools'))})
    const { events } = await readLog(log)
    const gap = checkLog(events.slice(1)).map(({ rule }) => rule)
    console.log(JSON.stringify({ outcome, valid, sound: checkLog(events, { complete: true }), gap }))`)
  const told = JSON.parse(stdout)
  expect(told).toMatchObject({ outcome: { kind: 'completed' }, valid: true, sound: [] })
  expect(told.gap).toContain('seq-contiguous')
})

describe('the types', () => {
  const compile = (content: string) => {
    writeFileSync(join(consumer, 'use.ts'), content)
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--skipLibCheck']
    return execa('tsc', ['--noEmit', ...options, 'use.ts'], {
      cwd: consumer,
      preferLocal: true,
      localDir: ROOT,
      reject: false,
    })
  }

  test('resolve, and say what a caller may rely on', async () => {
    const { stdout } = await compile(`
      import type { EngineConfig } from '${NAME}'
      import type { PresetConfig } from '${NAME}/preset'
      import { type AgyEvent, checkLog, type LogViolation, replay, type Told } from '${NAME}/tools'
      export const text = (event: AgyEvent): string | undefined => (event.kind === 'step' ? event.step.text : undefined)
      export const told: Promise<Told> = replay('frames.ndjson')
      export const violations: LogViolation[] = checkLog([])
      export const mode: EngineConfig['mode'] = 'accept-edits'
      export const preset: PresetConfig = { provider: 'agy', model: 'default' }
      // @ts-expect-error there is no such rule
      export const rule: LogViolation['rule'] = 'no-such-rule'`)
    expect(stdout).toBe('')
  })

  test('do not give what is not exported', async () => {
    const { stdout } = await compile(`import { EngineSchema } from '${NAME}'; export const a = EngineSchema`)
    expect(stdout).toContain("has no exported member 'EngineSchema'")
  })
})
