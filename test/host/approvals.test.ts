/** dsh decides on the calls of a hosted run: real services, a real child that asks by its real hook before each call. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setSandboxMode } from '@deepseek-ai/dsh-sandbox-policy'
import { type ApprovalOutcome, setApprovalPolicy } from '@deepseek-ai/dsh-user-approval'
import { UserQuestionError } from '@deepseek-ai/dsh-user-questions'
import { describe, expect, test } from 'vitest'
import { privateFolder } from '../support/folders.ts'
import { auditOf, callsOf, gatedHost, type Person } from '../support/gated.ts'
import { expectValidLog, lastTurnEnd, say, storedText } from '../support/host.ts'

const command = (CommandLine: string, more: object = {}) => ({
  name: 'run_command',
  args: { CommandLine, Cwd: '/w' },
  ...more,
})
const DONE = { answer: 'so be it' }
const always = (outcome: ApprovalOutcome): Person => ({ approves: () => outcome })

/** One run; its log must be valid however it ends. */
async function runOf(child: readonly object[], person: Person = {}, config: Parameters<typeof gatedHost>[2] = {}) {
  const host = await gatedHost([...child, DONE], person, config)
  const agent = await host.create()
  await say(agent, 'go')
  expectValidLog(agent.session)
  return { host, agent, calls: callsOf(agent.session), audit: auditOf(agent.session), end: lastTurnEnd(agent.session) }
}

const failedWith = (code: string, message: string | RegExp = '') => ({
  kind: 'error',
  error: {
    code,
    message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  },
})

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
      Array(2).fill('Antigravity wants to run a command (run_command):\nmake it\nCwd: /w'),
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
    expect(openAtAsking).toBe('run_command')
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
      ['view_file', false],
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
        const at = Number(/\d+/.exec(String(args.CommandLine))?.[0])
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
      { approvalTimeoutMs: 1500, toolStallMs: 1000, stallMs: 1000 },
    )
    expect(calls).toMatchObject([
      { failed: true, text: expect.stringContaining('Nobody decided on this call in time') },
    ])
    expect(audit).toMatchObject([{ outcome: 'cancelled' }])
    expect(end).toEqual({ kind: 'completed' })
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
    expect(callsOf(agent.session)).toMatchObject([{ name, failed: !allowed }])
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
    expect(calls).toMatchObject([{ name: 'ask_question', failed: false }])
    expect(calls[0]?.text).toBe('Which colour?\n"green"\n\nWhich days?\n"Monday", "Tuesday"\n\nWhich name?\nAda')
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
    expect(calls).toMatchObject([{ failed: false, text: 'Which name?\nAda' }])
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
    expect(calls[0]?.arguments).toEqual({ TargetFile: '/w/a', CodeContent: 'new\n' })
  })

  test('is left out, where it does not', async () => {
    const { calls } = await runOf([{ tools: [file({ args: { TargetFile: '/w/a' } })] }], always('allowed-once'))
    expect(calls[0]?.arguments).toEqual({ TargetFile: '/w/a' })
  })

  test('is cut, where it is longer than a card', async () => {
    const { calls } = await runOf(
      [{ tools: [file({ args: { TargetFile: '/w/a', CodeContent: 'x'.repeat(200_000) } })] }],
      always('allowed-once'),
    )
    expect(String(calls[0]?.arguments.CodeContent)).toMatch(/^x+\n… \(134464 more characters\)$/)
    expect(calls[0]?.failed).toBe(false)
  })
})

