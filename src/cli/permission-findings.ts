/** What each of dsh's permissions becomes for the CLI, by the engine's own rules. */
import { join } from 'node:path'
import type { Finding } from '../agy/finding.ts'
import { buildLaunch } from '../agy/launch.ts'
import type { EngineConfig } from '../config.ts'
import type { ToolKind } from '../engine/contract.ts'
import { permissionsOf, ruleOf } from '../engine/permissions.ts'
import type { PermissionKnobs } from '../host/permission-knobs.ts'

const MODES = ['read-only', 'workspace-write', 'danger-full-access'] as const
const POLICIES = ['ask', 'never'] as const
const KINDS: readonly ToolKind[] = ['read', 'write', 'command', 'network', 'other']

/**
 * The table of a workspace, one finding for each row.
 *
 * @param config - what the deployment pins.
 * @param cwd - absolute path of the workspace.
 * @param mode - that a new session starts with.
 */
export async function permissionFindings(
  config: Pick<EngineConfig, 'approvals' | 'sandbox' | 'dangerouslySkipPermissions'>,
  cwd: string,
  mode: string,
): Promise<Finding[]> {
  const rows = MODES.flatMap(sandboxMode => POLICIES.map(approvalPolicy => ({ sandboxMode, approvalPolicy })))
  // As dsh's own profile decides it (0.1.0-rc.8).
  const policy = mode === 'danger-full-access' ? 'never' : 'ask'
  return Promise.all(
    rows.map(async knobs => {
      const isStart = knobs.sandboxMode === mode && knobs.approvalPolicy === policy
      const words = config.approvals === 'host' ? await asked(knobs, cwd) : flagged(knobs, config, cwd)
      return {
        what: `permissions, ${knobs.sandboxMode} and ${knobs.approvalPolicy}`,
        verdict: 'ok' as const,
        words: `${words}${isStart ? ' (a new session starts so)' : ''}`,
      }
    }),
  )
}

/** Who decides is dsh, on each call. */
async function asked(knobs: PermissionKnobs, cwd: string): Promise<string> {
  const rules = await Promise.all(
    KINDS.map(async kind => {
      const rule = await ruleOf({ kind, name: kind, targets: [join(cwd, 'file')] }, knobs, cwd)
      return `${kind} ${rule === 'allow' ? 'allowed' : rule === 'ask' ? 'asks you' : 'denied'}`
    }),
  )
  return `dsh decides: ${rules.join(', ')}`
}

/** Who decides is the CLI, by its flags. */
function flagged(
  knobs: PermissionKnobs,
  { sandbox, dangerouslySkipPermissions }: Pick<EngineConfig, 'sandbox' | 'dangerouslySkipPermissions'>,
  cwd: string,
): string {
  const pins = {
    ...(sandbox !== undefined && { sandbox }),
    ...(dangerouslySkipPermissions !== undefined && { dangerouslySkipPermissions }),
  }
  const { args } = buildLaunch('agy', { env: {}, ...pins }, { prompt: '', cwd, permissions: permissionsOf(knobs) }, {})
  const flags = ['--sandbox', '--dangerously-skip-permissions'].filter(flag => args.includes(flag))
  const meaning = flags.includes('--dangerously-skip-permissions')
    ? 'nothing is asked for'
    : 'what the CLI would ask for it denies'
  return `the CLI decides by ${flags.join(' ') || 'no flag'}: ${meaning}`
}
