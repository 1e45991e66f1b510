/** What happens when the CLI, or somebody else, does not keep to the decisions on its calls: real child, real hook, real server. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { privateFolder } from '../support/folders.ts'
import { always, callsOf, command, DONE, gatedHost, runOf } from '../support/gated.ts'
import { expectValidLog, lastTurnEnd, say, shownText } from '../support/host.ts'

const failedWith = (code: string, message: string | RegExp = '') => ({
  kind: 'error',
  error: {
    code,
    message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  },
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

  test.each([
    ['a stall', { wait: 'signal' }, 'AGY_STALLED'],
    ["the CLI's own time limit", { stderr: 'Error: print timeout after 5m0s\n' }, 'AGY_PRINT_TIMEOUT'],
  ])('lies still for a call that is cut off by %s, which is named instead', async (_what, action, code) => {
    const step = (state: string, info: object) => ({
      line: JSON.stringify({
        event: 'step_update',
        step_update: {
          conversation_id: 'odd',
          step_index: 2,
          state,
          step_type: 'tool',
          tool_info: { ...command('x'), ...info },
        },
      }),
    })
    const { end } = await runOf(
      [step('ACTIVE', {}), action, step('ERROR', { error: { message: 'context canceled' } }), { exit: 1 }],
      always('rejected'),
      { stallMs: 3_000, toolStallMs: 3_000 },
    )
    expect(end).toMatchObject(failedWith(code))
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

  test('is not in the name of a tool either', async () => {
    const { agent, host } = await runOf([{ tools: [{ name: 'mcp_{token}', args: {} }] }], always('rejected'))
    expect(host.asked).toHaveLength(1)
    expect(JSON.stringify(agent.session.events)).not.toMatch(/[0-9a-f]{64}/)
  })

  test.each([1, 30, 63])('is not in the answer either, when it is told in two pieces (%s)', async at => {
    const { agent } = await runOf([{ spell: at }], always('rejected'))
    expect(shownText(agent.session)).toContain('it is <token of this run>, so')
    expect(JSON.stringify(agent.session.events)).not.toMatch(/[0-9a-f]{60}/)
  })

  test('is not in the question either, when the model has read it', async () => {
    const { agent, host } = await runOf([{ tools: [command('echo {token}')] }], always('allowed-once'))
    expect(host.asked[0]?.reason).toContain('echo <token of this run>')
    expect(JSON.stringify(agent.session.events)).not.toMatch(/[0-9a-f]{64}/)
  })
})
