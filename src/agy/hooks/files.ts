/** The files by which the CLI finds our hook: in a private folder of the run, never in the workspace. */
import { createHash } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Name under which `/hooks` lists it. */
export const HOOK_NAME = 'dsh-loop-engine-agy'

/** Every tool: proven for 1.2.3, 1.2.5 and 1.2.16, and so documented (public drivers, 2026-12-03). */
export const EVERY_TOOL = '*'

/**
 * Where the CLI looks inside a folder that was added: both are known to work in some versions (1.1.21 to 1.2.16), so a proof
 * says which.
 */
export type Layout = 'agents' | 'plugin'
/** All of them, in the order in which they are tried. */
export const LAYOUTS: readonly Layout[] = ['agents', 'plugin']

/** What the CLI runs before each call. */
export interface HookSpec {
  readonly command: string
  /** The CLI's own patience, in seconds; longer than ours, since an old version runs the call when it is over (1.1.9). */
  readonly timeoutSeconds: number
}

/** Names of the environment by which the hook program finds the run that it belongs to. */
export const HOOK_ENV = {
  url: 'DSH_AGY_HOOK_URL',
  token: 'DSH_AGY_HOOK_TOKEN',
  node: 'DSH_AGY_HOOK_NODE',
  program: 'DSH_AGY_HOOK_PROGRAM',
} as const

/** The hook program lies beside this file, in the sources as in the build. */
const PROGRAM = fileURLToPath(import.meta.url.replace(/[^/]*(\.[jt]s)$/, 'program$1'))

/** The CLI hands the command to `sh -c`. */
const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Half an hour: who comes back to the page later sends the message again. */
export const DEFAULT_APPROVAL_TIMEOUT_MS = 30 * 60_000

/** What the CLI has beyond our own time limit, in seconds. */
const SPARE_SECONDS = 60

/** @param limitMs - after which the host itself answers, in milliseconds. */
export function hookSpec(limitMs: number): HookSpec {
  // On Windows the CLI escapes double quotes before cmd.exe sees them, so the quoted paths stand in the environment. Not run there.
  const command =
    process.platform === 'win32'
      ? `%${HOOK_ENV.node}% %${HOOK_ENV.program}%`
      : `${shellWord(process.execPath)} ${shellWord(PROGRAM)}`
  return { command, timeoutSeconds: Math.ceil(limitMs / 1000) + SPARE_SECONDS }
}

/** What the environment of a child holds for its hook. */
export function hookEnvironment(url: string, token: string): Readonly<Record<string, string>> {
  return {
    [HOOK_ENV.url]: url,
    [HOOK_ENV.token]: token,
    [HOOK_ENV.node]: `"${process.execPath}"`,
    [HOOK_ENV.program]: `"${PROGRAM}"`,
  }
}

function contentsOf(layout: Layout, { command, timeoutSeconds }: HookSpec): ReadonlyMap<string, string> {
  const hooks = JSON.stringify({
    [HOOK_NAME]: {
      PreToolUse: [{ matcher: EVERY_TOOL, hooks: [{ type: 'command', command, timeout: timeoutSeconds }] }],
    },
  })
  if (layout === 'agents') return new Map([[join('.agents', 'hooks.json'), hooks]])
  const folder = join('.agents', 'plugins', HOOK_NAME)
  return new Map([
    [join(folder, 'hooks.json'), hooks],
    [join(folder, 'plugin.json'), JSON.stringify({ name: HOOK_NAME, version: '1.0.0' })],
  ])
}

/** The folder as it was written; anything else in its place is not ours. */
export class HookFolder {
  /** Absolute path, to be given to the CLI with `--add-dir`. */
  readonly path: string
  /** Absolute path of the `hooks.json` in it. */
  readonly file: string
  /** Of the files and of the program that they name. */
  readonly digest: string

  private constructor(path: string, file: string, digest: string) {
    this.path = path
    this.file = file
    this.digest = digest
  }

  /**
   * Write the files.
   *
   * @param path - absolute path of a folder that does not exist yet, inside a private one.
   */
  static async write(path: string, layout: Layout, spec: HookSpec): Promise<HookFolder> {
    const contents = contentsOf(layout, spec)
    for (const [name, content] of contents) {
      const file = join(path, name)
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(file, content, { mode: 0o400, flag: 'wx' })
    }
    const hooks = [...contents.keys()].find(name => name.endsWith('hooks.json')) ?? ''
    return new HookFolder(path, join(path, hooks), await digestOf(path))
  }

  /** Whether it still holds what was written, nothing less and nothing more, and the program is the same. */
  async isIntact(): Promise<boolean> {
    try {
      return (await digestOf(this.path)) === this.digest
    } catch {
      return false
    }
  }
}

/** Digest of a folder and of the hook program; a link or any other thing that is no plain file shows in it. */
async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.map(entry => join(entry.parentPath, entry.name)).sort()
  for (const path of paths) {
    const found = await lstat(path)
    const kind = found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other'
    hash.update(`\0${kind} ${relative(folder, path)}\0`)
    if (found.isFile()) hash.update(await readFile(path))
  }
  hash.update(`\0program\0`).update(await readFile(PROGRAM))
  return hash.digest('hex')
}