describe('the tripwire', () => {
  const BYPASSED = 'AGY_GATE_BYPASSED'

  test.each([
    ['nobody is asked', { hook: 'none' }, 'nobody was asked about it'],
    ['a denial is not obeyed', { hook: 'ignored' }, 'ran although it was denied'],
    [
      'the answer is not waited for',
      { hook: 'hasty' },
      / ran (?:before anybody had decided|although nobody was asked)/,
    ],
  ])('ends the run when %s', async (_what, more, words) => {
    const { end, host } = await runOf([{ tools: [command('rm', { output: 'gone', ...more })] }, { wait: 'signal' }], {
      approves: () => ('hook' in more && more.hook === 'hasty' ? new Promise(() => {}) : 'rejected'),
    })
    expect(end).toMatchObject(failedWith(BYPASSED, words))
    expect(end).toMatchObject(failedWith(BYPASSED, 'an action may already have happened'))
    expect(host.starts()).toHaveLength(1)
  })

  test('ends the run when another call runs than was allowed', async () => {
    const { end } = await runOf(
      [{ tools: [command('ls', { hook: 'first', shown: { CommandLine: 'rm' } })] }, { wait: 'signal' }],
      always('allowed-once'),
    )
    expect(end).toMatchObject(failedWith(BYPASSED, 'another call ran'))
  })

  test.each([
    ['a read that failed by itself', { name: 'view_file', args: { AbsolutePath: '/w/none' }, error: 'no such file' }],
    [
      'arguments that the CLI itself refused',
      { ...command('x'), error: 'declaring permissions: cortex tool run_command: invalid_args' },
    ],
    ["another hook's denial", { ...command('x'), error: 'tool call denied by pre-tool hook: not here' }],
    ['handing over the answer', { name: 'finish', args: { answer: 1 } }],
  ])('lies still for %s', async (_what, call) => {
    const { end } = await runOf([{ tools: [{ ...call, hook: 'none' }] }], always('rejected'))
    expect(end).toEqual({ kind: 'completed' })
  })

  test('lies still where everything is allowed', async () => {
    const { end } = await runOf(
      [{ tools: [command('ls', { hook: 'none' })] }],
      {},
      { sandbox: 'danger-full-access', policy: 'never' },
    )
    expect(end).toEqual({ kind: 'completed' })
  })
})

describe('a call that nobody may allow', () => {
  test.each([
    ['is asked about twice', { hook: 'twice' }, false],
    ['is told with another number', { stepIdx: 17 }, true],
    [
      'is told with another name',
      { input: { toolCall: { name: 'view_file', args: {} }, stepIdx: 2, conversationId: 'odd' } },
      true,
    ],
    [
      'is told with other arguments',
      { input: { toolCall: { name: 'run_command', args: { CommandLine: 'ls' } }, stepIdx: 2, conversationId: 'odd' } },
      true,
    ],
    ['has no conversation', { input: { toolCall: { name: 'run_command', args: {} }, stepIdx: 2 } }, true],
    ['has no step', { input: { toolCall: { name: 'run_command', args: {} }, conversationId: 'odd' } }, true],
    ['has no name', { input: { toolCall: {}, stepIdx: 2, conversationId: 'odd' } }, true],
    ['is not JSON', { input: 7 }, true],
    [
      'is too large',
      {
        input: {
          toolCall: { name: 'run_command', args: { CommandLine: 'x'.repeat(9_000_000) } },
          stepIdx: 2,
          conversationId: 'odd',
        },
      },
      true,
    ],
  ])('%s', async (_what, more, denied) => {
    const { calls, end } = await runOf(
      [{ tools: [command('make', { output: 'made', ...more })] }],
      always('allowed-once'),
    )
    expect(calls[0]).toMatchObject({ name: expect.any(String), failed: denied })
    expect(calls.at(-1)?.text).toMatch(denied ? /denied by pre-tool hook|^Denied: / : 'made')
    expect(end).toEqual({ kind: 'completed' })
  })

  test('touches the private folder of the hook', async () => {
    const host = await gatedHost([{ tools: [command('cat {hooks}/.agents/hooks.json')] }, DONE], always('allowed-once'))
    const agent = await host.create()
    await say(agent, 'go')
    expect(callsOf(agent.session)).toMatchObject([{ failed: true, text: expect.stringContaining('private folder') }])
    expect(host.asked).toEqual([])
  })
})

