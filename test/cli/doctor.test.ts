import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { privateFolder, STAND_IN } from '../support/folders.ts'

/** A machine whose `agy` is this script; `STAND_IN` in it starts the stand-in. */
function machine(script: string | undefined): Record<string, string> {
  const folder = privateFolder()
  if (script !== undefined) {
    mkdirSync(join(folder, 'bin'))
    const file = join(folder, 'bin', 'agy')
    writeFileSync(file, `#!/bin/sh\n${script.replaceAll('STAND_IN', `"${process.execPath}" "${STAND_IN}" "$@"`)}\n`)
    chmodSync(file, 0o755)
  }
  return { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, HOME: folder }
}

async function examine(script: string | undefined, ...args: string[]) {
  const out: string[] = []
  const err: string[] = []
  const code = await doctor(args, { out: line => out.push(line), err: line => err.push(line) }, machine(script))
  return { code, out: out.join('\n'), err: err.join('\n') }
}

describe('dsh-agy doctor', () => {
  test('on a machine that is ready finds nothing in the way', async () => {
    const { code, out } = await examine('exec STAND_IN')
    expect(code).toBe(0)
    expect(out).toContain('ok       program: ~/bin/agy')
    expect(out).toContain('ok       version: recorded, up to 1.3.2')
    expect(out).toContain('ok       sign-in: signed in; 4 models, such as gemini-3.8-flash-high')
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
    await doctor([], { out: line => out.push(line), err: () => {} }, { PATH: '', HOME: '/nowhere' })
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
    expect(err).toContain('dsh-agy doctor [--json]')
  })
})
