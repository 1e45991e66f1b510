/** What a session's knobs mean for an engine: for a whole run that cannot ask, and for one call that can be stopped. */
import { lstat, realpath } from 'node:fs/promises'
import { isAbsolute, join, normalize, parse, relative, sep } from 'node:path'
import type { PermissionKnobs } from '../host/permission-knobs.ts'
import type { GatedCall, Permissions } from './contract.ts'

/**
 * Full access is full access only together with "never ask": who wants to be asked has not allowed everything, and a run
 * cannot ask. Whatever is missing or unknown is the strictest row.
 */
export function permissionsOf({ sandboxMode, approvalPolicy }: PermissionKnobs): Permissions {
  const full = sandboxMode === 'danger-full-access'
  return { confined: !full, everythingAllowed: full && approvalPolicy === 'never' }
}

/** What the knobs say of one call: it may happen, the user is to be asked, or why it may not happen. */
export type Rule = 'allow' | 'ask' | { readonly deny: string }

/**
 * The rule of one call. What only reads never asks. Read-only means that nothing is written and no command runs, whoever
 * would allow it. Where nobody may be asked, only what the mode allows and the engine can hold to it is allowed: a write
 * inside the workspace, but no command, since nothing would keep it in there.
 *
 * @param workspace - absolute path of the session's folder.
 */
export async function ruleOf(
  { kind, name, targets }: Pick<GatedCall, 'kind' | 'name' | 'targets'>,
  { sandboxMode, approvalPolicy }: PermissionKnobs,
  workspace: string,
): Promise<Rule> {
  const [writable, full] = [sandboxMode === 'workspace-write', sandboxMode === 'danger-full-access']
  if (kind === 'read') return 'allow'
  if (!writable && !full && (kind === 'write' || kind === 'command')) {
    return { deny: `This session is read-only, so "${name}" may not be used.` }
  }
  if (approvalPolicy === 'ask') return 'ask'
  if (full && approvalPolicy === 'never') return 'allow'
  if (writable && approvalPolicy === 'never' && kind === 'write') {
    const outside = await firstOutside(targets, workspace)
    return outside === undefined ? 'allow' : { deny: outside }
  }
  return { deny: `"${name}" would need an approval, and this session asks nobody for one.` }
}

/** Longest path that is looked at, in characters: no system takes a longer one. */
const LONGEST_PATH = 4096

/** What lies in these folders is loaded and run by the agent itself. */
const OWN_FOLDERS: ReadonlySet<string> = new Set(['.agents', '.agent', '.gemini'])

/** Why one of the targets may not be written without asking; `undefined` when all may. */
async function firstOutside(targets: readonly string[], workspace: string): Promise<string | undefined> {
  if (targets.length === 0) return 'The call does not say what it would write, and this session asks nobody.'
  const root = await realpath(workspace)
  for (const target of targets) {
    // A path that has to be worked out first may be worked out differently by who writes.
    if (target.length > LONGEST_PATH || normalize(target) !== target) {
      return `"${target.slice(0, 200)}" is no plain path, and this session asks nobody.`
    }
    const named = [workspace, root].some(folder => inside(folder, target) !== undefined)
    const meant = named ? inside(root, await resolved(target)) : undefined
    if (meant === undefined) return `"${target}" lies outside the workspace, and this session asks nobody.`
    if (meant.split(sep).some(part => OWN_FOLDERS.has(part.toLowerCase()))) {
      return `"${target}" would change how the agent itself works, and this session asks nobody.`
    }
  }
  return undefined
}

/** The way from a folder to what lies in it. */
function inside(folder: string, path: string): string | undefined {
  const way = relative(folder, path)
  return way === '' || isAbsolute(way) || way.split(sep)[0] === '..' ? undefined : way
}

/** The path with every link on its way followed, also where its end does not exist yet. */
async function resolved(path: string): Promise<string> {
  const { root } = parse(path)
  const parts = path.slice(root.length).split(sep)
  let place = root
  for (const [at, part] of parts.entries()) {
    const next = join(place, part)
    const found = await lstat(next).catch(() => undefined)
    // From here on nothing exists, so nothing leads elsewhere.
    if (found === undefined) return join(next, ...parts.slice(at + 1))
    // A link that leads nowhere yet may lead anywhere by the time of the write: it is inside of nothing.
    place = found.isSymbolicLink() ? await realpath(next).catch(() => root) : next
  }
  return place
}
