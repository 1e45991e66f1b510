/** dsh keeps a loop on a host that the engine does not know, whatever stands in the row. */
import type { Context } from '@deepseek-ai/cordis'
import { SessionId } from '@deepseek-ai/dsh-session'
import z from '@deepseek-ai/schemastery'
import { expect, onTestFinished, test } from 'vitest'
import { openBareHost } from '../../src/cli/bare-host.ts'
import { refusal } from '../../src/host/generation.ts'
import { mountOwnLoop, SERVICES } from '../../src/host/own-loop.ts'
import { privateFolder } from '../support/folders.ts'
import { EchoAdapter, say, storedText } from '../support/host.ts'

test.each([{ maxParallelToolCalls: 'many' }, { bin: 7 }, null])('%j', async row => {
  const ctx = await openBareHost()
  onTestFinished(() => ctx.fiber.dispose())
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
