import { describe, expect, test } from 'vitest'
import type { HookSpec } from '../../../src/agy/hooks/files.ts'
import { comesFrom, listsOurs, othersOf, parseListing } from '../../../src/agy/hooks/listing.ts'

const SPEC: HookSpec = { command: "'node' 'hook'", timeoutSeconds: 60 }
const FILES = new Set(['/run/hooks/.agents/hooks.json'])
const ACTION = { event: 'PreToolUse', matcher: '*', type: 'command', command: SPEC.command, timeout_seconds: 60 }
const OURS = { name: 'dsh-loop-engine-agy', enabled: true, source: '/run/hooks/.agents/hooks.json', actions: [ACTION] }

const output = (...hooks: object[]) =>
  JSON.stringify({ status: 'SUCCESS', response: 'name\tenabled', command: { name: 'hooks', data: { hooks } } })
const listed = (...hooks: object[]) => parseListing(output(...hooks), '/home/ada') ?? []

describe('the listing', () => {
  test('is read from one object, from the frame of a stream, and beside other lines', () => {
    const frame = JSON.stringify({ event: 'command_result', command: { name: 'hooks', data: { hooks: [OURS] } } })
    for (const text of [output(OURS), `Fetching...\n${output(OURS)}\n`, `{"event":"init"}\n${frame}\n`]) {
      expect(listsOurs(parseListing(text, '/home/ada') ?? [], FILES, SPEC)).toBe(true)
    }
  })

  test.each([
    '',
    'no such command',
    '{}',
    'null',
    '{"command":{"name":"hooks","data":{}}}',
    '{"command":{"name":"models","data":{"hooks":[]}}}',
  ])('is none in %j', text => {
    expect(parseListing(text, '/home/ada')).toBeUndefined()
  })

  test('takes ill-typed members for missing ones', () => {
    expect(listed({ name: 7, enabled: 'yes', source: [], actions: [null, { event: 3 }] })).toEqual([
      { name: '', enabled: false, source: '', actions: [{ event: '' }, { event: '' }] },
    ])
  })
})

describe('our hook is not proved by', () => {
  test.each([
    ['nothing', []],
    ['a disabled one', [{ ...OURS, enabled: false }]],
    ['one from elsewhere', [{ ...OURS, source: '/w/.agents/hooks.json' }]],
    ['one of another name', [{ ...OURS, name: 'other' }]],
    ['another event', [{ ...OURS, actions: [{ ...ACTION, event: 'PostToolUse' }] }]],
    ['one that is asked about some tools', [{ ...OURS, actions: [{ ...ACTION, matcher: 'run_command' }] }]],
    ['one without a word on its tools', [{ ...OURS, actions: [{ ...ACTION, matcher: undefined }] }]],
    ['another command', [{ ...OURS, actions: [{ ...ACTION, command: 'true' }] }]],
    ['another patience', [{ ...OURS, actions: [{ ...ACTION, timeout_seconds: 30 }] }]],
    ['two of them', [OURS, OURS]],
    ['one without actions', [{ ...OURS, actions: undefined }]],
  ])('%s', (_what, hooks) => {
    expect(listsOurs(listed(...hooks), FILES, SPEC)).toBe(false)
  })

  test('but by one whose patience is not told', () => {
    expect(listsOurs(listed({ ...OURS, actions: [{ ...ACTION, timeout_seconds: undefined }] }), FILES, SPEC)).toBe(true)
  })
})

describe('the hooks of others', () => {
  const theirs = { ...OURS, name: 'theirs', source: '~/.gemini/config/hooks.json' }

  test('are those that are enabled and asked about calls', () => {
    const all = listed(
      OURS,
      theirs,
      { ...theirs, name: 'off', enabled: false },
      { ...theirs, name: 'after', actions: [{ ...ACTION, event: 'PostToolUse' }] },
    )
    expect(othersOf(all).map(({ name }) => name)).toEqual(['theirs'])
  })

  test('come from a folder, also when it is written as ~', () => {
    const [hook] = listed(theirs)
    expect(hook && comesFrom(hook, '/home/ada')).toBe(true)
    expect(hook && comesFrom(hook, '/w')).toBe(false)
    const [inside] = listed({ ...theirs, source: '/w/.agents/hooks.json' })
    expect(inside && comesFrom(inside, '/w')).toBe(true)
    expect(inside && comesFrom(inside, '/w/.agents/hooks.json')).toBe(false)
    expect(inside && comesFrom(inside, '/w/.ag')).toBe(false)
    const [dotted] = listed({ ...theirs, source: '/w/..x/hooks.json' })
    expect(dotted && comesFrom(dotted, '/w')).toBe(true)
  })
})
