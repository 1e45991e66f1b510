/** Each way in which the proof, the files or the server could be other than they were: then no child is started with the flag. */
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { AgyLoop } from '../../../src/agy/agy-loop.ts'
import { HookFolder, hookSpec, LAYOUTS } from '../../../src/agy/hooks/files.ts'
import { ProofBook } from '../../../src/agy/hooks/proof.ts'
import { RunGate } from '../../../src/agy/hooks/run-gate.ts'
import type { EngineEvent, Gate } from '../../../src/engine/contract.ts'
import { privateFolder, STAND_IN } from '../../support/folders.ts'

const GATE: Gate = { decide: async () => ({ allowed: true }), ask: async () => ({ kind: 'nobody' }) }
const signal = new AbortController().signal

/** A program of its own, so that it can be changed. */
function program(): string {
  const file = join(privateFolder(), 'agy')
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${STAND_IN}" "$@"\n`)
  chmodSync(file, 0o755)
  return file
}

function subject() {
  const home = privateFolder()
  return {
    file: program(),
    cwd: privateFolder(),
    env: { PATH: process.env.PATH ?? '', HOME: home },
    spec: hookSpec(1000),
  }
}

const changes: [string, (s: ReturnType<typeof subject>) => void][] = [
  ['the program is another one', ({ file }) => appendFileSync(file, '# another\n')],
  ['the program is as long as before', ({ file }) => utimesSync(file, 1, 1)],
  ['the program is gone', ({ file }) => rmSync(file)],
  ['the workspace has a hook', ({ cwd }) => put(join(cwd, '.agents', 'hooks.json'))],
  ['the workspace has a hook in the older place', ({ cwd }) => put(join(cwd, '.agent', 'hooks.json'))],
  ['the workspace has a plugin with a hook', ({ cwd }) => put(join(cwd, '.agents', 'plugins', 'x', 'hooks.json'))],
  ['the user has a hook', ({ env }) => put(join(env.HOME, '.gemini', 'config', 'hooks.json'))],
]

function overwrite(file: string): void {
  chmodSync(file, 0o600)
  writeFileSync(file, '{}')
}

function replaceByLink(file: string, kept: string): void {
  renameSync(file, kept)
  symlinkSync(kept, file)
}

function put(file: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '{}')
}

describe('a proof', () => {
  test('is asked for once, and again when its subject has changed', async () => {
    const [book, about] = [new ProofBook(), subject()]
    const first = await book.prove(about, signal)
    expect(await book.prove(about, signal)).toBe(first)
    put(join(about.cwd, '.agents', 'hooks.json'))
    expect(await book.prove(about, signal)).not.toBe(first)
    expect(await first.stillHolds()).toBe(false)
  })

  test.each(changes)('does not hold any more when %s', async (_what, change) => {
    const about = subject()
    const proof = await new ProofBook().prove(about, signal)
    expect(await proof.stillHolds()).toBe(true)
    change(about)
    expect(await proof.stillHolds()).toBe(false)
  })

  test('is for one workspace and one content', async () => {
    const [book, about] = [new ProofBook(), subject()]
    const first = await book.prove(about, signal)
    expect(await book.prove({ ...about, cwd: privateFolder() }, signal)).not.toBe(first)
    expect(await book.prove({ ...about, spec: hookSpec(2000) }, signal)).not.toBe(first)
  })

  test('that was refused is not remembered', async () => {
    const [book, about] = [new ProofBook(), subject()]
    const env = { ...about.env, AGY_STANDIN_HOOKS: 'none' }
    await expect(book.prove({ ...about, env }, signal)).rejects.toMatchObject({ code: 'AGY_GATE_UNPROVEN' })
    expect((await book.prove(about, signal)).layout).toBe('agents')
  })

  test('names the place that the CLI looks at', async () => {
    const about = subject()
    const env = { ...about.env, AGY_STANDIN_HOOKS: 'plugin' }
    expect((await new ProofBook().prove({ ...about, env }, signal)).layout).toBe('plugin')
  })

  test.each([
    ['lists nothing', '#!/bin/sh\necho nothing\n', 'did not list its hooks'],
    ['fails', '#!/bin/sh\necho broken >&2; exit 3\n', 'exit code 3: broken'],
  ])('is refused when the program %s', async (_what, script, words) => {
    const about = subject()
    writeFileSync(about.file, script)
    await expect(new ProofBook().prove(about, signal)).rejects.toMatchObject({
      message: expect.stringContaining(words),
    })
  })
})

