/** What the user of a session allows, as the host keeps it. */
import type { Context } from '@deepseek-ai/cordis'
import type { Session } from '@deepseek-ai/dsh-session'

/** The host's two knobs; absent where the host has none, or does not tell. */
export interface PermissionKnobs {
  /** `read-only`, `workspace-write` or `danger-full-access`. */
  readonly sandboxMode?: string
  /** `ask` or `never`. */
  readonly approvalPolicy?: string
}

/** The parts of the two services that are read (as of 0.1.0-rc.8). */
interface SandboxPolicy {
  resolve(request: { session: Session }): { readonly mode?: string }
}
interface Approval {
  overrideOf(session: Session): string | undefined
  readonly config?: { readonly policy?: string }
}

/** Read both knobs as they stand now. */
export function permissionKnobs(ctx: Context, session: Session): PermissionKnobs {
  const sandboxMode = told(() => (ctx.get('sandboxPolicy') as SandboxPolicy | undefined)?.resolve({ session }).mode)
  const approval = ctx.get('approval') as Approval | undefined
  const approvalPolicy = told(() => approval?.overrideOf(session) ?? approval?.config?.policy)
  return { ...(sandboxMode && { sandboxMode }), ...(approvalPolicy && { approvalPolicy }) }
}

/** A knob that cannot be read is one that is not there. */
function told(read: () => string | undefined): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
