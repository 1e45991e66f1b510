/** What `dsh-agy doctor` must not print, whatever the program says. */
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { dshAgy } from '../support/command.ts'
import { dshHome, look, ROOT, ready } from '../support/doctor.ts'
import { privateFolder } from '../support/folders.ts'
import { putProgram } from '../support/machine.ts'

test('nothing secret is printed, whatever the program says', async () => {
  const token = 'ya29.a0AfH6SMBxyzxyzxyz'
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN'
  const secrets = [
    token,
    jwt,
    'jane.roe@example.org',
    'pr0xypass',
    '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',
    '4/0AeanS0abcdefgh',
  ]
  const words = `${secrets.join(' ')} https://accounts.google.com/o/oauth2?code=4/0AeanS0abcdefgh http://me:pr0xypass@host $HOME/x`
  const script = `[ "$1" = --version ] && [ -z "$ODD" ] && echo 1.3.2 && exit; echo "${words}" >&2; echo "${words}"; exit $CODE`
  for (const more of [{ CODE: '1' }, { CODE: '0' }, { CODE: '0', ODD: '1' }]) {
    const parent: Record<string, string> = {
      ...ready(script),
      ...more,
      HTTPS_PROXY: 'http://me:pr0xypass@proxy:1',
      AUTH: token,
    }
    const { stdout, stderr } = await dshAgy(['doctor', '--json', '--usage'], {
      env: { ...parent, DSH_HOME: dshHome() },
      extendEnv: false,
      cwd: privateFolder(),
    })
    expect(JSON.parse(String(stdout)).findings.length).toBeGreaterThan(10)
    const said = `${stdout}\n${stderr}`
    for (const secret of [...secrets, parent.HOME as string]) expect(said).not.toContain(secret)
  }
})

test('without HOME the home folder of the user is not told either', async () => {
  const home = privateFolder()
  vi.stubEnv('HOME', home)
  onTestFinished(() => void vi.unstubAllEnvs())
  putProgram(join(home, 'bin'), 'agy', 'exec STAND_IN')
  const path = `${home}/bin:${join(ROOT, 'node_modules', '.bin')}:/usr/bin:/bin`
  const { out } = await look({ PATH: path }, dshHome())
  expect(out).toContain('program: ~/bin/agy')
  expect(out).not.toContain(home)
})

test.each(['jane@münchen.example', 'jane%40example.org', 'jörg.müller@example.org', 'jane@xn--mnchen-3ya.example'])(
  'the mail address %s is not told',
  async mail => {
    const script = `[ "$1" = --version ] && echo 1.3.2 && exit; echo 'account ${mail} failed' >&2; exit 4`
    const { out } = await look(ready(script), dshHome())
    expect(out).toContain('account <mail address> failed')
  },
)

const COMPLAINS = '[ "$1" = --version ] && echo 1.3.2 && exit; echo "refused: $WORDS" >&2; exit 1'

test.each([
  ['a token', `Bearer ya29.${'Q7z'.repeat(150)}`, 'Q7zQ7z'],
  ['a sign-in address', `https://accounts.google.com/o/auth?${'x'.repeat(300)}&state=Q7zQ7z`, 'Q7zQ7z'],
])('%s that is longer than what is shown is not shown in part', async (_what, words, part) => {
  const { out } = await look({ ...ready(COMPLAINS), WORDS: words }, dshHome())
  expect(out).toContain('listed nothing (exit code 1')
  expect(out).not.toContain(part)
})

test.each([
  ['is long', `k${'m'.repeat(400)}`, 'mmmm'],
  ['JSON would escape', 'hun"ter2\\x9', 'ter2'],
  ['holds a mail address', 'jane@example.com:hunter2secret', 'hunter2'],
])('a secret of the environment that %s is not shown in part', async (_what, secret, part) => {
  for (const script of [COMPLAINS, 'echo "no version, but $MY_TOKEN"']) {
    const { out } = await look({ ...ready(script), WORDS: secret, MY_TOKEN: secret }, dshHome())
    expect(out).toContain('<credential>')
    expect(out).not.toContain(part)
  }
})

test('the home folder of another user is not shown', async () => {
  const bin = join(privateFolder(), 'home', 'janedoe', '.local', 'bin')
  putProgram(bin, 'agy', 'exec STAND_IN')
  const { out } = await look(
    { ...ready(undefined), PATH: `${bin}:${join(ROOT, 'node_modules', '.bin')}:/usr/bin:/bin` },
    dshHome(),
  )
  expect(out).toContain('/home/<user>/.local/bin/agy')
})