describe('the files are not what they were when', () => {
  const tampers: [string, (folder: HookFolder) => void][] = [
    ['one has other words', ({ file }) => overwrite(file)],
    ['one is gone', ({ file }) => rmSync(file)],
    ['all are gone', ({ path }) => rmSync(path, { recursive: true })],
    ['there is one more', ({ path }) => writeFileSync(join(path, 'more'), '')],
    ['there is an empty folder', ({ path }) => mkdirSync(join(path, 'more'))],
    ['one is a link to the same words', ({ path, file }) => replaceByLink(file, `${path}-kept`)],
  ]

  test.each(LAYOUTS.flatMap(layout => tampers.map(([what, tamper]) => [what, layout, tamper] as const)))(
    '%s (%s)',
    async (_what, layout, tamper) => {
      const folder = await HookFolder.write(join(privateFolder(), 'hooks'), layout, hookSpec(1000))
      expect(await folder.isIntact()).toBe(true)
      tamper(folder)
      expect(await folder.isIntact()).toBe(false)
    },
  )

  test('they are never written over what is there', async () => {
    const path = join(privateFolder(), 'hooks')
    await HookFolder.write(path, 'agents', hookSpec(1000))
    await expect(HookFolder.write(path, 'agents', hookSpec(1000))).rejects.toThrow('EEXIST')
  })
})

test('a gate that was closed is not whole', async () => {
  const proof = { layout: 'agents' as const, others: [], stillHolds: async () => true }
  const gate = await RunGate.open({
    gate: GATE,
    folder: join(privateFolder(), 'hooks'),
    proof,
    spec: hookSpec(1000),
    limitMs: 1000,
  })
  expect(await gate.isWhole()).toBe(true)
  await gate.close()
  expect(await gate.isWhole()).toBe(false)
})

const loopOf = (about: ReturnType<typeof subject>, env: Record<string, string> = {}) =>
  new AgyLoop({ bin: about.file, env, parentEnv: () => about.env, startGapMs: 0, approvals: 'host' })
const requestOf = (about: ReturnType<typeof subject>, text = () => 'hello') => ({
  prompt: { files: [], text },
  cwd: about.cwd,
  permissions: { confined: true, everythingAllowed: false },
  gate: GATE,
  scope: 't1s1',
  signal,
})

describe('no child is started with the flag when, after the proof,', () => {
  const ofFolder = (change: (hooks: string) => void) => () => {
    const [run] = readdirSync(tmpdir()).filter(name => name.startsWith('dsh-agy-run-'))
    change(join(tmpdir(), run ?? '', 'hooks'))
  }

  test.each([
    ...changes,
    ['one more file lies beside the hook', ofFolder(hooks => writeFileSync(join(hooks, 'more'), ''))],
    ['the hook says something else', ofFolder(hooks => overwrite(join(hooks, '.agents', 'hooks.json')))],
    ['the hook is gone', ofFolder(hooks => rmSync(hooks, { recursive: true }))],
  ] satisfies typeof changes)('%s', async (_what, change) => {
    const about = subject()
    const echo = join(privateFolder(), 'starts')
    vi.stubEnv('TMPDIR', privateFolder())
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    // The prompt is put together after everything was proved, and before the child is started.
    const text = () => {
      change(about)
      return 'hello'
    }
    let end: EngineEvent | undefined
    const run = loopOf(about, { AGY_STANDIN_ECHO: echo }).run(requestOf(about, text))
    for await (const event of run) end = event
    expect(end).toMatchObject({ type: 'end', outcome: { kind: 'failed', code: 'AGY_GATE_UNPROVEN' } })
    const starts = readFileSync(echo, 'utf8')
    expect(starts).toContain('--print=/hooks')
    expect(starts).not.toContain('--dangerously-skip-permissions')
    expect(readdirSync(tmpdir())).toEqual([])
  })
})

describe('nothing of a gate is left', () => {
  const place = (): string => {
    const folder = privateFolder()
    vi.stubEnv('TMPDIR', folder)
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    return folder
  }

  test('when nobody wants to hear the rest after a notice', async () => {
    const about = subject()
    const file = join(about.env.HOME, '.gemini', 'config', 'hooks.json')
    put(file)
    writeFileSync(file, '{"mine":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"true"}]}]}}')
    const folder = place()
    const run = loopOf(about).run(requestOf(about))
    expect((await run.next()).value).toMatchObject({ type: 'notice', code: 'AGY_OTHER_HOOKS' })
    expect(readdirSync(folder)).toHaveLength(1)
    await run.return()
    expect(readdirSync(folder)).toEqual([])
  })

  test('when its files cannot be written, which is said', async () => {
    const about = subject()
    // Long enough for the private folder of the run, too long for the files in it.
    const deep = join(place(), ...Array<string>(21).fill('d'.repeat(200))).slice(0, 4_060)
    mkdirSync(deep, { recursive: true })
    vi.stubEnv('TMPDIR', deep)
    const events: EngineEvent[] = []
    for await (const event of loopOf(about).run(requestOf(about))) events.push(event)
    expect(events.at(-1)).toMatchObject({
      outcome: { code: 'AGY_GATE_UNPROVEN', message: expect.stringContaining('ENAMETOOLONG') },
    })
    expect(readdirSync(deep)).toEqual([])
  })
})
