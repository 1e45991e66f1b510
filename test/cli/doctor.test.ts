/** `dsh-agy doctor` on machines with the real dsh and a real program in the place of `agy`. */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { BASE, dshHome, examine, look, OURS, ROOT, ready } from '../support/doctor.ts'
import { privateFolder } from '../support/folders.ts'
import { machine, putProgram } from '../support/machine.ts'

describe('dsh-agy doctor', () => {
  test('on a machine that is ready finds nothing in the way', async () => {
    const { code, out } = await examine('exec STAND_IN')
    expect(code).toBe(0)
    expect(out).toContain('ok       program: ~/bin/agy')
    expect(out).toContain('ok       version: 1.3.2, verified: recordings go up to 1.3.2')
    expect(out).toContain('ok       sign-in: signed in')
    expect(out).toContain('ok       models: 4 listed, such as gemini-3.8-flash-high')
    expect(out).toMatch(/^ok {7}dsh: 0\.1\.0-rc\.8, which this plugin was made for$/m)
    expect(out).toContain('ok       profile: web, in $DSH_HOME/profiles/web')
    expect(out).toMatch(/^ok {7}plugin: \d\S+ is installed and mounted$/m)
    expect(out).toContain("ok       rows: agy stands in the place of dsh's own loop; configured: nothing")
    expect(out).toContain('ok       orphans: no child')
    expect(out).toMatch(/^ok {7}terms: .*antigravity\.google\/terms/m)
    expect(out).toContain('ok       approvals by dsh: "approvals: host" can be used')
    expect(out).toContain('ok       temporary folder: can be written')
  })

  test.each([
    ['the hook is not listed', 'AGY_STANDIN_HOOKS=none exec STAND_IN', 'the CLI does not list our hook'],
    [
      'nothing is listed',
      'case "$*" in *--print=/hooks*) echo "unknown command" >&2; exit 2;; esac; exec STAND_IN',
      'did not list its hooks (exit code 2: unknown command)',
    ],
  ])('warns when %s', async (_what, script, words) => {
    const { code, out } = await examine(script)
    expect(code).toBe(0)
    expect(out).toMatch(/^warning {2}approvals by dsh: .*\(AGY_GATE_UNPROVEN\)$/m)
    expect(out).toContain(words)
  })

  test("names other people's hooks and their trap", async () => {
    const hooks = '{"gate":{"PreToolUse":[{"matcher":"run_command","hooks":[{"type":"command","command":"echo {}"}]}]}}'
    const { out } = await examine(
      `mkdir -p "$HOME/.gemini/config"; echo '${hooks}' > "$HOME/.gemini/config/hooks.json"; exec STAND_IN`,
    )
    expect(out).toMatch(/^warning {2}other people's hooks: "gate" \(~\/.gemini\/config\/hooks.json\): .*`{}`/m)
  })

  test.each([
    ['no program', undefined, 'AGY_EXECUTABLE_MISSING'],
    ['another program', 'echo "usage: agy <image>"', 'AGY_NOT_AGY'],
    ['too old a version', '[ "$1" = --version ] && echo 1.1.3 && exit; exec STAND_IN', 'AGY_TOO_OLD'],
    [
      'nobody signed in',
      '[ "$1" = --version ] && echo 1.3.2 && exit; echo "Error: authentication required. See https://accounts.google.com/o/x?code=s3cret" >&2; exit 1',
      'AGY_NOT_SIGNED_IN',
    ],
  ])('names %s and ends with 2', async (_what, script, expected) => {
    const { code, out } = await examine(script)
    expect(code).toBe(2)
    expect(out).toMatch(new RegExp(`^failure .*\\(${expected}\\)$`, 'm'))
    expect(out).not.toContain('s3cret')
  })

  test('warns of what is odd and not in the way', async () => {
    const { code, out } = await examine('[ "$1" = --version ] && echo 9.0.0 && exit; echo nothing here; exit 4')
    expect(code).toBe(0)
    expect(out).toMatch(/^warning {2}version: .*9\.0\.0.*\(AGY_VERSION_UNVERIFIED\)$/m)
    expect(out).toMatch(/^warning {2}sign-in: .*exit code 4: nothing here/m)
  })

  test('says so where nothing can be written', async () => {
    vi.stubEnv('TMPDIR', '/nowhere/at/all')
    // Not removed by privateFolder, which needs a place itself.
    const out: string[] = []
    const parent = { PATH: '', HOME: '/nowhere' }
    await doctor([], { out: line => out.push(line), err: () => {} }, { parent, dshHome: '/nowhere', cwd: '/' })
    vi.unstubAllEnvs()
    expect(out.join('\n')).toMatch(/^warning {2}temporary folder: Nothing can be written/m)
  })

  test('as JSON is one object', async () => {
    const { code, out } = await examine(undefined, '--json')
    expect(code).toBe(2)
    const { ok, findings } = JSON.parse(out)
    expect(ok).toBe(false)
    expect(findings).toContainEqual(expect.objectContaining({ what: 'program', verdict: 'failure' }))
  })

  test('takes no operand', async () => {
    const { code, err } = await examine(undefined, 'x')
    expect(code).toBe(1)
    expect(err).toContain('dsh-agy doctor [--profile <name>]')
  })
})

describe('of dsh', () => {
  test.each<[string, () => string, string[], string]>([
    ['no profile', () => privateFolder(), [], 'DSH_PROFILE_MISSING'],
    ['no profile of that name', () => dshHome(), ['--profile', 'headless'], 'DSH_PROFILE_MISSING'],
    ['a name that is none', () => dshHome(), ['--profile', '../web'], 'DSH_PROFILE_INVALID'],
    ['a patch that is no YAML', () => dshHome({ patch: '- id: [' }), [], 'DSH_PROFILE_UNREADABLE'],
    ['a patch that is no list', () => dshHome({ patch: 'agy: 1' }), [], 'DSH_PROFILE_UNREADABLE'],
    ['a profile without the plugin', () => dshHome({ bundles: [BASE] }), [], 'DSH_PLUGIN_MISSING'],
    ['a plugin that is not installed', () => dshHome({ installed: false }), [], 'DSH_PLUGIN_MISSING'],
    ['a row that is off', () => dshHome({ patch: '[{ id: agy, disabled: true }]' }), [], 'DSH_ROW_OFF'],
    ['both loops', () => dshHome({ patch: '[{ id: agent-loop, disabled: false }]' }), [], 'DSH_ROW_LOOP'],
    ['a wrong key', () => dshHome({ patch: '[{ id: agy, config: { modle: x } }]' }), [], 'AGY_CONFIG_INVALID'],
  ])('names %s and ends with 2', async (_what, home, args, code) => {
    const found = await look(ready('exec STAND_IN'), home(), ...args)
    expect(found.code).toBe(2)
    expect(found.out).toMatch(new RegExp(`^failure .*\\(${code}\\)$`, 'm'))
  })

  test('names a dsh that is missing', async () => {
    const { code, out } = await look(machine('exec STAND_IN'), dshHome())
    expect(code).toBe(2)
    expect(out).toMatch(/^failure {2}dsh: No "dsh" .*Install @deepseek-ai\/dsh 0\.1\.0-rc\.8.*\(DSH_MISSING\)$/m)
  })

  test.each(['0.1.5-rc.2', '0.1.0-rc.6', 'nonsense'])('warns of the version %s', async version => {
    const parent = machine('exec STAND_IN')
    putProgram(join(parent.HOME as string, 'bin'), 'dsh', `echo ${version}`)
    const { code, out } = await look(parent, dshHome())
    expect(code).toBe(0)
    expect(out).toMatch(/^warning {2}dsh: ~\/bin\/dsh is .*\(DSH_VERSION\)$/m)
  })

  test('warns of a plugin of another version than its own', async () => {
    const home = dshHome({ installed: false })
    const place = join(home, 'profiles', 'web', 'node_modules', OURS)
    mkdirSync(place, { recursive: true })
    cpSync(join(ROOT, 'cordis.patch.yml'), join(place, 'cordis.patch.yml'))
    const manifest = { version: '0.0.7', dsh: { bundle: { patch: './cordis.patch.yml' } } }
    writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
    expect((await look(ready('exec STAND_IN'), home)).out).toMatch(
      /^warning {2}plugin: 0\.0\.7 .*\(DSH_PLUGIN_VERSION\)$/m,
    )
  })

  test('reads the profile as dsh does, changes nothing in it, and looks at the program that it configures', async () => {
    const parent = ready(undefined)
    putProgram(join(parent.HOME as string, 'own'), 'antigravity', 'exec STAND_IN')
    const patch = `- id: agy
  disabled: !!js process.env.NEVER_SET === 'x'
  config:
    bin: ${parent.HOME}/own/antigravity
    model: no-such-model
    approvals: host
    env: { HTTPS_PROXY: "http://jane:s3cret@proxy.example.org:3128", API_KEY: k3y }
- id: sandbox-policy
  config: { mode: read-only }
`
    const home = dshHome({ patch })
    const before = readdirSync(home, { recursive: true }).length
    const { code, out } = await look(parent, home)
    expect(code).toBe(0)
    expect(readdirSync(home, { recursive: true })).toHaveLength(before)
    expect(out).toContain('ok       program: ~/own/antigravity')
    expect(out).toMatch(
      /^warning {2}rows: .*configured: bin, model, approvals, env \(HTTPS_PROXY, API_KEY\)\. Worked out .*: whether it stands there$/m,
    )
    expect(out).toMatch(/^warning {2}models: The pinned model "no-such-model" is not among the 4/m)
    expect(out).toContain('HTTPS_PROXY http://proxy.example.org:3128 (with credentials, which are not shown)')
    expect(out).toContain(
      'permissions, read-only and ask: dsh decides: read allowed, write denied, command denied, network asks you, other asks you (a new session starts so)',
    )
    for (const secret of ['s3cret', 'k3y', 'jane']) expect(out).not.toContain(secret)
  })

  test.each(['{ API_KEY: 987654321 }', 'hunter22'])('a value of a wrong env (%s) is not told', async env => {
    const { code, out } = await look(
      ready('exec STAND_IN'),
      dshHome({ patch: `[{ id: agy, config: { env: ${env} } }]` }),
    )
    expect(code).toBe(2)
    expect(out).toMatch(/^failure {2}rows: The key "env".*\(AGY_CONFIG_INVALID\)$/m)
    expect(out).not.toMatch(/987654321|hunter22/)
  })

  test('a complaint about values that are short can still be read', async () => {
    const patch = '[{ id: agy, config: { env: { DEBUG: 1, LEVEL: e } } }]'
    expect((await look(ready('exec STAND_IN'), dshHome({ patch }))).out).toMatch(/^failure {2}rows: The key "env"/m)
  })

  test('an anchor that holds itself is refused', async () => {
    const { out } = await look(ready('exec STAND_IN'), dshHome({ patch: '- id: agy\n  config: &c { env: *c }\n' }))
    expect(out).toMatch(/^failure {2}profile: .*\(DSH_PROFILE_UNREADABLE\)$/m)
  })

  test.each([
    ['config:\n    model: !!js process.env.MY_MODEL\n    env: { A: !!js process.env.B }', 'model, env'],
    ['config: !!js "({ model: process.env.MY_MODEL })"', 'all of its configuration'],
  ])('what dsh works out when it starts is no wrong value: %s', async (config, open) => {
    const { out, code } = await look(ready('exec STAND_IN'), dshHome({ patch: `- id: agy\n  ${config}\n` }))
    expect(out).toMatch(new RegExp(`^warning {2}rows: .*not looked at here: ${open}$`, 'm'))
    expect(code).toBe(0)
  })

  test('a wrong value beside an expression is named', async () => {
    const patch = '- id: agy\n  config:\n    bin: !!js process.env.X\n    maxChildren: many\n'
    expect((await look(ready('exec STAND_IN'), dshHome({ patch }))).out).toMatch(
      /"maxChildren".*\(AGY_CONFIG_INVALID\)$/m,
    )
  })

  test.each([
    '*S3cr3tPassw0rd',
    '!S3cr3tPassw0rd!x y',
    '[S3cr3tPassw0rd]',
    '{ value: [S3cr3tPassw0rd] }',
    '"S3cr3tPassw0rd',
  ])('a secret that is written wrongly (%s) is not told', async value => {
    const patch = `- id: agy\n  config:\n    env:\n      AGY_TOKEN: ${value}\n`
    const { out } = await look(ready('exec STAND_IN'), dshHome({ patch }))
    expect(out).toMatch(/^(?:failure {2}(?:profile|rows)|ok {7}rows): .*(?:line \d|env|not well-formed)/m)
    expect(out).not.toContain('S3cr3tPassw0rd')
  })

  test('a package.json that is no JSON is named, and not quoted', async () => {
    const home = dshHome()
    writeFileSync(join(home, 'profiles', 'web', 'package.json'), 'hunter2secret9')
    const { out } = await look(ready('exec STAND_IN'), home)
    expect(out).toMatch(/^failure {2}profile: .*package\.json cannot be read .*\(DSH_PROFILE_UNREADABLE\)$/m)
    expect(out).not.toContain('hunter2')
  })

  test('a pinned permission stands in the table', async () => {
    const { out } = await look(ready('exec STAND_IN'), dshHome({ patch: '[{ id: agy, config: { sandbox: false } }]' }))
    expect(out).toContain('permissions, workspace-write and ask: the CLI decides by no flag')
  })
})

describe('of the machine', () => {
  test('names a proxy that is no address', async () => {
    const { out } = await look({ ...ready('exec STAND_IN'), https_proxy: 'http://' }, dshHome())
    expect(out).toMatch(/^warning {2}proxy: HTTPS_PROXY set, but no address\. Write it as/m)
  })

  test('names the children of a dsh that is gone, and leaves them', async () => {
    const temporary = privateFolder()
    vi.stubEnv('TMPDIR', temporary)
    onTestFinished(() => void vi.unstubAllEnvs())
    const child = execa('sleep', ['600'], { detached: true, reject: false })
    onTestFinished(() => void child.kill('SIGKILL'))
    const source = pathToFileURL(join(ROOT, 'src', 'agy', 'child-records.ts')).href
    await execa(process.execPath, [
      '--input-type=module',
      '-e',
      `await (await import(${JSON.stringify(source)})).recordChild(${child.pid}, undefined)`,
    ])
    const { out } = await examine('exec STAND_IN')
    expect(out).toMatch(new RegExp(`^warning  orphans: .*process ${child.pid}\\)`, 'm'))
    expect(process.kill(child.pid as number, 0)).toBe(true)
  })
})

describe('the quota is asked for on request alone', () => {
  const answering = (answer: string): string =>
    `case "$*" in *--print=/usage*) touch "$HOME/asked"; printf '%s' '${answer}'; exit;; esac; exec STAND_IN`
  const usage = (...buckets: object[]): string =>
    JSON.stringify({ command: { name: 'usage', data: { groups: [{ name: 'Gemini Models', buckets }] } } })
  const weekly = {
    id: 'gemini-weekly',
    window: 'weekly',
    remaining_fraction: 0.835,
    reset_time: '2026-12-09T15:00:14Z',
  }

  test('and not without it', async () => {
    const parent = ready(answering(usage(weekly)))
    const { out } = await look(parent, dshHome())
    expect(out).not.toContain('quota:')
    expect(readdirSync(parent.HOME as string)).not.toContain('asked')
  })

  test.each([
    ['what is left', usage(weekly), 'ok       quota: gemini-weekly 83 % left until 2026-12-09T15:00:14Z'],
    ['what is used up', usage({ ...weekly, remaining_fraction: 0 }), 'warning  quota: gemini-weekly 0 % left'],
    [
      'an odd bucket beside a sound one',
      usage(weekly, { id: 'x@example.org', remaining_fraction: 7 }),
      'gemini-weekly 83 %',
    ],
    [
      'text',
      'You are jane@example.org and have 83 %',
      'warning  quota: the CLI did not tell it in the known shape (exit code 0)',
    ],
    [
      'another shape',
      '{"command":{"data":{"groups":[{"buckets":"ya29.aaaaaaaaaaaaaaaa"}]}}}',
      'not tell it in the known shape',
    ],
    ['nothing', '', 'not tell it in the known shape'],
  ])('and tells %s safely', async (_what, answer, words) => {
    const { code, out } = await examine(answering(answer), '--usage')
    expect(code).toBe(0)
    expect(out).toContain(words)
    expect(out).not.toMatch(/example\.org|ya29/)
  })

  test('and never asked of too old a version, which would take it for a prompt', async () => {
    const parent = ready(`[ "$1" = --version ] && echo 1.1.9 && exit; ${answering('')}`)
    await look(parent, dshHome(), '--usage')
    expect(readdirSync(parent.HOME as string)).not.toContain('asked')
  })
})

test('in a folder that is gone it says so', async () => {
  const main = join(ROOT, 'src', 'cli', 'main.ts')
  for (const command of ['doctor', 'record -- x']) {
    const { exitCode, stderr } = await execa(
      'sh',
      ['-c', `rmdir "$PWD"; exec "${process.execPath}" "${main}" ${command}`],
      { cwd: privateFolder(), env: ready('exec STAND_IN'), reject: false },
    )
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^FOLDER_GONE: .*Go to another one\.$/m)
    expect(stderr).not.toMatch(/^\s+at /m)
  }
})

test('what takes longer than a second is said on stderr', async () => {
  const { code, out, err } = await examine('[ "$1" = models ] && sleep 1.3; exec STAND_IN')
  expect(code).toBe(0)
  expect(err).toContain('· asking agy for its models, a call over the network …')
  expect(out).not.toContain('·')
})
