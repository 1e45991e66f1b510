/** `dsh-agy record` with real programs: what it keeps, what it replaces, what it refuses. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { record } from '../../src/cli/record.ts'
import { probeProblems } from '../probes/card-rules.ts'
import { dshAgy, said } from '../support/command.ts'
import { privateFolder } from '../support/folders.ts'
import { machine } from '../support/machine.ts'

const id = '8dd0aa11-2222-4333-8444-555566667777'
const init = { event: 'init', conversation_id: id, init: { cwd: '/', tools: [] } }
const step = (step_index: number, more: object) => ({
  event: 'step_update',
  step_update: { conversation_id: id, step_index, state: 'DONE', ...more },
})
const answer = (step_index: number, text_delta: string) => step(step_index, { step_type: 'agent_response', text_delta })
const result = {
  event: 'result',
  result: { conversation_id: id, status: 'SUCCESS', response: 'x', usage: { input_tokens: 1, output_tokens: 1 } },
}

/** A machine whose `agy` writes these frames. */
function tells(frames: readonly object[], stderr = ''): Record<string, string> {
  const env = machine('[ "$1" = --version ] && echo 1.3.2 && exit; cat > /dev/null; cat "$0.err" >&2; cat "$0.out"')
  const file = join(env.HOME as string, 'bin', 'agy')
  writeFileSync(`${file}.out`, frames.map(frame => `${JSON.stringify(frame)}\n`).join(''))
  writeFileSync(`${file}.err`, stderr)
  return env
}

async function run(parent: Record<string, string>, ...args: string[]) {
  const cwd = privateFolder()
  const out = join(cwd, 'recording')
  const { code, ...words } = await said(io =>
    record(['--out', 'recording', ...args, '--', 'say hello'], io, { parent, cwd }),
  )
  const files = existsSync(out) ? readdirSync(out).sort() : []
  const read = (name: string): string => readFileSync(join(out, name), 'utf8')
  const card = files.includes('card.json') ? JSON.parse(read('card.json')) : undefined
  const whole = [...files, ...files.map(read)].join('\n')
  return {
    code,
    ...words,
    cwd,
    folder: out,
    files,
    read,
    card,
    whole,
    everything: `${whole}\n${words.out}\n${words.err}`,
  }
}

describe('a run', () => {
  test.each([
    ['07-command-and-file', 0, 'completed'],
    ['09-quota', 2, 'AGY_QUOTA'],
    ['22-not-signed-in', 2, 'AGY_NOT_SIGNED_IN'],
  ])('as in %s is kept as a sound probe that replay plays to the same end', async (probe, exit, outcome) => {
    const { code, folder, card, out } = await run(machine(`AGY_STANDIN_PROBE=${probe} exec STAND_IN`))
    expect(code).toBe(0)
    expect(out).toContain(`of agy 1.3.2 in `)
    expect(probeProblems(folder)).toEqual([])
    expect(card).toMatchObject({ agyVersion: '1.3.2', outcome, frames: 'edited', signal: { value: null } })
    expect(card.recorded).toBe(new Date().toISOString().slice(0, 10))
    const { exitCode, stdout } = await dshAgy(['replay', folder, '--json'], { env: { TMPDIR: privateFolder() } })
    expect(exitCode).toBe(exit)
    const told = JSON.parse(String(stdout))
    expect(told.outcome.code ?? told.outcome.kind).toBe(outcome)
  })

  test('is a process that says what it did as one object', async () => {
    const env = machine('exec STAND_IN')
    const cwd = privateFolder()
    const { exitCode, stdout } = await dshAgy(['record', '--json', '--model', 'gemini-3.8-flash-low', '--', 'a', 'b'], {
      cwd,
      env,
    })
    expect(exitCode).toBe(0)
    const told = JSON.parse(String(stdout))
    expect(told).toMatchObject({ outcome: 'completed', frames: 28, version: '1.3.2', cut: null })
    expect(readdirSync(cwd)).toEqual([expect.stringMatching(/^agy-recording-\d{4}-/)])
    expect(JSON.parse(readFileSync(join(cwd, told.folder, 'card.json'), 'utf8')).argv.value).toContain(
      '--model=gemini-3.8-flash-low',
    )
  })

  test('keeps what comes after the result, and names what is no frame', async () => {
    const env = machine(
      `[ "$1" = --version ] && echo 1.3.2 && exit; cat > /dev/null; echo hello; echo '${JSON.stringify(result)}'; echo '${JSON.stringify(answer(9, 'late'))}'`,
    )
    const { code, card, read } = await run(env)
    expect(code).toBe(0)
    expect(read('frames.ndjson')).toContain('late')
    expect(card.frames).toBe('abridged')
    expect(card.edits).toContain('left out: 1 line(s) that are no frames, the first: hello')
  })
})

