import { describe, expect, test } from 'vitest'
import { permissionsOf } from '../../src/engine/permissions.ts'

const STRICTEST = { confined: true, everythingAllowed: false }
const MODES = ['read-only', 'workspace-write', 'danger-full-access', 'something-new', undefined]
const POLICIES = ['ask', 'never', 'something-new', undefined]

describe('only full access without asking allows everything', () => {
  test.each(MODES.flatMap(mode => POLICIES.map(policy => [mode, policy] as const)))('%s, %s', (mode, policy) => {
    const knobs = { ...(mode && { sandboxMode: mode }), ...(policy && { approvalPolicy: policy }) }
    if (mode !== 'danger-full-access') expect(permissionsOf(knobs)).toEqual(STRICTEST)
    else expect(permissionsOf(knobs)).toEqual({ confined: false, everythingAllowed: policy === 'never' })
  })
})
