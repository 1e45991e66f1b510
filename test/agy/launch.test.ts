import { describe, expect, test } from 'vitest'
import {
  buildLaunch,
  childEnvironment,
  type LaunchSettings,
  MAX_PROMPT_BYTES,
  resolveModel,
} from '../../src/agy/launch.ts'

const settings: LaunchSettings = { env: {} }
const STRICT = { confined: true, everythingAllowed: false }
const request = { prompt: 'hello', cwd: '/work space/é', permissions: STRICT }
const argsOf = (more: Partial<LaunchSettings> = {}, asked: { model?: string; effort?: string } = {}) =>
  buildLaunch('/bin/agy', { ...settings, ...more }, { ...request, ...asked }, {}).args

describe('arguments', () => {
  test('are these, values joined to their flags, and --print= last', () => {
    expect(argsOf()).toEqual([
      '--input-format=stream-json',
      '--output-format=stream-json',
      '--disable-slash-commands',
      '--add-dir=/work space/é',
      '--sandbox',
      '--print-timeout=2562047h',
      '--print=',
    ])
  })

  test('carry the pins', () => {
    const args = argsOf({ model: 'm', mode: 'accept-edits', sandbox: false, dangerouslySkipPermissions: true })
    expect(args).toEqual(expect.arrayContaining(['--model=m', '--mode=accept-edits', '--dangerously-skip-permissions']))
    expect(args).not.toContain('--sandbox')
  })

  test.each([
    // pins of the deployment, what the session allows, flags
    [{}, { confined: true, everythingAllowed: false }, ['--sandbox']],
    [{}, { confined: false, everythingAllowed: false }, []],
    [{}, { confined: false, everythingAllowed: true }, ['--dangerously-skip-permissions']],
    [{ sandbox: true }, { confined: false, everythingAllowed: true }, ['--sandbox', '--dangerously-skip-permissions']],
    [{ dangerouslySkipPermissions: false }, { confined: false, everythingAllowed: true }, []],
    [{ sandbox: false }, { confined: true, everythingAllowed: false }, []],
    [
      { dangerouslySkipPermissions: true },
      { confined: true, everythingAllowed: false },
      ['--sandbox', '--dangerously-skip-permissions'],
    ],
  ])('pins %j over what the session allows, %j', (pins, permissions, flags) => {
    const { args } = buildLaunch('/bin/agy', { ...settings, ...pins }, { ...request, permissions }, {})
    expect(args.filter(arg => /sandbox|skip-permissions/.test(arg))).toEqual(flags)
  })

  test('pin nothing for a call of the host itself', () => {
    const pins = { sandbox: false, dangerouslySkipPermissions: true }
    const { args } = buildLaunch('/bin/agy', { ...settings, ...pins }, { ...request, auxiliary: true }, {})
    expect(args).toContain('--sandbox')
    expect(args).not.toContain('--dangerously-skip-permissions')
  })

  test("put the session's pick before the pin, and never pass --effort", () => {
    expect(argsOf({ model: 'pinned' }, { model: 'picked' })).toContain('--model=picked')
    const args = argsOf({ effort: 'high' }, { model: 'gemini-3.8-flash' })
    expect(args).toContain('--model=gemini-3.8-flash-high')
    expect(args.some(arg => arg.startsWith('--effort'))).toBe(false)
  })
})

describe('a contradiction is refused before anything is spawned', () => {
  test.each([
    ['gemini-3.8-flash-low', 'high', 'AGY_EFFORT_CONFLICT'],
    ['claude-sonnet-4-6', 'high', 'AGY_EFFORT_UNSUPPORTED'],
    [undefined, 'high', 'AGY_EFFORT_WITHOUT_MODEL'],
    ['gemini-3.8-flash', 'extreme', 'AGY_EFFORT_UNKNOWN'],
  ])('model %s with effort %s: %s', (model, effort, code) => {
    expect(() => resolveModel(model, effort)).toThrow(expect.objectContaining({ code }))
  })

  test.each(['--evil', 'a b', 'a\tLabel', ''])('model name %j', model => {
    expect(() => argsOf({}, { model })).toThrow(expect.objectContaining({ code: 'AGY_MODEL_INVALID' }))
  })

  test('a prompt that the CLI would cut, measured in bytes', () => {
    const prompt = '漢'.repeat(MAX_PROMPT_BYTES / 3 + 1)
    expect(() => buildLaunch('/bin/agy', settings, { ...request, prompt }, {})).toThrow(
      expect.objectContaining({ code: 'AGY_PROMPT_TOO_LONG' }),
    )
  })
})

test('stdin is one line, whatever the prompt holds', () => {
  const { stdin = '' } = buildLaunch('/bin/agy', settings, { ...request, prompt: 'a\nb\u2028"c' }, {})
  expect(stdin.indexOf('\n')).toBe(stdin.length - 1)
  expect(JSON.parse(stdin)).toEqual({
    event: 'user',
    message: { role: 'user', content: [{ type: 'text', text: 'a\nb\u2028"c' }] },
  })
})

test('explicit entries win over the parent, null removes a name, and the self-update is off', () => {
  expect(childEnvironment({ A: '1', B: '2', HOME: '/h' }, { A: '9', B: null })).toEqual({
    A: '9',
    HOME: '/h',
    AGY_CLI_DISABLE_AUTO_UPDATE: 'true',
  })
})
