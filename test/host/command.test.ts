/** `/agy` in the composer, asked of a real host; it starts no run. */
import { describe, expect, test } from 'vitest'
import { AgyLoop } from '../../src/agy/agy-loop.ts'
import { ModelCatalogue } from '../../src/agy/models.ts'
import { VersionBook } from '../../src/agy/version.ts'
import { agyCommand } from '../../src/command.ts'
import { type EngineConfig, EngineSchema } from '../../src/config.ts'
import { scrubbedParentEnv } from '../../src/host/parent-env.ts'
import { STAND_IN } from '../support/folders.ts'
import { say, startHost } from '../support/host.ts'

async function commandWith(more: Partial<EngineConfig> = {}) {
  const host = await startHost()
  const agent = await host.create()
  const config = { ...EngineSchema(), bin: STAND_IN, ...more } as EngineConfig
  const versions = new VersionBook()
  const engine = new AgyLoop({ ...config, parentEnv: scrubbedParentEnv, versions })
  const signal = new AbortController().signal
  const catalogue = new ModelCatalogue({
    locate: () => engine.locate(),
    onChange: () => {},
    onFailure: () => {},
    signal,
  })
  const command = agyCommand(host.ctx, { engine, catalogue, versions, config })
  const ask = (...words: string[]) => command.run(agent, words, signal)
  return { host, agent, catalogue, engine, command, ask }
}

describe('status', () => {
  test('is what it says without a word, before anything was asked', async () => {
    const { ask } = await commandWith()
    const { kind, text } = await ask()
    expect(kind).toBe('success')
    expect(text).toContain(`program: ${STAND_IN}, version 1.3.2`)
    expect(text).toContain('sign-in: not known yet')
    expect(text).toContain('model: none yet')
    expect(text).toContain('approvals: cli: the CLI decides')
  })

  test('names the model that ran, the models that were listed, and what is configured without secrets', async () => {
    const { ask, agent, catalogue } = await commandWith({ env: { API_KEY: 's3cret' }, model: 'gemini-3.1-pro-high' })
    await say(agent, 'hello')
    await catalogue.list(10_000)
    const { text } = await ask('status')
    expect(text).toContain('model: default of "agy"')
    expect(text).toContain('sign-in: signed in')
    expect(text).toContain('env: API_KEY')
    expect(text).toContain('model: "gemini-3.1-pro-high"')
    expect(text).not.toContain('s3cret')
  })

  test('says that another loop drives the session', async () => {
    const { command, host } = await commandWith()
    const own = await host.create({ provider: 'echo', model: 'echo-1' })
    await say(own, 'hello')
    const { text } = await command.run(own, ['status'], new AbortController().signal)
    expect(text).toContain(`model: echo-1 of "echo", which dsh's own loop drives`)
  })

  test('says what stands in the way of the program', async () => {
    const { ask } = await commandWith({ bin: '/nowhere/agy' })
    expect((await ask()).text).toContain('The configured bin "/nowhere/agy" does not exist.')
  })

  test('says whether the approvals are proved', async () => {
    const { ask, agent, engine } = await commandWith({ approvals: 'host' })
    expect((await ask()).text).toContain('to be proved for this workspace by the next run')
    const gate = { decide: async () => ({ allowed: true }) as const, ask: async () => ({ kind: 'nobody' }) as const }
    const run = engine.run({
      prompt: { files: [], text: () => 'hello' },
      cwd: agent.session.header.cwd ?? '/',
      permissions: { confined: true, everythingAllowed: false },
      gate,
      scope: 't1s1',
      signal: new AbortController().signal,
    })
    for await (const _event of run) {
      // To its end.
    }
    expect((await ask()).text).toContain('proved for this workspace')
  })
})

test('models are those that were listed, and it does not list them itself', async () => {
  const { ask, catalogue } = await commandWith()
  expect(await ask('models')).toMatchObject({ kind: 'error', text: expect.stringContaining('Not listed yet') })
  await catalogue.list(10_000)
  const { kind, text } = await ask('models')
  expect(kind).toBe('success')
  expect(text).toContain('Gemini 3.8 Flash (High): gemini-3.8-flash-high')
})

test('models that could not be listed say why', async () => {
  const { ask, catalogue } = await commandWith({ bin: '/nowhere/agy' })
  await catalogue.list(10_000)
  expect(await ask('models')).toMatchObject({ kind: 'error', text: expect.stringContaining('/nowhere/agy') })
})

test('doctor looks at the configured program', async () => {
  const { ask } = await commandWith({ bin: '/nowhere/agy' })
  const { text } = await ask('doctor')
  expect(text).toMatch(/^in the way: program\n/)
  expect(text).toContain('AGY_EXECUTABLE_MISSING')
})

test.each([['nonsense'], ['status', 'more']])('anything else is answered with the usage', async (...words) => {
  const { ask } = await commandWith()
  expect(await ask(...words)).toEqual({ kind: 'error', text: 'Usage: /agy status | models | doctor' })
})
