/** The command as a process: every subcommand says what it takes, and what is missing is named. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { dshAgy } from '../support/command.ts'
import { privateFolder } from '../support/folders.ts'

const ROOT = join(import.meta.dirname, '..', '..')

test.each(['doctor', 'record', 'replay', 'validate', 'probes'])(
  '%s --help tells usage, --json and exit codes',
  async name => {
    const { exitCode, stdout, stderr } = await dshAgy([name, '--help'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`dsh-agy ${name} `)
    expect(stdout).toContain('--json')
    expect(stdout).toContain('Exit codes: 0 ')
  },
)

test('without the packages of dsh each command says how to get them', async () => {
  const folder = privateFolder()
  for (const name of ['src', 'package.json']) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  for (const name of ['execa', 'semver', 'yaml', 'ndjson', 'p-queue', '@secretlint']) {
    const place = join(folder, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), place)
  }
  const run = (...args: string[]) =>
    execa(process.execPath, [join(folder, 'src', 'cli', 'main.ts'), ...args], { reject: false })
  for (const name of ['doctor', 'record', 'replay', 'validate', 'probes']) {
    const { exitCode, stdout, stderr } = await run(name)
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^DSH_UNLINKED: @deepseek-ai\/[\w-]+ is not to be found\. .*--dump-config/)
  }
  expect((await run('--version')).exitCode).toBe(0)
})
