/** A machine whose `agy` is a script. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateFolder, STAND_IN } from './folders.ts'

/** What starts the stand-in inside a script. */
const STARTED = `"${process.execPath}" "${STAND_IN}" "$@"`

/**
 * The environment of such a machine; its home is a folder of its own, and the program lies in `~/bin`.
 *
 * @param script - of the program; `STAND_IN` in it starts the stand-in. No program, if absent.
 */
export function machine(script: string | undefined): Record<string, string> {
  const home = privateFolder()
  if (script !== undefined) putProgram(join(home, 'bin'), 'agy', script)
  return { PATH: `${join(home, 'bin')}:/usr/bin:/bin`, HOME: home }
}

/** Write a program that is a script. */
export function putProgram(folder: string, name: string, script: string): void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  writeFileSync(file, `#!/bin/sh\n${script.replaceAll('STAND_IN', STARTED)}\n`)
  chmodSync(file, 0o755)
}
