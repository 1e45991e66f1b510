/** The host's own calls on a hosted session: titles and compaction, asked of the real llm service. */
import { existsSync } from 'node:fs'
import { BlockAssembler, createUserMessage, type GenerateOptions } from '@deepseek-ai/dsh-llm'
import { describe, expect, test } from 'vitest'
import { startHost, type TestHost } from '../support/host.ts'

async function ask(host: TestHost, more: Partial<GenerateOptions> = {}) {
  const content = [{ type: 'text' as const, text: 'Name this session.' }]
  const assembler = new BlockAssembler()
  const stream = host.ctx.llm.stream({
    provider: 'agy',
    model: 'default',
    system: 'Answer with a title only.',
    messages: [createUserMessage({ content, source: { kind: 'plugin', plugin: 'title' } })],
    purpose: 'session-title',
    ...more,
  })
  for await (const chunk of stream) assembler.push(chunk)
  return assembler
}

describe('an auxiliary call', () => {
  test('is answered by a child that may do nothing, away from any workspace', async () => {
    const host = await startHost({ dangerouslySkipPermissions: true, env: { AGY_STANDIN_PROBE: '01-text-answer' } })
    const assembler = await ask(host)
    expect(assembler.finish).toEqual({ kind: 'stop' })
    expect(assembler.usage?.inputTokens).toBe(5286)
    expect(assembler.blocks()).toEqual([{ type: 'text', text: 'HELLO_AGY\n' }])
    const [{ argv, cwd, prompt } = { argv: [], cwd: '', prompt: '' }] = host.received()
    expect(argv).toContain('--sandbox')
    expect(argv).not.toContain('--dangerously-skip-permissions')
    expect(argv).toContain(`--add-dir=${cwd}`)
    expect(existsSync(cwd)).toBe(false)
    expect(prompt).toMatch(/# context from dsh\n\| Answer with a title only\.\n\n# user\n\| Name this session\.\n/)
  })

  test('does not wait for a slot that its own session holds', async () => {
    const host = await startHost({
      maxChildren: 1,
      env: { AGY_STANDIN_PROBE: '02-two-tools', AGY_STANDIN_DELAY_MS: '5' },
    })
    const agent = await host.create()
    const during = new Promise<string>((resolve, reject) => {
      host.ctx.on('session/event', (_session, event) => {
        if (event.type === 'tool/call') ask(host).then(({ finish }) => resolve(finish.kind), reject)
      })
    })
    agent.followup(createUserMessage({ content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } }))
    await agent.whenIdle()
    expect(await during).toBe('stop')
  })

  test('that fails says why, and one that is stopped says so', async () => {
    const host = await startHost({ env: { AGY_STANDIN_PROBE: '09-quota' } })
    expect((await ask(host)).finish).toMatchObject({ kind: 'error', failure: { code: 'AGY_QUOTA' } })
    const held = await startHost({ env: { AGY_STANDIN_HOLD: '2' } })
    const stop = new AbortController()
    const asked = ask(held, { signal: stop.signal }).catch(error => error)
    stop.abort()
    await asked
    expect(held.received().length).toBeLessThanOrEqual(1)
  })

  test('is refused by name where the deployment wants none', async () => {
    const host = await startHost({ auxiliary: 'off' })
    const { finish } = await ask(host)
    expect(finish).toMatchObject({ kind: 'error', failure: { code: 'ENGINE_AUXILIARY_UNSERVED' } })
    expect(host.received()).toEqual([])
  })
})