describe('the child is not started with the flag', () => {
  const start = async (more: Parameters<typeof gatedHost>[2], prepare?: (cwd: string, home: string) => void) => {
    const home = privateFolder()
    const host = await gatedHost([DONE], always('allowed-once'), { ...more, env: { HOME: home, ...more?.env } })
    prepare?.(host.cwd, home)
    const agent = await host.create()
    await say(agent, 'go')
    expectValidLog(agent.session)
    return { host, end: lastTurnEnd(agent.session) }
  }
  const hooks = (command = 'true', more: object = {}) =>
    JSON.stringify({ theirs: { PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command }] }], ...more } })

  test('where the CLI does not list the hook', async () => {
    const { host, end } = await start({ env: { AGY_STANDIN_HOOKS: 'none' } })
    expect(end).toMatchObject(failedWith('AGY_GATE_UNPROVEN', 'does not list our hook'))
    expect(host.starts()).toEqual([])
  })

  test('where the workspace brings a hook of its own', async () => {
    const { host, end } = await start({}, cwd => {
      mkdirSync(join(cwd, '.agents'))
      writeFileSync(join(cwd, '.agents', 'hooks.json'), hooks())
    })
    expect(end).toMatchObject(failedWith('AGY_GATE_UNPROVEN', 'the workspace brings the hook "theirs"'))
    expect(host.starts()).toEqual([])
  })

  test('but with it where the files are looked for in a plugin folder', async () => {
    const { host, end } = await start({ env: { AGY_STANDIN_HOOKS: 'plugin' } })
    expect(end).toEqual({ kind: 'completed' })
    expect(host.starts()[0]).toContain('--dangerously-skip-permissions')
  })

  test("and with it beside the user's own hooks", async () => {
    const { end, host } = await start({}, (_cwd, home) => {
      mkdirSync(join(home, '.gemini', 'config'), { recursive: true })
      writeFileSync(join(home, '.gemini', 'config', 'hooks.json'), hooks(`echo '{"decision":"allow"}'`))
    })
    expect(end).toEqual({ kind: 'completed' })
    expect(host.starts()).toHaveLength(1)
  })

  test('where no private folder can be made', async () => {
    const saved = process.env.TMPDIR
    try {
      const { host, end } = await start({}, () => {
        process.env.TMPDIR = '/nowhere'
      })
      expect(end).toMatchObject(failedWith('AGY_GATE_UNPROVEN', 'no private folder'))
      expect(host.starts()).toEqual([])
    } finally {
      if (saved === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = saved
    }
  })

  test('in the mode "cli", which starts it by the flags alone', async () => {
    const { host, end } = await start({ approvals: 'cli' })
    expect(end).toEqual({ kind: 'completed' })
    expect(host.starts()[0]).not.toContain('--dangerously-skip-permissions')
  })
})

describe('the private files', () => {
  test('that the child changes end the run', async () => {
    const { end } = await runOf(
      [{ tools: [command('ls')] }, { overwrite: '{}' }, { tools: [command('ls')] }, { wait: 'signal' }],
      always('allowed-once'),
    )
    expect(end).toMatchObject({ kind: 'error', error: { code: expect.stringMatching(/^AGY_GATE_/) } })
  })

  test('that a call changes end the run when it has its result', async () => {
    const { end } = await runOf(
      [{ tools: [command('ls', { effect: 'overwrite' })] }, { wait: 'signal' }],
      always('allowed-once'),
    )
    expect(end).toMatchObject(failedWith('AGY_GATE_TAMPERED', 'may already have happened'))
  })

  test('are gone after the run, in the workspace was nothing', async () => {
    const { host } = await runOf([{ tools: [command('ls')] }], always('allowed-once'))
    const added = (host.starts()[0] ?? []).filter(arg => arg.startsWith('--add-dir=')).map(arg => arg.slice(10))
    expect(added).toHaveLength(2)
    expect(added[0]).toBe(host.cwd)
    expect(existsSync(added[1] ?? host.cwd)).toBe(false)
    expect(existsSync(join(host.cwd, '.agents'))).toBe(false)
  })

  test('do not hold the token, and neither does the log', async () => {
    const { agent } = await runOf([{ tools: [command('env', { effect: 'env' })] }], always('allowed-once'))
    const log = JSON.stringify(agent.session.events)
    expect(log).toContain('DSH_AGY_HOOK_TOKEN=<token of this run>')
    expect(log).not.toMatch(/DSH_AGY_HOOK_TOKEN=[0-9a-f]{64}/)
  })
})
