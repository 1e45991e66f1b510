/** dsh keeps a loop on a host that the engine does not know, whatever stands in the row. */
import { Context } from '@deepseek-ai/cordis'
import AgentRegistry from '@deepseek-ai/dsh-agent'
import LlmRuntime from '@deepseek-ai/dsh-llm'
import SessionStore, { SessionId } from '@deepseek-ai/dsh-session'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import z from '@deepseek-ai/schemastery'
import { expect, onTestFinished, test } from 'vitest'
import { refusal } from '../../src/host/generation.ts'
import { mountOwnLoop, SERVICES } from '../../src/host/own-loop.ts'
import { privateFolder } from '../support/folders.ts'
import { EchoAdapter, say, storedText } from '../support/host.ts'

test.each([{ maxParallelToolCalls: 'many' }, { bin: 7 }, null])('%j', async row => {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(LlmRuntime)
  await ctx.plugin(SessionStore)
  await ctx.plugin(SystemPrompt, {})
  await ctx.plugin(ToolRuntime, {})
  await ctx.plugin(AgentRegistry)
  await ctx.plugin(
    {
      name: 'own-loop',
      inject: SERVICES,
      Config: z.any(),
      apply: (scope: Context, raw: unknown) => mountOwnLoop(scope, raw, 'agy', refusal('it is odd')),
    },
    row,
  )
  ctx.llm.registerAdapter(['echo'], new EchoAdapter())
  const { agent } = await ctx.agents.create({
    sessionId: SessionId('session'),
    meta: { cwd: privateFolder() },
    agentOptions: { provider: 'echo', model: 'echo' },
  })
  await say(agent, 'hello')
  expect(storedText(agent.session)).toBe('own loop')
})
