import { describe, expect, test } from 'vitest'
import { dshHome, echoProviderRows, expectValid, startWeb } from '../support/dsh.ts'

describe('the real dsh web', () => {
  test('sends each step to the engine of the picked model, and the log says so', async () => {
    const home = dshHome()
    const web = await startWeb(home, home.overlay({ probe: '02-two-tools', rows: echoProviderRows }))
    const { sessionId } = await web.rpc<{ sessionId: string }>('session.create', { cwd: home.cwd })
    const pick = (provider: string, model: string) => web.rpc('session.selectModel', { sessionId, provider, model })

    await pick('agy', 'gemini-3.8-flash-high')
    await web.say(sessionId, 'one')
    await pick('echo', 'echo-1')
    await web.say(sessionId, 'two')
    await pick('agy', 'gemini-3.8-flash-high')
    await web.say(sessionId, 'three')

    const events = await web.history(sessionId)
    const headers = events
      .filter(event => event.type === 'request/header')
      .map(event => event.data as { reason: string; header: { config: { provider: string; model: string } } })
      .map(({ reason, header }) => `${reason} ${header.config.provider}/${header.config.model}`)
    expect(headers).toEqual([
      'initial agy/gemini-3.8-flash-high',
      'change echo/echo-1',
      'change agy/gemini-3.8-flash-high',
    ])
    const ends = events.filter(event => event.type === 'turn/end').map(event => event.data.reason)
    expect(ends).toEqual([{ kind: 'completed' }, { kind: 'completed' }, { kind: 'completed' }])
    // Beside the turns the session's title was asked for, away from the workspace.
    const [, third] = home.received().filter(({ cwd }) => cwd === home.cwd)
    expect(third?.argv).toContain('--model=gemini-3.8-flash-high')
    expect(third?.prompt).toContain('| own loop')
    await web.stop()
    expectValid((await home.logs()).get(sessionId))
  })

  test('lists the models of the CLI in its picker', async () => {
    const home = dshHome()
    const web = await startWeb(home, home.overlay({}))
    const { sessionId } = await web.rpc<{ sessionId: string }>('session.create', { cwd: home.cwd })
    const models = JSON.stringify(await web.rpc('session.models', { sessionId }))
    expect(models).toContain('"gemini-3.8-flash-high"')
    expect(models).toContain('Gemini 3.8 Flash (High)')
  })
})
