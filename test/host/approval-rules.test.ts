/** What is decided without asking anybody: by the session's knobs as they stand at each call. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setApprovalPolicy } from '@deepseek-ai/dsh-user-approval'
import { describe, expect, test } from 'vitest'
import { privateFolder } from '../support/folders.ts'
import { always, auditOf, callsOf, command, DONE, gatedHost, runOf } from '../support/gated.ts'
import { expectValidLog, lastTurnEnd, say } from '../support/host.ts'

describe('nobody is asked', () => {
  const linked = (cwd: string, to: string): string => {
    symlinkSync(to, join(cwd, 'link'))
    return join(cwd, 'link')
  }
  const write = (TargetFile: string) => ({
    name: 'write_to_file',
    args: { TargetFile, CodeContent: 'x\n' },
    shown: { TargetFile },
  })

  test.each([
    ['read-only', 'never', 'run_command', false],
    ['read-only', 'ask', 'run_command', false],
    ['read-only', 'ask', 'write_to_file', false],
    ['read-only', 'never', 'view_file', true],
    ['workspace-write', 'never', 'run_command', false],
    ['workspace-write', 'never', 'write_to_file', true],
    ['workspace-write', 'never', 'search_web', false],
    ['danger-full-access', 'never', 'run_command', true],
    ['danger-full-access', 'never', 'tool_of_tomorrow', true],
  ])('in %s with "%s", %s: %s', async (sandbox, policy, name, allowed) => {
    const cwd = privateFolder()
    const host = await gatedHost(
      [{ tools: [{ name, args: name === 'write_to_file' ? { TargetFile: join(cwd, 'a') } : {} }] }, DONE],
      {
        approves: () => {
          throw new Error('asked after all')
        },
      },
      { sandbox, policy },
    )
    const agent = await host.create({ cwd })
    await say(agent, 'go')
    expect(callsOf(agent.session)).toMatchObject([{ failed: !allowed }])
    expect(auditOf(agent.session)).toEqual([])
    expect(lastTurnEnd(agent.session)).toEqual({ kind: 'completed' })
    expectValidLog(agent.session)
  })

  test.each([
    ['outside', (_cwd: string, out: string) => join(out, 'a')],
    ['through a link', (cwd: string, out: string) => join(linked(cwd, out), 'a')],
    ['through a link that leads nowhere yet', (cwd: string, out: string) => linked(cwd, join(out, 'later'))],
    ['by a step upwards', (cwd: string) => join(cwd, 'a', '..', '..', 'b')],
    ['of a relative path', () => 'a'],
    ["of the CLI's own folder", (cwd: string) => join(cwd, '.agents', 'hooks.json')],
  ])('a write %s is denied in workspace-write', async (_what, target) => {
    const [cwd, out] = [privateFolder(), privateFolder()]
    const host = await gatedHost([{ tools: [write(target(cwd, out))] }, DONE], {}, { policy: 'never' })
    const agent = await host.create({ cwd })
    await say(agent, 'go')
    expect(callsOf(agent.session)).toMatchObject([{ failed: true, text: expect.stringMatching(/^Denied: /) }])
  })

  test('where nobody is there, the model is told so', async () => {
    const { calls, audit, end } = await runOf([{ tools: [command('ls'), command('pwd')] }])
    for (const { text } of calls) expect(text).toContain('nobody is there')
    expect(audit).toMatchObject([{ outcome: 'unavailable' }, { outcome: 'unavailable' }])
    expect(end).toEqual({ kind: 'completed' })
  })

  test('the knobs are read at each call', async () => {
    const host = await gatedHost(
      [{ tools: [command('one')] }, { tools: [command('two')] }, DONE],
      always('allowed-once'),
    )
    const agent = await host.create()
    host.ctx.on('session/event', (_session, event) => {
      // Not inside the append of another event.
      if (event.type === 'tool/result') queueMicrotask(() => setApprovalPolicy(agent.session, 'never'))
    })
    await say(agent, 'go')
    expect(
      callsOf(agent.session)
        .map(({ failed }) => failed)
        .slice(0, 2),
    ).toEqual([false, true])
    expect(host.asked).toHaveLength(1)
  })
})
