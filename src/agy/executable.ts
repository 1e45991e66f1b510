/** Finds the CLI: the pinned `bin`, then PATH, then the places where its installers put it. */
import { access, constants, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { AgyRefusal } from './refusal.ts'

type Env = Readonly<Record<string, string>>

const INSTALL_HINT = "Install the Antigravity CLI, or set `bin` to its absolute path in the engine's configuration."

/** Install places of agy (read from four public drivers, 2026). */
function installPlaces(env: Env): string[] {
  if (process.platform === 'win32') return env.LOCALAPPDATA ? [join(env.LOCALAPPDATA, 'agy', 'bin')] : []
  return [...(env.HOME ? [join(env.HOME, '.local', 'bin')] : []), '/opt/homebrew/bin', '/usr/local/bin']
}

type Verdict = 'usable' | 'missing' | 'folder' | 'not-executable'

async function inspect(file: string): Promise<Verdict> {
  try {
    if ((await stat(file)).isDirectory()) return 'folder'
    await access(file, constants.X_OK)
    return 'usable'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'not-executable' : 'missing'
  }
}

/**
 * Find the executable that is to be spawned.
 *
 * @param bin - pinned absolute path, or a name to look for instead of `agy`.
 * @param env - the child's environment; PATH, HOME and LOCALAPPDATA are read.
 * @returns absolute path.
 * @throws AgyRefusal that tells a missing file, a folder and a file without the run bit apart.
 */
export async function findExecutable(bin: string | undefined, env: Env): Promise<string> {
  if (bin !== undefined && isAbsolute(bin)) return checked(bin)
  if (bin !== undefined && /[/\\]/.test(bin)) {
    throw new AgyRefusal(
      'AGY_BIN_RELATIVE',
      `The configured bin "${bin}" is neither an absolute path nor a bare name.`,
      'Write the absolute path: a relative one would depend on where dsh was started.',
    )
  }
  const name = bin ?? 'agy'
  const names = process.platform === 'win32' && !/\.\w+$/.test(name) ? [`${name}.exe`] : [name]
  const folders = [...(env.PATH ?? env.Path ?? '').split(delimiter).filter(isAbsolute), ...installPlaces(env)]
  let unusable: AgyRefusal | undefined
  for (const folder of folders) {
    for (const candidate of names) {
      const file = join(folder, candidate)
      const verdict = await inspect(file)
      if (verdict === 'usable') return file
      if (verdict !== 'missing') unusable ??= refusal(verdict, file)
    }
  }
  if (unusable !== undefined) throw unusable
  throw new AgyRefusal(
    'AGY_EXECUTABLE_MISSING',
    `No "${name}" was found on PATH or where its installer puts it.`,
    INSTALL_HINT,
  )
}

async function checked(file: string): Promise<string> {
  const verdict = await inspect(file)
  if (verdict === 'usable') return file
  throw refusal(verdict, file)
}

function refusal(verdict: Exclude<Verdict, 'usable'>, file: string): AgyRefusal {
  switch (verdict) {
    case 'folder':
      return new AgyRefusal('AGY_EXECUTABLE_IS_FOLDER', `"${file}" is a folder.`, 'Point bin at the program itself.')
    case 'not-executable':
      return new AgyRefusal('AGY_NOT_EXECUTABLE', `"${file}" may not be run.`, 'Make it executable with chmod +x.')
    case 'missing':
      return new AgyRefusal('AGY_EXECUTABLE_MISSING', `The configured bin "${file}" does not exist.`, INSTALL_HINT)
  }
}