describe('a run that a signal ended', () => {
  test.each(['KILL', 'TERM'])('as SIG%s replays to the ending that its card names', async signal => {
    const frames = `${JSON.stringify(init)}\n${JSON.stringify(answer(1, 'hello'))}`
    const env = machine(
      `[ "$1" = --version ] && echo 1.3.2 && exit; cat > /dev/null; echo '${frames}'; kill -${signal} $$`,
    )
    const { card, folder } = await run(env)
    expect(card).toMatchObject({ outcome: 'AGY_KILLED', signal: { value: `SIG${signal}` } })
    const { stdout } = await dshAgy(['replay', folder, '--json'], { env: { TMPDIR: privateFolder() } })
    expect(JSON.parse(String(stdout)).outcome.code).toBe(card.outcome)
  })
})

describe('what tells of a person or a machine', () => {
  const mail = 'jane.roe@corp.example.org'
  const other = 'f00dfeed-0000-4111-8222-933344445555'
  const digest = 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3'
  const person = 'janeroe42'

  test('is replaced everywhere, the same by the same', async () => {
    const env: Record<string, string> = { ...tells([]), USER: person }
    const home = env.HOME as string
    const frames = [
      init,
      step(1, {
        step_type: 'tool',
        tool_name: 'view_file',
        tool_info: {
          name: 'view_file',
          parameters: { AbsolutePath: `${home}/notes of ${person}.txt`, [`${home}/key`]: 1, [mail]: 2 },
          output: `${mail} wrote ${other} on ${hostname()} for ${person}; /home/somebody/x; file://${encodeURI(home)}/y; ${digest}`,
        },
      }),
      answer(2, `It is in ${home.slice(0, 9)}`),
      answer(2, `${home.slice(9)}/notes, says jane.r`),
      answer(2, `oe@corp.example.org; ${other.slice(0, 20)}`),
      answer(2, `${other.slice(20)} by jane`),
      answer(2, 'roe42.'),
      result,
    ]
    const file = join(home, 'bin', 'agy')
    writeFileSync(`${file}.out`, frames.map(frame => `${JSON.stringify(frame)}\n`).join(''))
    writeFileSync(`${file}.err`, `warning: ${home}/.gemini of ${mail} (${id})\n`)
    const { code, folder, read, everything, whole } = await run(env, '--json')
    expect(code).toBe(0)
    expect(probeProblems(folder)).toEqual([])
    for (const secret of [home, mail, person, id, other, digest, 'somebody', 'jane', 'corp.example']) {
      expect(whole).not.toContain(secret)
    }
    if (hostname().length > 1) expect(whole).not.toContain(hostname())
    if (!['user', 'root'].includes(userInfo().username))
      expect(whole).not.toMatch(new RegExp(`\\b${userInfo().username}\\b`))
    for (const secret of [home, mail, person, id, other]) expect(everything).not.toContain(secret)
    const told = read('frames.ndjson')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    const pieces = told.slice(2, 7).map(({ step_update }) => step_update.text_delta)
    expect(pieces).toEqual([
      'It is in /home/user',
      '/notes, says user-1@example.com',
      expect.stringMatching(/^; 0{8}-0{4}-4000-8000-0{11}\d$/),
      ' by user',
      '.',
    ])
    const alias = pieces[2].slice(2)
    expect(told[1].step_update.tool_info.output).toContain(`user-1@example.com wrote ${alias} on `)
    expect(told[1].step_update.tool_info.output).toContain('for user; /home/user-')
    expect(read('stderr.txt')).toBe(`warning: /home/user/.gemini of user-1@example.com (${told[0].conversation_id})\n`)
  })

  test.each<[string, (home: string) => string, (home: string) => string]>([
    ['a mail address with an international domain', () => 'jane@münchen.example', () => 'jane'],
    ['a mail address with an umlaut', () => 'jörg.müller@example.org', () => 'jörg'],
    ['the home folder as a part of an address', home => encodeURIComponent(`${home}/x`), encodeURIComponent],
    ["somebody's folder as a part of an address", () => 'file%3A%2F%2F%2Fhome%2Fjane.roe%2Fx', () => 'jane.roe'],
    ['a folder beside the home folder', home => `${home}_backup/x`, home => home],
    [
      'a name with something beside it',
      () => '/tmp/janeroe42-cache backup_janeroe42 -home-janeroe42-x',
      () => 'janeroe42',
    ],
  ])('is replaced: %s', async (_what, words, secret) => {
    const env: Record<string, string> = { ...tells([]), USER: person }
    const home = env.HOME as string
    const frames = [init, answer(1, `it is ${words(home)} so`), result]
    writeFileSync(join(home, 'bin', 'agy.out'), frames.map(frame => `${JSON.stringify(frame)}\n`).join(''))
    const { whole } = await run(env)
    expect(whole).toContain('it is ')
    expect(whole).not.toContain(secret(home))
  })

  test('does not change the words of the CLI, even for a user who is called like one', async () => {
    const env = { ...tells([init, answer(1, 'tool init'), result]), USER: 'init' }
    const { read } = await run(env)
    expect(JSON.parse(read('frames.ndjson').split('\n')[0] ?? '')).toMatchObject({ event: 'init', init: {} })
    expect(read('frames.ndjson')).toContain('"text_delta":"tool user"')
  })
})

