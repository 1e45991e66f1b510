/** dsh decides on the calls of a hosted run: real services, a real child that asks by its real hook before each call. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setSandboxMode } from '@deepseek-ai/dsh-sandbox-policy'
import type { ApprovalOutcome } from '@deepseek-ai/dsh-user-approval'
import { UserQuestionError } from '@deepseek-ai/dsh-user-questions'
import { describe, expect, test } from 'vitest'
import { privateFolder } from '../support/folders.ts'
import { always, auditOf, callsOf, command, DONE, gatedHost, type Person, runOf } from '../support/gated.ts'
import { expectValidLog, lastTurnEnd, say, storedText } from '../support/host.ts'

describe('a person decides', () => {
  test('a refused command shows as denied and the model goes on; an allowed one runs', async () => {
    const touch = join(privateFolder(), 'ran')
    const outcomes: ApprovalOutcome[] = ['rejected', 'allowed-once']
    const { host, agent, calls, audit, end } = await runOf(
      [
        { tools: [command('make it', { output: 'never', touch })] },
        { tools: [command('make it', { output: 'made', touch })] },
      ],
      { approves: () => outcomes.shift() ?? 'rejected' },
    )
    const [refused, allowed] = calls
    expect(refused).toMatchObject({ failed: true, text: expect.stringMatching(/^Denied: The user refused/) })
    expect(allowed).toMatchObject({ failed: false, text: 'made' })
    expect(readFileSync(touch, 'utf8')).toBe('run_command\n')
    expect(audit).toEqual([
      { toolName: 'run_command', callId: refused?.id, outcome: 'rejected' },
      { toolName: 'run_command', callId: allowed?.id, outcome: 'allowed-once' },
    ])
    expect(host.asked.map(({ reason }) => reason)).toEqual(
      Array(2).fill('Antigravity wants to run a command (run_command):\nmake it ·\nCwd: /w'),
    )
    expect(storedText(agent.session)).toBe('so be it')
    expect(end).toEqual({ kind: 'completed' })
    expect(host.starts()[0]).toContain('--dangerously-skip-permissions')
  })

  test('the call is in the log before the person is asked', async () => {
    let openAtAsking: string | undefined
    const host = await gatedHost([{ tools: [command('ls')] }, DONE], {
      approves: ({ callId }) => {
        openAtAsking = callsOf(agent.session).find(({ id, text }) => id === callId && text === undefined)?.name
        return 'allowed-once'
      },
    })
    const agent = await host.create()
    await say(agent, 'go')
    expect(openAtAsking).toBe('bash')
  })

  test('what only reads is not asked about, what is unknown is', async () => {
    const { calls, audit } = await runOf(
      [
        { tools: [{ name: 'view_file', args: { AbsolutePath: '/w/a' } }] },
        { tools: [{ name: 'tool_of_tomorrow', args: {} }] },
        { tools: [{ name: 'invoke_subagent', args: { Subagents: [] } }] },
      ],
      always('rejected'),
    )
    expect(calls.map(({ name, failed }) => [name, failed])).toEqual([
      ['read', false],
      ['tool_of_tomorrow', true],
      ['invoke_subagent', true],
    ])
    expect(audit.map(({ toolName }) => toolName)).toEqual(['tool_of_tomorrow', 'invoke_subagent'])
  })

  test.each(['together', 'one after the other'])(
    'twenty calls at once, asked %s, are decided each on its own',
    async how => {
      const calls = Array.from({ length: 20 }, (_, at) => command(`job ${at}`, { output: `did ${at}` }))
      const waiting: (() => void)[] = []
      const {
        calls: told,
        audit,
        end,
      } = await runOf([{ tools: calls, oneByOne: how !== 'together' }], {
        approves: ({ reason }) =>
          new Promise(resolve => {
            const at = Number(/job (\d+)/.exec(reason ?? '')?.[1])
            waiting.push(() => resolve(at % 3 === 0 ? 'allowed-once' : 'rejected'))
            // Asked together, the last one is answered first.
            if (how !== 'together' || waiting.length === 20) for (const answer of waiting.splice(0).reverse()) answer()
          }),
      })
      expect(told).toHaveLength(20)
      for (const { id, arguments: args, text, failed } of told) {
        const at = Number(/\d+/.exec(String(args.command))?.[0])
        expect(failed).toBe(at % 3 !== 0)
        expect(text).toMatch(at % 3 === 0 ? `did ${at}` : /^Denied: /)
        expect(audit.find(({ callId }) => callId === id)?.outcome).toBe(at % 3 === 0 ? 'allowed-once' : 'rejected')
      }
      expect(end).toEqual({ kind: 'completed' })
    },
  )

  test('a stop closes the dialog, and the audit is closed inside the turn', async () => {
    let dialog: AbortSignal | undefined
    const host = await gatedHost([{ tools: [command('ls')] }, DONE], {
      approves: ({ signal }) => {
        dialog = signal
        agent.cancel({ kind: 'user' })
        return new Promise(() => {})
      },
    })
    const agent = await host.create()
    await say(agent, 'go')
    expect(dialog?.aborted).toBe(true)
    expect(lastTurnEnd(agent.session)).toEqual({ kind: 'aborted', reason: { kind: 'user' } })
    expect(auditOf(agent.session)).toMatchObject([{ outcome: 'cancelled' }])
    const types = agent.session.events.map(({ type }) => type as string)
    expect(types.lastIndexOf('approval/decided')).toBeLessThan(types.lastIndexOf('turn/end'))
    expectValidLog(agent.session)
  })

  test('a dialog that nobody answers in time is a denial, and the clocks stand still meanwhile', async () => {
    const { calls, end, audit } = await runOf(
      [{ tools: [command('ls')] }],
      { approves: () => new Promise(() => {}) },
      { approvalTimeoutMs: 4_000, toolStallMs: 3_000, stallMs: 3_000 },
    )
    expect(calls).toMatchObject([
      { failed: true, text: expect.stringContaining('Nobody decided on this call in time') },
    ])
    expect(audit).toMatchObject([{ outcome: 'cancelled' }])
    expect(end).toEqual({ kind: 'completed' })
  })

  test('a hook that the CLI ends closes the dialog, and the run goes on', async () => {
    let dialog: AbortSignal | undefined
    const patience = join(privateFolder(), 'patience')
    const { calls, audit, end } = await runOf([{ tools: [command('ls', { patience })] }], {
      approves: ({ signal }) => {
        dialog = signal
        writeFileSync(patience, '')
        return new Promise(() => {})
      },
    })
    expect(dialog?.aborted).toBe(true)
    expect(calls).toMatchObject([{ failed: true }])
    expect(audit).toMatchObject([{ outcome: 'cancelled' }])
    expect(end).toEqual({ kind: 'completed' })
  })

  test('a call that ends by itself, and a run that ends, close the dialog', async () => {
    const dialogs: (AbortSignal | undefined)[] = []
    const [first, second] = [join(privateFolder(), 'asked'), join(privateFolder(), 'asked')]
    const result = { event: 'result', result: { status: 'SUCCESS', response: 'done' } }
    const error = 'tool call denied by pre-tool hook: no patience'
    const { audit, end } = await runOf(
      [
        { tools: [command('ls', { hook: 'hasty', until: first, error })] },
        { tools: [command('pwd', { hook: 'hasty', until: second, silent: true })] },
        { line: JSON.stringify(result) },
        { wait: 'signal' },
      ],
      {
        approves: ({ signal, reason }) => {
          dialogs.push(signal)
          writeFileSync(reason?.includes('pwd') ? second : first, '')
          return new Promise(() => {})
        },
      },
    )
    expect(dialogs.map(signal => signal?.aborted)).toEqual([true, true])
    expect(audit.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled'])
    expect(end).toEqual({ kind: 'completed' })
  })

  test('a command that is too long to be shown is denied without asking', async () => {
    const { host, calls } = await runOf(
      [{ tools: [command(`echo ${'x'.repeat(70_000)}; rm -r .`)] }],
      always('allowed-once'),
    )
    expect(host.asked).toEqual([])
    expect(calls[0]?.text).toContain('too long to be shown')
  })

  test('nothing is hidden in the name of a tool', async () => {
    const { host } = await runOf([{ tools: [{ name: 'view\u202e\nfile', args: {} }] }], always('rejected'))
    expect(host.asked[0]?.reason).toContain('view\\u{202e} ⏎\nfile')
  })

  test('a host that goes down in mid-question closes the dialog and leaves no child', async () => {
    const asked = Promise.withResolvers<AbortSignal | undefined>()
    const host = await gatedHost([{ tools: [command('ls')] }, { wait: 'signal' }], {
      approves: ({ signal }) => {
        asked.resolve(signal)
        return new Promise(() => {})
      },
    })
    const agent = await host.create()
    const said = say(agent, 'go')
    const dialog = await asked.promise
    const [pid = 0] = host.pids()
    expect(process.kill(pid, 0)).toBe(true)
    await host.ctx.fiber.dispose()
    await said.catch(() => {})
    expect(dialog?.aborted).toBe(true)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  test('permissions that are tightened while the dialog is open win', async () => {
    const host = await gatedHost([{ tools: [command('ls')] }, DONE], {
      approves: () => {
        setSandboxMode(agent.session, 'read-only')
        return 'allowed-once'
      },
    })
    const agent = await host.create()
    await say(agent, 'go')
    expect(callsOf(agent.session)[0]).toMatchObject({ failed: true, text: expect.stringContaining('read-only') })
  })

  test('a call of a subagent is asked about by its own conversation, and has no card', async () => {
    const { calls, audit, host, end } = await runOf(
      [{ tools: [command('ls', { conversation: 'child-of-odd', prompt: true })] }],
      always('rejected'),
    )
    expect(calls).toEqual([])
    expect(audit).toEqual([{ toolName: 'run_command', callId: undefined, outcome: 'rejected' }])
    expect(host.asked[0]?.reason).toContain('A subagent of Antigravity')
    expect(end).toEqual({ kind: 'completed' })
  })
})

describe('a question', () => {
  const ask = (questions: object[], more: object = {}) => ({
    name: 'ask_question',
    args: { questions },
    prompt: true,
    ...more,
  })
  const colour = { question: 'Which colour?', options: ['red', 'green'], is_multi_select: false }
  const days = { question: 'Which days?', options: ['Monday', 'Tuesday'], is_multi_select: true }
  const name = { question: 'Which name?', options: [] }

  test('single and multiple choice and free text in one call are answered', async () => {
    const { calls, end } = await runOf([{ tools: [ask([colour, days, name])] }], {
      answers: async ({ questions }) => {
        expect(questions).toMatchObject([
          { question: 'Which colour?', options: [{ label: 'red' }, { label: 'green' }], multiSelect: false },
          { question: 'Which days?', multiSelect: true },
          { question: 'Which name?' },
        ])
        expect(questions[2]?.options).toBeUndefined()
        const [a = '', b = '', c = ''] = questions.map(({ id }) => id)
        return {
          answers: [
            { id: c, selected: [], custom: 'Ada' },
            { id: a, selected: ['green'] },
            { id: b, selected: ['Monday', 'Tuesday'] },
          ],
        }
      },
    })
    expect(calls).toMatchObject([{ name: 'ask_user_question', failed: false }])
    expect(JSON.parse(calls[0]?.text ?? '')).toEqual({
      answers: [
        { id: 'q1', question: 'Which colour?', selected: ['green'] },
        { id: 'q2', question: 'Which days?', selected: ['Monday', 'Tuesday'] },
        { id: 'q3', question: 'Which name?', selected: [], custom: 'Ada' },
      ],
    })
    expect(end).toEqual({ kind: 'completed' })
  })

  test.each([
    ['dismissed', { answers: () => Promise.reject(new UserQuestionError('no', 'ASK_CANCELLED')) }, 'gave no answer'],
    ['expired', { answers: () => new Promise<never>(() => {}) }, 'gave no answer'],
    ['asked of nobody', {}, 'Nobody is there to answer'],
  ] satisfies [string, Person, string][])('that is %s says so', async (_what, person, words) => {
    const { calls, end } = await runOf([{ tools: [ask([colour])] }], person, { approvalTimeoutMs: 1000 })
    expect(calls).toMatchObject([{ failed: true, text: expect.stringContaining(words) }])
    expect(end).toEqual({ kind: 'completed' })
  })

  test('that cannot be read is a call like any other', async () => {
    const { audit } = await runOf([{ tools: [ask([{ options: [] }])] }], always('rejected'))
    expect(audit).toMatchObject([{ toolName: 'ask_question', outcome: 'rejected' }])
  })

  test('is answered under full access as well', async () => {
    const { calls } = await runOf(
      [{ tools: [ask([name])] }],
      {
        answers: async ({ questions }) => ({ answers: [{ id: questions[0]?.id ?? '', selected: [], custom: 'Ada' }] }),
      },
      { sandbox: 'danger-full-access', policy: 'never' },
    )
    expect(calls).toMatchObject([{ failed: false, text: expect.stringContaining('"custom":"Ada"') }])
  })
})

describe('what the hook tells of files', () => {
  const file = (hook: object) => ({
    name: 'write_to_file',
    args: { TargetFile: '/w/a', CodeContent: 'new\n' },
    shown: { TargetFile: '/w/a' },
    ...hook,
  })

  test('is on the card, where it does', async () => {
    const { calls } = await runOf([{ tools: [file({})] }], always('allowed-once'))
    expect(calls[0]?.arguments).toEqual({ file_path: '/w/a', content: 'new\n' })
  })

  test('is left out, where it does not', async () => {
    const { calls } = await runOf([{ tools: [file({ args: { TargetFile: '/w/a' } })] }], always('allowed-once'))
    expect(calls[0]?.arguments).toEqual({ file_path: '/w/a' })
  })

  test('is cut, where it is longer than a card', async () => {
    const { calls } = await runOf(
      [{ tools: [file({ args: { TargetFile: '/w/a', CodeContent: 'x'.repeat(200_000) } })] }],
      always('allowed-once'),
    )
    expect(String(calls[0]?.arguments.content)).toMatch(/^x+\n… \(134464 more characters\)$/)
    expect(calls[0]?.failed).toBe(false)
  })
})
