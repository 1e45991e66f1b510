/** The preset on the real dsh web: a session of it is hosted from its first step. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dsh, dshHome, echoProviderRows, expectValid, startWeb } from '../support/dsh.ts'

const STANDARD = join(import.meta.dirname, '../../node_modules/@deepseek-ai/dsh/config/agent-presets/standard')

describe('a session of the preset "agy"', () => {
  test('is hosted from its first step, follows picks of its own models, and refuses others in words', async () => {
    const home = dshHome()
    const web = await startWeb(home, home.overlay({ config: { auxiliary: 'off' }, rows: echoProviderRows }))
    const { sessionId } = await web.rpc<{ sessionId: string }>('session.create', { cwd: home.cwd, agentPreset: 'agy' })
    const pick = (provider: string, model: string) => web.rpc('session.selectModel', { sessionId, provider, model })
    const routes = async () =>
      (await web.history(sessionId))
        .filter(event => event.type === 'request/header')
        .map(event => (event.data as { header: { config: { provider: string; model: string } } }).header.config)
        .map(({ provider, model }) => `${provider}/${model}`)

    await web.say(sessionId, 'one')
    expect(await routes()).toEqual(['agy/default'])

    await pick('agy', 'gemini-3.8-flash-high')
    await web.say(sessionId, 'two')
    expect(await routes()).toEqual(['agy/default', 'agy/gemini-3.8-flash-high'])
    expect(home.received().at(-1)?.argv).toContain('--model=gemini-3.8-flash-high')

    await pick('echo', 'echo-1')
    await web.say(sessionId, 'three')
    const end = (await web.history(sessionId)).findLast(event => event.type === 'turn/end')
    expect(end?.data.reason).toMatchObject({
      kind: 'error',
      error: { code: 'ENGINE_PRESET_MODEL', message: expect.stringMatching(/"agy".*"echo-1" of "echo"/) },
    })

    await pick('agy', 'gemini-3.8-flash-high')
    await web.say(sessionId, 'four')
    expect(home.received().at(-1)?.prompt).toContain('| three')
    await web.stop()
    expectValid((await home.logs()).get(sessionId))
  })

  test('can be read after the package is gone, and goes on with any preset in the place of this one', async () => {
    const home = dshHome()
    const web = await startWeb(home, home.overlay({ config: { auxiliary: 'off' }, rows: echoProviderRows }))
    const { sessionId } = await web.rpc<{ sessionId: string }>('session.create', { cwd: home.cwd, agentPreset: 'agy' })
    await web.say(sessionId, 'one')
    await web.stop()
    await dsh(home, ['plugin', '--profile', 'web', 'remove', 'dsh-loop-engine-agy'])

    const without = await startWeb(home, home.overlay({ plugin: false, rows: echoProviderRows }))
    expect(JSON.stringify(await without.history(sessionId))).toContain('HELLO_AGY')
    const refused = without.rpc('session.selectModel', { sessionId, provider: 'echo', model: 'echo-1' })
    await expect(refused).rejects.toThrow('preset \\"agy\\" not found')

    cpSync(STANDARD, join(home.home, '.agent-presets', 'agy'), { recursive: true })
    await without.rpc('session.selectModel', { sessionId, provider: 'echo', model: 'echo-1' })
    await without.say(sessionId, 'two')
    expect((await without.history(sessionId)).at(-1)).toMatchObject({ data: { reason: { kind: 'completed' } } })
    await without.stop()
    expectValid((await home.logs()).get(sessionId))
  })
})