describe('nothing is written where something with the shape of a secret is left', () => {
  const token = `ya29.${'a0AfH6SMBx'.repeat(4)}`
  const tool = (info: object) =>
    step(1, { step_type: 'tool', tool_name: 'run_command', tool_info: { name: 'run_command', ...info } })
  test.each<[string, object[], string, string]>([
    [
      'in a tool output',
      [tool({ output: `got ${token} here` })],
      '',
      'Google OAuth token in frames.ndjson line 2, step_update.tool_info.output',
    ],
    [
      'in pieces of a text',
      [answer(3, token.slice(0, 9)), answer(3, token.slice(9))],
      '',
      'Google OAuth token in frames.ndjson, the text of step 3',
    ],
    [
      'in the name of a member',
      [tool({ parameters: { [token]: 1 } })],
      '',
      'Google OAuth token in frames.ndjson line 2, the name of a member',
    ],
    [
      'in the name of a file',
      [tool({ parameters: { AbsolutePath: `/tmp/${token}` } })],
      '',
      'step_update.tool_info.parameters.AbsolutePath',
    ],
    ['on stderr', [], `error: Bearer ${'abc123DEF456'.repeat(3)}\n`, 'bearer token in stderr.txt line 1'],
    [
      'behind a comment that would switch rules off',
      [tool({ output: 'secretlint-disable\n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' })],
      '',
      'github token in frames.ndjson line 2',
    ],
  ])('%s', async (_what, frames, stderr, told) => {
    const { code, err, files, everything } = await run(tells([init, ...frames, result], stderr))
    expect(code).toBe(3)
    expect(files).toEqual([])
    expect(err).toContain('RECORD_SECRET: Nothing was written')
    expect(err).toContain(told)
    for (const secret of [token, token.slice(9, 30), 'abc123DEF456', 'ghp_wWPw'])
      expect(everything).not.toContain(secret)
  })
})

test('nor where the password of the proxy is left, which has no shape', async () => {
  const env = { ...tells([init, answer(1, 'it is swordfish'), result]), HTTPS_PROXY: 'http://me:swordfish@proxy:1' }
  const { code, err, everything } = await run(env)
  expect(code).toBe(3)
  expect(err).toContain('secret of the environment in frames.ndjson line 2, step_update.text_delta')
  expect(everything).not.toContain('swordfish')
})

