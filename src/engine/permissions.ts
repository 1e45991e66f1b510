/** What a session's knobs mean for an engine that cannot ask: one table, read per run. */
import type { PermissionKnobs } from '../host/permission-knobs.ts'
import type { Permissions } from './contract.ts'

/**
 * Full access is full access only together with "never ask": who wants to be asked has not allowed everything, and this
 * engine cannot ask. Whatever is missing or unknown is the strictest row.
 */
export function permissionsOf({ sandboxMode, approvalPolicy }: PermissionKnobs): Permissions {
  const full = sandboxMode === 'danger-full-access'
  return { confined: !full, everythingAllowed: full && approvalPolicy === 'never' }
}
