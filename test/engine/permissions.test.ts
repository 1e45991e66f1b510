import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ToolKind } from '../../src/engine/contract.ts'
import { permissionsOf, ruleOf } from '../../src/engine/permissions.ts'
import { privateFolder } from '../support/folders.ts'

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
    const workspace = privateFolder()
    const targets = [join(workspace, 'a')]
    const rules = await Promise.all(KINDS.map(kind => ruleOf({ kind, name: kind, targets }, knobs, workspace)))
    expect(rules.map(rule => (typeof rule === 'object' ? '-' : rule === 'ask' ? '?' : '+')).join('')).toBe(expected)
  })

  describe('where nobody is asked, a write inside the workspace is one', () => {
    const knobs = { sandboxMode: 'workspace-write', approvalPolicy: 'never' }
    const rule = (workspace: string, ...targets: string[]) =>
      ruleOf({ kind: 'write', name: 'write_to_file', targets }, knobs, workspace)

    test('by its plain name, also of what does not exist yet, and by either name of the workspace', async () => {
      const workspace = privateFolder()
      const alias = join(privateFolder(), 'alias')
      symlinkSync(workspace, alias)
      for (const target of ['a', 'new/folder/a', 'a.agents', '..a']) {
        expect(await rule(workspace, join(workspace, target))).toBe('allow')
        expect(await rule(alias, join(alias, target))).toBe('allow')
        expect(await rule(alias, join(workspace, target))).toBe('allow')
      }
    })

    test.each([
      ['that does not say where', () => []],
      ['of several files, one of them outside', (w: string) => [join(w, 'a'), '/etc/passwd']],
      ['of the workspace itself', (w: string) => [w]],
      ['by a relative name', () => ['a']],
      ['by a step upwards', (w: string) => [`${w}/a/../../b`]],
      ['by a step through what is missing, and a link', (w: string) => [`${w}/missing/../link/a`]],
      ['through a link', (w: string) => [`${w}/link/a`]],
      ['through a link that leads nowhere yet', (w: string) => [`${w}/later`]],
      ['by a name that is not plain', (w: string) => [`${w}//a`]],
      ['by a name with a dot', (w: string) => [`${w}/./a`]],
      ['by a longer name than any system takes', (w: string) => [`${w}${'/a'.repeat(12_000)}`]],
      ['by a name of another process', () => ['/proc/self/cwd/a']],
      ["of the agent's own files", (w: string) => [`${w}/.agents/hooks.json`]],
      ["of the agent's own files, in other letters", (w: string) => [`${w}/sub/.AGENTS/x`]],
      ["of the agent's own files, in the older place", (w: string) => [`${w}/.agent/hooks.json`]],
      ["of the agent's own files, through a link", (w: string) => [`${w}/own/hooks.json`]],
    ])('but not %s', async (_what, targets) => {
      const [workspace, outside] = [privateFolder(), privateFolder()]
      symlinkSync(outside, join(workspace, 'link'))
      symlinkSync(join(outside, 'later'), join(workspace, 'later'))
      mkdirSync(join(workspace, '.agents'))
      symlinkSync(join(workspace, '.agents'), join(workspace, 'own'))
      expect(await rule(workspace, ...targets(workspace))).toEqual({ deny: expect.stringMatching(/asks nobody\.$/) })
    })
  })
})
