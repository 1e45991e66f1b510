/** `dsh-agy doctor` on a machine with the real dsh, and homes of dsh as an installation leaves them. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { doctor } from '../../src/cli/doctor.ts'
import { said } from './command.ts'
import { privateFolder } from './folders.ts'
import { machine } from './machine.ts'

export const ROOT = join(import.meta.dirname, '..', '..')
export const OURS = 'dsh-loop-engine-agy'
export const BASE = '@deepseek-ai/dsh-base'

/** A home of dsh with the real package and the real base in a profile, as an installation leaves them. */
export function dshHome({ bundles = [BASE, OURS], patch = '[]', profile = 'web', installed = true } = {}): string {
  const home = privateFolder()
  const folder = join(home, 'profiles', profile)
  const link = (target: string, place: string): void => {
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(target, place)
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dsh: { profile: { bundles } } }))
  writeFileSync(join(folder, 'cordis.patch.yml'), patch)
  link(join(ROOT, 'node_modules', BASE), join(home, 'profiles', 'node_modules', BASE))
  if (installed) link(ROOT, join(folder, 'node_modules', OURS))
  return home
}

/** A machine with dsh, and with this script as its `agy`. */
export function ready(script: string | undefined): Record<string, string> {
  const env = machine(script)
  return { ...env, PATH: `${env.HOME}/bin:${join(ROOT, 'node_modules', '.bin')}:${env.PATH}` }
}

/** Examine a machine with this script as its `agy`. */
export const examine = (script: string | undefined, ...args: string[]) => look(ready(script), dshHome(), ...args)

/** Examine a machine by its environment. */
export function look(parent: Record<string, string>, home: string, ...args: string[]) {
  return said(io => doctor(args, io, { parent, dshHome: home, cwd: privateFolder() }))
}
