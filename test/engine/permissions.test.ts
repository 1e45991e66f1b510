import { describe, expect, test } from 'vitest'
import type { ToolKind } from '../../src/engine/contract.ts'
import { permissionsOf, ruleOf } from '../../src/engine/permissions.ts'

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

describe('the rule of a call', () => {
  const KINDS: ToolKind[] = ['read', 'write', 'command', 'network', 'other']

  /** Read, write (inside the workspace), command, network, other: allowed, asked about or denied. */
  test.each([
    ['read-only', 'ask', '+--??'],
    ['read-only', 'never', '+----'],
    ['workspace-write', 'ask', '+????'],
    ['workspace-write', 'never', '++---'],
    ['danger-full-access', 'ask', '+????'],
    ['danger-full-access', 'never', '+++++'],
    ['something-new', 'ask', '+--??'],
    ['something-new', 'never', '+----'],
    [undefined, undefined, '+----'],
    ['workspace-write', undefined, '+----'],
    ['danger-full-access', 'something-new', '+----'],
  ])('in %s with %s is %s', async (sandboxMode, approvalPolicy, expected) => {
    const knobs = { ...(sandboxMode && { sandboxMode }), ...(approvalPolicy && { approvalPolicy }) }
    const rules = await Promise.all(
      KINDS.map(kind => ruleOf({ kind, name: kind, targets: ['/workspace/a'] }, knobs, '/workspace')),
    )
    expect(rules.map(rule => (typeof rule === 'object' ? '-' : rule === 'ask' ? '?' : '+')).join('')).toBe(expected)
  })

  test('a write that does not say where is not allowed without asking', async () => {
    const knobs = { sandboxMode: 'workspace-write', approvalPolicy: 'never' }
    expect(await ruleOf({ kind: 'write', name: 'sed_file', targets: [] }, knobs, '/workspace')).toMatchObject({
      deny: expect.stringContaining('does not say what it would write'),
    })
  })
})
