/** One session on the real dsh web, through everything that a person does to it; what the child was told at each point. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { dshHome, expectValid, startWeb } from '../support/dsh.ts'

const HANDS = pathToFileURL(join(import.meta.dirname, '..', 'support', 'host-hands.mjs')).href

/** One red pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='

test('preset, skill, image, model, effort, permissions, steering, compaction, fork, restart', async () => {
  const home = dshHome()
  const skill = join(home.cwd, '.dsh', 'skills', 'review')
  mkdirSync(skill, { recursive: true })
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: review\ndescription: How to review.\n---\nLook for MARK first.\n')
  const portFile = join(home.home, 'hands.port')
  const hands = async (act: string, more: object) => {
    const body = JSON.stringify({ act, sessionId, ...more })
    const response = await fetch(`http://127.0.0.1:${readFileSync(portFile, 'utf8')}`, { method: 'POST', body })
    const { error, result } = (await response.json()) as { error?: string; result?: unknown }
    if (error !== undefined) throw new Error(error)
    return result
  }
  const models = join(home.cwd, 'models.txt')
  const tiers = ['low', 'medium', 'high'].map(tier => `gemini-3.1-pro-${tier}\tGemini 3.1 Pro (${tier})`)
  writeFileSync(models, tiers.join('\n'))
  const overlay = () =>
    home.overlay({
      probe: '16-plan-mode-interleaved',
      env: { AGY_STANDIN_DELAY_MS: '15', AGY_STANDIN_MODELS: models },
      rows: [
        // Its title would be one more call.
        { id: 'session-title-llm', disabled: true },
        { insert: [{ id: 'host-hands', name: HANDS, config: { portFile } }] },
      ],
    })
  const web = await startWeb(home, overlay())
  const { sessionId } = await web.rpc<{ sessionId: string }>('session.create', { cwd: home.cwd, agentPreset: 'agy' })
  const last = () => home.received().at(-1)

  await web.say(sessionId, '/review the code')
  expect(last()?.prompt).toMatch(/# user invokes the skill review\n\| <skill_content name="review">/)
  expect(last()?.prompt.match(/MARK/g)).toHaveLength(1)
  expect(last()?.prompt).not.toContain('available_skills')

  await web.say(sessionId, [
    { type: 'text', text: 'which colour?' },
    { type: 'image', mediaType: 'image/png', data: PIXEL, name: 'red.png' },
  ])
  expect(last()?.files).toMatchObject([{ base64: PIXEL, mode: '600' }])
  expect(last()?.prompt).toContain('red.png, 1 × 1]')

  const pick = (reasoningEffort?: string) =>
    web.rpc('session.selectModel', { sessionId, provider: 'agy', model: 'gemini-3.1-pro', reasoningEffort })
  await pick()
  await web.say(sessionId, 'with another model')
  expect(last()?.argv).toContain('--model=gemini-3.1-pro-medium')
  await pick('high')
  await web.say(sessionId, 'with more effort')
  expect(last()?.argv).toContain('--model=gemini-3.1-pro-high')

  expect(last()?.argv).toContain('--sandbox')
  await hands('permissions', { mode: 'danger-full-access', policy: 'never' })
  await web.say(sessionId, 'with full access')
  expect(last()?.argv).toContain('--dangerously-skip-permissions')
  await hands('permissions', { mode: 'read-only', policy: 'ask' })

  const starts = home.received().length
  await web.say(sessionId, 'and steer', { at: 'tool/call', text: 'be quick' })
  expect(home.received()).toHaveLength(starts + 2)
  expect(last()?.prompt).toContain('| be quick')

  const trunk = home.received().length
  await hands('command', { line: '/compact' })
  expect(home.received()).toHaveLength(trunk + 1)
  expect(last()?.cwd).not.toBe(home.cwd)
  // A call of the host's own names no effort: the model's default takes its place.
  expect(last()?.argv).toContain('--model=gemini-3.1-pro-medium')
  await web.say(sessionId, 'after the compaction')
  expect(last()?.argv).toContain('--sandbox')
  expect(last()?.prompt).toContain('# summary of the log up to here')
  expect(last()?.prompt).not.toContain('| which colour?')

  const fork = await web.rpc<{ sessionId: string }>('session.fork', { sessionId })
  await web.say(fork.sessionId, 'in the fork')
  expect(last()?.prompt).toContain('| after the compaction')
  expect(last()?.prompt).toContain('| in the fork')
  await web.say(sessionId, 'in the trunk')
  expect(last()?.prompt).not.toContain('| in the fork')
  await web.stop()

  const again = await startWeb(home, overlay())
  await again.say(sessionId, 'after the restart')
  expect(last()?.prompt).toContain('| in the trunk')
  expect(last()?.argv).toContain('--model=gemini-3.1-pro-high')
  await again.stop()
  for (const events of (await home.logs()).values()) expectValid(events)
})
