/** A real dsh in a home of its own, with this package installed into a profile the way a user does it. */
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { findExecutable } from '../lib/agy/executable.js'
import { digest, filesUnder, must, once, projectEnv, ROOT } from './setup.mjs'

/** Everything that the commands keep; another folder can be named, to have a second host. */
export const PRIVATE = process.env.DSH_AGY_PRIVATE ?? join(ROOT, '.dsh-private')
export const STAND_IN = join(ROOT, 'probes', 'agy')

/** Environment of the private dsh: a home of its own, no telemetry. */
export const hostEnv = home => ({ ...projectEnv(), DSH_HOME: home, DSH_TELEMETRY_DISABLED: '1' })

/** Row for logs that a person can read. All hosts of one home must agree on it: dsh refuses a folder of mixed encodings. */
export const readableLogs = home => ({
  id: 'session-persistence-jsonl',
  config: { root: join(home, 'sessions'), compression: 'none' },
})

/**
 * Pack the package as npm would publish it.
 *
 * @param {string} folder where the tarball goes; it is named after what is in it.
 * @returns {Promise<string>} path of the tarball
 */
export async function pack(folder) {
  const inputs = [
    ...['lib', 'presets', 'docs'].flatMap(folder => filesUnder(join(ROOT, folder))),
    ...['package.json', 'cordis.patch.yml', 'README.md', 'README.zh.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'].map(
      name => join(ROOT, name),
    ),
  ]
  const tarball = join(folder, `dsh-loop-engine-agy-${digest(inputs)}.tgz`)
  if (!existsSync(tarball)) {
    mkdirSync(folder, { recursive: true })
    await must('Packing', 'pnpm', ['pack', '--out', tarball])
  }
  return tarball
}

/** Install the package into a profile, once for each content of it. */
export async function installInto(home, profile, tarball) {
  mkdirSync(home, { recursive: true })
  await once(
    join(home, `.installed-${profile}`),
    tarball,
    `installing the package into dsh's ${profile} profile …`,
    async () => {
      const options = { env: hostEnv(home) }
      // An older tarball that is gone would make `add` fail.
      if (existsSync(join(home, 'profiles', profile, 'node_modules', 'dsh-loop-engine-agy'))) {
        await must(
          'Removing the old package',
          'dsh',
          ['plugin', '--profile', profile, 'remove', 'dsh-loop-engine-agy'],
          options,
        )
      }
      await must('Installing the package', 'dsh', ['plugin', '--profile', profile, 'add', tarball], options)
    },
  )
}

/** A private host with the package in the named profile. */
export async function prepareHost(profile) {
  const home = join(PRIVATE, 'home')
  await installInto(home, profile, await pack(join(PRIVATE, 'package')))
  return home
}

/**
 * The `agy` to use: the installed one, else the stand-in.
 *
 * @returns {Promise<{ file: string, installed: boolean, config: object }>} config: what the engine's row needs for it.
 */
export async function chooseAgy() {
  try {
    const path = (process.env.PATH ?? '').split(delimiter).filter(folder => isAbsolute(folder))
    const file = await findExecutable(undefined, { ...process.env, PATH: path.join(delimiter) })
    return { file, installed: true, config: {} }
  } catch {
    // Slowed down a little, so that one sees it stream.
    return { file: STAND_IN, installed: false, config: { bin: STAND_IN, env: { AGY_STANDIN_DELAY_MS: '25' } } }
  }
}

/** Say in plain words which `agy` answers. */
export function describeAgy({ file, installed }) {
  return installed
    ? `agy: ${file} (installed here; it answers on your own subscription)`
    : 'agy: not installed here, so the bundled stand-in answers: it replays a recording of the real CLI and does not read your prompt'
}

/** Path of a session's log. */
export function logOf(home, sessionId) {
  const root = join(home, 'sessions')
  for (const project of existsSync(root) ? readdirSync(root) : []) {
    const file = join(root, project, sessionId, 'session.jsonl')
    if (existsSync(file)) return file
  }
  return undefined
}

/**
 * A home of one dsh alone: each start writes its profile's files anew, and another start would read them half written.
 *
 * @param {string} home where the package is installed.
 * @param {string} copy that does not exist yet.
 */
export function copyHome(home, copy) {
  cpSync(home, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}