describe('bounds', () => {
  test('a terminal that is closed ends the run as Ctrl-C does', async () => {
    const env = machine('[ "$1" = --version ] && echo 1.3.2 && exit; echo $$ > "$HOME/pid"; exec sleep 600')
    const temporary = privateFolder()
    const child = dshAgy(['record', '--', 'hello'], { cwd: privateFolder(), env: { ...env, TMPDIR: temporary } })
    const pid = await vi.waitFor(
      () => {
        const text = readFileSync(join(env.HOME as string, 'pid'), 'utf8')
        expect(text).toMatch(/\d/)
        return Number(text)
      },
      { timeout: 20_000 },
    )
    child.kill('SIGHUP')
    expect((await child).exitCode).toBe(130)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect(readdirSync(temporary).filter(name => name.startsWith('dsh-agy-run'))).toEqual([])
  })

  test('a run that takes too long is cut off, kept as far as it came, and ends with 2', async () => {
    const { code, out, folder, card, read } = await run(machine('AGY_STANDIN_HOLD=3 exec STAND_IN'), '--timeout', '1')
    expect(code).toBe(2)
    expect(out).toContain('cut off by its time')
    expect(card).toMatchObject({ frames: 'excerpt', signal: { value: 'SIGTERM' }, ended: { by: 'recorder' } })
    expect(probeProblems(folder)).toEqual([])
    expect(read('frames.ndjson').split('\n').length).toBeGreaterThanOrEqual(4)
  })

  test('endless output is cut off', async () => {
    const { code, card, read } = await run(
      machine(
        `[ "$1" = --version ] && echo 1.3.2 && exit; exec yes '${JSON.stringify(answer(1, 'again and '.repeat(800)))}'`,
      ),
    )
    expect(code).toBe(2)
    expect(card.frames).toBe('excerpt')
    expect(read('frames.ndjson').length).toBeLessThan(17 * 1024 * 1024)
  })

  test('so is a line without an end, of which nothing is kept', async () => {
    const endless = `[ "$1" = --version ] && echo 1.3.2 && exit; yes | tr -d '\\n'`
    const { code, err, files } = await run(machine(endless), '--timeout', '1')
    expect([code, files]).toEqual([1, []])
    expect(err).toContain('RECORD_NO_FRAMES')
  })

  test('Ctrl-C ends the child too, writes nothing and ends with 130', async () => {
    const env = machine('[ "$1" = --version ] && echo 1.3.2 && exit; echo $$ > "$HOME/pid"; exec sleep 600')
    const cwd = privateFolder()
    const command = dshAgy(['record', '--out', 'r', '--', 'x'], { cwd, env: { ...env, TMPDIR: privateFolder() } })
    const pid = await vi.waitFor(
      () => Number(readFileSync(join(env.HOME as string, 'pid'), 'utf8').trim() || assertWritten()),
      { timeout: 20_000 },
    )
    command.kill('SIGINT')
    const { exitCode, stderr } = await command
    expect(exitCode).toBe(130)
    expect(stderr).toContain('RECORD_STOPPED')
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect(readdirSync(cwd)).toEqual([])
  })
})

function assertWritten(): never {
  throw new Error('not written yet')
}

describe('is refused', () => {
  test('a folder that exists, before anything is started', async () => {
    const env = machine('touch "$HOME/started"; exec STAND_IN')
    const cwd = privateFolder()
    writeFileSync(join(cwd, 'mine'), 'mine')
    const { code, err } = await said(io => record(['--out', 'mine', '--', 'x'], io, { parent: env, cwd }))
    expect(code).toBe(1)
    expect(err).toContain('RECORD_FOLDER_EXISTS: ')
    expect(readFileSync(join(cwd, 'mine'), 'utf8')).toBe('mine')
    expect(existsSync(join(env.HOME as string, 'started'))).toBe(false)
  })

  test.each<[string, string | undefined, string[], string]>([
    ['a folder in none', 'exec STAND_IN', ['--out', 'no/such/folder', '--', 'x'], 'RECORD_FOLDER_UNWRITABLE'],
    ['a time that is none', 'exec STAND_IN', ['--timeout', 'soon', '--', 'x'], 'RECORD_TIMEOUT_INVALID'],
    ['no program', undefined, ['--', 'x'], 'AGY_EXECUTABLE_MISSING'],
    ['too old a program', 'echo 1.1.3', ['--', 'x'], 'AGY_TOO_OLD'],
    ['a model that is none', 'exec STAND_IN', ['--model', '=x y', '--', 'x'], 'AGY_MODEL_INVALID'],
    ['a program that tells nothing', '[ "$1" = --version ] && echo 1.3.2', ['--', 'x'], 'RECORD_NO_FRAMES'],
    ['no prompt', 'exec STAND_IN', ['--json'], 'No prompt stands behind "--"'],
    ['an empty prompt', 'exec STAND_IN', ['--', ' '], 'No prompt stands behind "--"'],
    ['a prompt that is not behind --', 'exec STAND_IN', ['hello', '--', 'x'], 'There is nothing to do with "hello"'],
  ])('%s', async (_what, script, args, told) => {
    const cwd = privateFolder()
    const { code, out, err } = await said(io => record(args, io, { parent: machine(script), cwd }))
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(told)
    expect(readdirSync(cwd)).toEqual([])
  })

  test('and --help tells the usage with 0', async () => {
    const { code, out } = await said(io => record(['--help'], io))
    expect(code).toBe(0)
    expect(out).toContain('dsh-agy record [--out <folder>]')
  })
})
