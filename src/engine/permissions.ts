/** What a session's knobs mean for an engine: for a whole run that cannot ask, and for one call that can be stopped. */
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, parse, relative, sep } from 'node:path'
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

/** Why one of the targets may not be written without asking; `undefined` when all may. */
async function firstOutside(targets: readonly string[], workspace: string): Promise<string | undefined> {
  if (targets.length === 0) return 'The call does not say what it would write, and this session asks nobody.'
  const root = await resolved(workspace)
  for (const target of targets) {
    const inside = isAbsolute(target) ? relative(root, await resolved(target)) : '..'
    if (inside === '' || inside.split(sep)[0] === '..' || isAbsolute(inside)) {
      return `"${target}" lies outside the workspace, and this session asks nobody.`
    }
    // What lies there is loaded and run by the agent itself.
    if (inside.split(sep).some(part => part.toLowerCase() === '.agents')) {
      return `"${target}" would change how the agent itself works, and this session asks nobody.`
    }
  }
  return undefined
}

/** The path with every link on its way followed, also where its end does not exist yet. */
async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = dirname(path)
    if (parent === path) return path
    // A link that leads nowhere yet may lead anywhere by the time of the write: it is inside of nothing.
    const dangling = await lstat(path).then(
      found => found.isSymbolicLink(),
      () => false,
    )
    return dangling ? parse(path).root : join(await resolved(parent), basename(path))
  }
}
