import { describe, expect, test } from 'vitest'
import { questionsOf, tellAnswer } from '../../../src/agy/hooks/questions.ts'
import { kindOf, summaryOf, targetsOf, visible } from '../../../src/agy/hooks/tools.ts'
import { probeNames, readProbe } from '../../support/probes.ts'

/** Every name that a recording lists among the CLI's tools. */
const listed = new Set(
  probeNames.flatMap((probe): readonly string[] => {
    const [init] =
      readProbe(probe)
        .frames.toString()
        .match(/^\{"event":"init".*$/m) ?? []
    return init === undefined ? [] : (JSON.parse(init).init.tools ?? [])
  }),
)

describe('the kind of a tool', () => {
  test.each([
    ['view_file', 'read'],
    ['write_to_file', 'write'],
    ['run_command', 'command'],
    ['search_web', 'network'],
    ['browser_click_element', 'network'],
    ['browser_subagent', 'other'],
    ['invoke_subagent', 'other'],
    ['call_mcp_tool', 'other'],
    ['tool_of_tomorrow', 'other'],
    ['constructor', 'other'],
    ['', 'other'],
  ])('%s: %s', (name, kind) => {
    expect(kindOf(name)).toBe(kind)
  })

  test('is harmless for nothing but these of the recorded names', () => {
    expect(listed.size).toBeGreaterThan(40)
    expect([...listed].filter(name => kindOf(name) === 'read').sort()).toEqual([
      'command_status',
      'find_by_name',
      'finish',
      'grep_search',
      'list_dir',
      'list_permissions',
      'list_resources',
      'view_file',
      'wait',
      'wait_5_seconds',
    ])
  })
})

test('what would be written is told by its known name alone', () => {
  expect(targetsOf('write_to_file', { TargetFile: '/w/a', Other: '/w/b' })).toEqual(['/w/a'])
  expect(targetsOf('write_to_file', { Path: '/w/a' })).toEqual([])
  expect(targetsOf('run_command', { TargetFile: '/w/a' })).toEqual([])
})

describe('what a person is shown', () => {
  test('begins with what says most, and leaves nothing out', () => {
    expect(summaryOf({ Blocking: true, Cwd: '/w', CommandLine: 'a && b' }).text).toBe(
      'a && b ·\nBlocking: true ·\nCwd: /w',
    )
    expect(summaryOf({ Arguments: { a: 1 }, ToolName: 't', ServerName: 's' }).text).toBe(
      'ServerName: s ·\nToolName: t ·\nArguments: {"a":1}',
    )
  })

  test('has no character that hides another', () => {
    expect(summaryOf({ CommandLine: 'ls \u202egnp.exe\u200b\u0007' }).text).toBe('ls \\u{202e}gnp.exe\\u{200b}\\u{7}')
    expect(summaryOf({ CommandLine: 'ls\nrm -r .' }).text).toBe('ls ⏎\nrm -r .')
  })

  test('says when it is cut', () => {
    expect(summaryOf({ CommandLine: 'x' }).isWhole).toBe(true)
    const { text, isWhole } = summaryOf({ CommandLine: 'x'.repeat(65_541) })
    expect(text).toMatch(/^x{65536}\n… and 5 more characters that are not shown\.$/)
    expect(isWhole).toBe(false)
  })

  test.each([
    '\u2028',
    '\u2029',
    '\u3164',
    '\u115f',
    '\u034f',
    '\ufe0f',
    '\u00a0',
    '\u2800',
    '\u202e',
    '\u200d',
    '\u0000',
    '\ud800',
  ])('has no %j', character => {
    const code = character.codePointAt(0)?.toString(16)
    expect(visible(`a${character}b c`)).toBe(`a\\u{${code}}b c`)
  })

  test('keeps what is seen', () => {
    expect(visible('日本 é 😀\tx')).toBe('日本 é 😀\tx')
  })
})

describe('a question', () => {
  test.each([
    [{}],
    [{ questions: 'what?' }],
    [{ questions: [] }],
    [{ questions: [{ options: ['a'] }] }],
    [{ questions: [{ question: ' ' }] }],
    [{ questions: [{ question: 'a?' }, null] }],
    [{ questions: [{ question: 'a?', options: [1] }] }],
  ])('that cannot be shown is none: %j', args => {
    expect(questionsOf(args)).toEqual([])
  })

  test('takes labels as texts and as objects, each once', () => {
    const options = ['a', { label: 'b' }, 'a']
    expect(questionsOf({ questions: [{ question: 'q?', options, is_multi_select: true }] })).toEqual([
      { question: 'q?', options: ['a', 'b'], multiple: true },
    ])
  })

  test('that is skipped says so, and an answer is no refusal', () => {
    const [question] = questionsOf({ questions: [{ question: 'q?', options: [] }] })
    const told = tellAnswer(question ? [question] : [], { kind: 'answered', answers: [{ selected: [] }] })
    expect(JSON.parse(told.shown)).toEqual({ answers: [{ id: 'q1', question: 'q?', selected: [] }] })
    expect(told.reason).toContain('q?\n(skipped by the user)')
    expect(told.reason).toMatch(/^This is no refusal: the user has answered/)
  })
})
