/** Images and the overflow of a long log: files that the model may read during the run, and that are gone after it. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import LocalAttachmentStore from '@deepseek-ai/dsh-attachment-local'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { describe, expect, test } from 'vitest'
import { privateFolder } from '../support/folders.ts'
import { expectValidLog, lastTurnEnd, say, startHost, type TestHost } from '../support/host.ts'

/** One red pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
)
const ANSWER = { AGY_STANDIN_PROBE: '01-text-answer' }

async function withImages(config: object = {}): Promise<TestHost> {
  const host = await startHost({ env: ANSWER, ...config })
  await host.ctx.plugin(LocalAttachmentStore, { dshHome: privateFolder() })
  return host
}

describe('an image of the request', () => {
  test('lies in a private folder while the child runs, and nowhere afterwards', async () => {
    const host = await withImages()
    const agent = await host.create()
    const attachment = await host.ctx.attachments.saveImage({ data: PIXEL, mediaType: 'image/png', name: 'red.png' })
    agent.followup(
      createUserMessage({
        content: [
          { type: 'text', text: 'which colour?' },
          { type: 'image', attachment },
        ],
        source: { kind: 'user' },
      }),
    )
    await agent.whenIdle()
    expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
    const [{ prompt, files, argv } = { prompt: '', files: [], argv: [] }] = host.received()
    expect(files).toMatchObject([{ mode: '600', base64: PIXEL.toString('base64') }])
    const file = files[0]?.file ?? ''
    expect(argv).toContain(`--add-dir=${dirname(file)}`)
    const alias = /\[(image-[0-9a-f]{8}): red\.png, 1 × 1\]/.exec(prompt)?.[1]
    expect(prompt).toContain(`${alias}.png: ${file}`)
    expect(existsSync(dirname(dirname(file)))).toBe(false)

    // Of an earlier turn it is named, and not handed over again.
    await say(agent, 'and now?')
    const [, second] = host.received()
    expect(second?.files).toEqual([])
    expect(second?.prompt).toContain(`[${alias}: red.png, 1 × 1]`)
    expectValidLog(agent.session)
  })

  test('that cannot be read is skipped, and the prompt says so', async () => {
    const host = await withImages()
    const agent = await host.create()
    const attachment = { ...(await host.ctx.attachments.saveImage({ data: PIXEL, mediaType: 'image/png' })) }
    Object.assign(attachment, { attachmentId: `${attachment.attachmentId.slice(0, -4)}0000` })
    agent.followup(createUserMessage({ content: [{ type: 'image', attachment }], source: { kind: 'user' } }))
    await agent.whenIdle()
    expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
    expect(host.received()[0]).toMatchObject({
      files: [],
      prompt: expect.stringMatching(/image-[0-9a-f]{8}\.png could not be had/),
    })
  })
})

describe('a message that is longer than the CLI takes', () => {
  const long = `begin ${'x'.repeat(250_000)} end`

  test('lies whole in a file that the prompt names, and is gone afterwards', async () => {
    const host = await startHost({ env: ANSWER })
    const agent = await host.create()
    await say(agent, long)
    expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
    const [{ prompt, files } = { prompt: '', files: [] }] = host.received()
    const [whole] = files
    expect(Buffer.from(whole?.base64 ?? '', 'base64').toString()).toContain(long)
    expect(prompt).toContain(`the whole log, with nothing left out: ${whole?.file}`)
    expect(existsSync(whole?.file ?? '')).toBe(false)
  })

  test('is refused by name where nothing may be written', async () => {
    const host = await startHost({ env: ANSWER, transcript: { overflow: 'drop' } })
    const agent = await host.create()
    await say(agent, long)
    expect(lastTurnEnd(agent.session)).toMatchObject({ kind: 'error', error: { code: 'AGY_PROMPT_TOO_LONG' } })
    expect(host.received()).toEqual([])
    expectValidLog(agent.session)
  })

  test('is gone after a stop as well', async () => {
    const host = await startHost({ env: { ...ANSWER, AGY_STANDIN_HOLD: '3' } })
    const agent = await host.create()
    const shown = new Promise<void>(resolve => {
      host.ctx.on('session/event', (_session, event) => {
        if (event.type === 'assistant/chunk') resolve()
      })
    })
    agent.followup(createUserMessage({ content: [{ type: 'text', text: long }], source: { kind: 'user' } }))
    await shown
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    const [whole] = host.received()[0]?.files ?? []
    expect(whole?.file).toContain('whole-log.txt')
    expect(existsSync(whole?.file ?? '')).toBe(false)
  })
})

test('a folder that was removed is a named failure, and the session goes on when it is back', async () => {
  const host = await startHost({ env: ANSWER })
  const agent = await host.create({ cwd: `${host.cwd}/gone` })
  await say(agent, 'hello')
  expect(lastTurnEnd(agent.session)).toMatchObject({
    kind: 'error',
    error: { code: 'ENGINE_CWD_MISSING', message: expect.stringContaining(`${host.cwd}/gone`) },
  })
  expectValidLog(agent.session)
})

test("a skill that the host has not brought is found by the engine's own scan, once", async () => {
  const host = await startHost({ env: ANSWER })
  const folder = join(host.cwd, '.dsh', 'skills', 'review')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'SKILL.md'), 'Look for MARK first.\n')
  const agent = await host.create()
  await say(agent, '/review the code')
  const [{ prompt } = { prompt: '' }] = host.received()
  expect(prompt).toContain(`# user invokes the skill review\n| Its files lie in ${folder}.`)
  expect(prompt.match(/MARK/g)).toHaveLength(1)
  await say(agent, 'and now?')
  expect(host.received()[1]?.prompt).not.toContain('MARK')
})
