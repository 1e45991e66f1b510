/** What other services of the host do to a hosted session: compaction, permissions, forks. Real packages. */
import BasicCompactionEngine from '@deepseek-ai/dsh-compaction-basic'
import SandboxPolicyService, { setSandboxMode } from '@deepseek-ai/dsh-sandbox-policy'
import TokenMeter from '@deepseek-ai/dsh-token-meter'
import ApprovalService, { setApprovalPolicy } from '@deepseek-ai/dsh-user-approval'
import { expect, test } from 'vitest'
import { expectValidLog, lastTurnEnd, say, startHost } from '../support/host.ts'

const ANSWER = { AGY_STANDIN_PROBE: '01-text-answer' }

test('compaction folds a hosted session by a call of its own, and the next child is told the summary alone', async () => {
  const host = await startHost({ env: ANSWER })
  await host.ctx.plugin(TokenMeter)
  await host.ctx.plugin(BasicCompactionEngine, { retainTokens: 1, auto: false })
  const agent = await host.create()
  await say(agent, `remember this: ${'long words '.repeat(2_000)}`)
  await say(agent, 'and this')
  const result = await host.ctx.compaction.compactNow(agent, new AbortController().signal)
  expect(result).not.toBeNull()
  const [, , call] = host.received()
  expect(call?.cwd).not.toBe(host.cwd)
  expect(call?.prompt).toContain('| remember this: long words')

  await say(agent, 'what was it?')
  const last = host.received().at(-1)
  expect(last?.prompt).toContain('# summary of the log up to here\n')
  expect(last?.prompt).toContain('| HELLO_AGY')
  expect(last?.prompt).not.toContain('long words')
  expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
  expectValidLog(agent.session)
})

test('a change of the permissions counts for the next child', async () => {
  const host = await startHost({ env: ANSWER })
  await host.ctx.plugin(SandboxPolicyService, { mode: 'workspace-write' })
  await host.ctx.plugin(ApprovalService, { policy: 'ask' })
  const agent = await host.create()
  const flags = async (): Promise<string[]> => {
    await say(agent, 'go')
    return (host.received().at(-1)?.argv ?? []).filter(arg => /^--(?:sandbox|dangerously)/.test(arg))
  }
  expect(await flags()).toEqual(['--sandbox'])
  setSandboxMode(agent.session, 'danger-full-access')
  expect(await flags()).toEqual([])
  setApprovalPolicy(agent.session, 'never')
  expect(await flags()).toEqual(['--dangerously-skip-permissions'])
  setSandboxMode(agent.session, 'read-only')
  expect(await flags()).toEqual(['--sandbox'])
  expectValidLog(agent.session)
})
