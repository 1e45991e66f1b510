/**
 * The proof that a version of the CLI, in a workspace, loads our hook: asked of the CLI itself, without a model call.
 *
 * A proof holds for one identity of the program, one workspace with what it brings of hooks, and one content of our files. It
 * proves that the hook is listed, not that it is obeyed: for that there is the tripwire of the fold.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../process.ts'
import { redact, saidBy } from '../redact.ts'
import { AgyRefusal } from '../refusal.ts'
import { RunFolder } from '../run-folder.ts'
import { identify } from '../version.ts'
import { HookFolder, type HookSpec, LAYOUTS, type Layout } from './files.ts'
import { comesFrom, type ListedHook, listsOurs, othersOf, parseListing } from './listing.ts'

/** What a proof is about. */
export interface ProofSubject {
  /** Absolute path of the program. */
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  /** Absolute path of the workspace. */
  readonly cwd: string
  readonly spec: HookSpec
}

/** A proof that was given. */
export interface Proof {
  /** Where the CLI looks for our files. */
  readonly layout: Layout
  /** Names of the user's own hooks that are asked as well. */
  readonly others: readonly string[]
  /** Whether everything that it is about is still as it was. */
  stillHolds(): Promise<boolean>
}

/** The start of the CLI takes up to 6 s, and up to 90 s where it waits for MCP servers. */
const LIMIT_MS = 100_000

const HINT = 'Use a version of the CLI that lists it (`agy --print=/hooks`), or set approvals to "cli".'

/** A run that needs the host's word on its calls, and cannot have it. */
export const unproven = (why: string, hint = HINT): AgyRefusal =>
  new AgyRefusal('AGY_GATE_UNPROVEN', `dsh's approvals cannot be relied on here: ${why}.`, hint)

/** The files of the hook need a place of their own. */
export const withoutFolder = (): AgyRefusal =>
  unproven('no private folder can be made', 'Set TMPDIR to a folder that can be written.')

/** Remembers the proofs that were given; a refusal is never remembered. */
export class ProofBook {
  private readonly proofs = new Map<string, Proof>()

  /** Whether there is a proof that would hold now. Asks nobody. */
  async has(subject: ProofSubject): Promise<boolean> {
    return this.proofs.has(await identityOf(subject))
  }

  /**
   * Prove, or remember a proof.
   *
   * @throws AgyRefusal that says why there is none.
   */
  async prove(subject: ProofSubject, signal: AbortSignal): Promise<Proof> {
    const identity = await identityOf(subject)
    const proof = this.proofs.get(identity) ?? (await demonstrate(subject, identity, signal))
    this.proofs.set(identity, proof)
    return proof
  }
}

async function demonstrate(subject: ProofSubject, identity: string, signal: AbortSignal): Promise<Proof> {
  const { layout, others, brought, silence } = await inspectHooks(subject, signal)
  if (silence !== undefined) throw unproven(`the CLI did not list its hooks (${silence})`)
  if (brought !== undefined) {
    throw unproven(
      `the workspace brings the hook "${brought.name}" (${redact(brought.source, subject.env.HOME)}), which could change a call after it was allowed`,
      'Remove that hook, or set approvals to "cli".',
    )
  }
  if (layout === undefined) throw unproven('the CLI does not list our hook, so it would not ask')
  return {
    layout,
    others: others.map(({ name }) => name),
    stillHolds: async () => (await identityOf(subject).catch(() => undefined)) === identity,
  }
}

/** What the CLI says of its hooks. */
export interface HookInspection {
  /** Where it looks for ours; absent when it lists them from neither place. */
  readonly layout?: Layout
  /** Those of other people that are asked about calls. */
  readonly others: readonly ListedHook[]
  /** One of them that the workspace brings. */
  readonly brought?: ListedHook
  /** Set when it listed nothing at all: what it said instead. */
  readonly silence?: string
}

/** Ask the CLI for its hooks, with ours in one place and then in the other. */
export async function inspectHooks(subject: ProofSubject, signal: AbortSignal): Promise<HookInspection> {
  const workspaces = [subject.cwd, await realpath(subject.cwd)]
  let others: readonly ListedHook[] = []
  for (const layout of LAYOUTS) {
    const { listing, silence, files } = await listWith(subject, layout, signal)
    if (listing === undefined) return { others, silence }
    others = othersOf(listing)
    const brought = others.find(hook => workspaces.some(folder => comesFrom(hook, folder)))
    if (brought !== undefined) return { others, brought }
    if (listsOurs(listing, files, subject.spec)) return { layout, others }
  }
  return { others }
}

async function listWith({ file, env, cwd, spec }: ProofSubject, layout: Layout, signal: AbortSignal) {
  const folder = await RunFolder.open()
  if (folder === undefined) throw withoutFolder()
  try {
    const ours = await HookFolder.write(folder.hooksFolder, layout, spec)
    const args = ['--output-format=json', `--add-dir=${cwd}`, `--add-dir=${ours.path}`, '--print=/hooks']
    const { stdout, stderr, exitCode, timedOut } = await runToEnd(file, args, env, LIMIT_MS, signal, cwd)
    const words = saidBy(stderr.trim() || stdout.trim(), env).slice(0, 300)
    const late = timedOut || signal.aborted
    return {
      listing: parseListing(stdout, env.HOME),
      silence: late ? 'no answer in time' : `exit code ${exitCode ?? 'unknown'}${words && `: ${words}`}`,
      // The CLI may have followed links on the way to it.
      files: new Set([ours.file, await realpath(ours.file)]),
    }
  } finally {
    await folder.remove()
  }
}

/** Program, workspace, our files, and the hooks of others: a change of any of them is another subject. */
async function identityOf({ file, env, cwd, spec }: ProofSubject): Promise<string> {
  const hash = createHash('sha256')
  for (const path of await hookFilesOf(cwd, env.HOME)) {
    hash.update(`\0${path}\0`).update(await readFile(path).catch(() => 'none'))
  }
  return JSON.stringify([await identify(file), cwd, spec, hash.digest('hex')])
}

/** Where hooks of the workspace and of the user lie (documentation and public tools, agy 1.1.x to 1.2.x; 2026-12-03). */
async function hookFilesOf(cwd: string, home: string | undefined): Promise<readonly string[]> {
  const roots = [
    join(cwd, '.agents'),
    join(cwd, '.agent'),
    ...(home === undefined ? [] : [join(home, '.gemini', 'config')]),
  ]
  const plugins = await Promise.all(
    roots.map(async root => {
      const names = await readdir(join(root, 'plugins')).catch((): string[] => [])
      return names.sort().map(name => join(root, 'plugins', name, 'hooks.json'))
    }),
  )
  return [...roots.map(root => join(root, 'hooks.json')), ...plugins.flat()]
}
