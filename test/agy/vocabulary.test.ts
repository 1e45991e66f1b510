/** Calls of the CLI in the words of the host. */
import { describe, expect, test } from 'vitest'
import { tellCall } from '../../src/agy/vocabulary.ts'

const told = (name: string, args: Record<string, unknown>) => {
  const { name: word, arguments: json, changes } = tellCall(name, args)
  return [word, JSON.parse(json), ...(changes ? [changes] : [])]
}

describe('a call has the words of the host', () => {
  test.each([
    ['run_command', { CommandLine: 'a\nb', Cwd: '/w' }, 'bash', { command: 'a\nb', description: 'a', workdir: '/w' }],
    ['run_command', { CommandLine: 'a' }, 'bash', { command: 'a', description: 'a' }],
    ['view_file', { AbsolutePath: '/w/a' }, 'read', { file_path: '/w/a' }],
    [
      'view_file',
      { AbsolutePath: '/w/a', StartLine: 3, EndLine: 7 },
      'read',
      { file_path: '/w/a', offset: 3, limit: 5 },
    ],
    ['list_dir', { DirectoryPath: '/w' }, 'read', { file_path: '/w' }],
    ['find_by_name', { Pattern: '*.ts', SearchDirectory: '/w' }, 'glob', { pattern: '*.ts', path: '/w' }],
    ['grep_search', { Query: 'x', SearchPath: '/w' }, 'grep', { pattern: 'x', path: '/w' }],
    ['search_web', { query: 'x' }, 'web_search', { queries: ['x'] }],
    ['read_url_content', { Url: 'https://a.b' }, 'web_fetch', { url: 'https://a.b' }],
    ['write_to_file', { TargetFile: '/w/a' }, 'write', { file_path: '/w/a' }],
    ['replace_file_content', { TargetFile: '/w/a' }, 'edit', { file_path: '/w/a' }],
  ])('%s %j', (name, args, word, expected) => {
    expect(told(name, args)).toEqual([word, expected])
  })

  test('and keeps what it tells beside them under its own names', () => {
    expect(told('run_command', { CommandLine: 'a', WaitMsBeforeAsync: 500 })[1]).toEqual({
      command: 'a',
      description: 'a',
      WaitMsBeforeAsync: 500,
    })
    expect(told('view_file', { AbsolutePath: '/a', StartLine: 9, EndLine: 3 })[1]).toEqual({
      file_path: '/a',
      offset: 9,
      EndLine: 3,
    })
  })
})

describe('what a call changes is told, where its arguments hold it', () => {
  test('a whole file', () => {
    expect(told('write_to_file', { TargetFile: '/a', CodeContent: '' })).toEqual([
      'write',
      { file_path: '/a', content: '' },
      [{ path: '/a', before: null, after: '' }],
    ])
  })

  test('one replacement', () => {
    expect(
      told('replace_file_content', {
        TargetFile: '/a',
        TargetContent: 'x',
        ReplacementContent: '',
        Instruction: 'cut',
      }),
    ).toEqual([
      'edit',
      { file_path: '/a', old_string: 'x', new_string: '', Instruction: 'cut' },
      [{ path: '/a', before: 'x', after: '' }],
    ])
  })

  test('several in one file', () => {
    const chunks = [
      { TargetContent: 'a', ReplacementContent: 'b' },
      { TargetContent: 'c', ReplacementContent: 'd' },
    ]
    expect(told('multi_replace_file_content', { TargetFile: '/a', ReplacementChunks: chunks })).toEqual([
      'edit',
      { file_path: '/a', old_string: 'a\n⋯\nc', new_string: 'b\n⋯\nd' },
      [
        { path: '/a', before: 'a', after: 'b' },
        { path: '/a', before: 'c', after: 'd' },
      ],
    ])
  })

  test('but not in part', () => {
    const chunks = [{ TargetContent: 'a', ReplacementContent: 'b' }, { TargetContent: 'c' }]
    expect(told('multi_replace_file_content', { TargetFile: '/a', ReplacementChunks: chunks })).toEqual([
      'edit',
      { file_path: '/a', ReplacementChunks: chunks },
    ])
  })
})

test('subagents and questions are told by what they are for', () => {
  const agents = [
    { Role: 'Reader', Prompt: 'read' },
    { TypeName: 'research', Prompt: 'look' },
  ]
  expect(told('invoke_subagent', { Subagents: agents })[1]).toEqual({
    description: 'Reader, research',
    prompt: 'read\n\nlook',
    Subagents: agents,
  })
  expect(told('ask_question', { questions: [{ question: 'q?', options: ['a'], is_multi_select: true }] })[1]).toEqual({
    questions: [{ id: 'q1', question: 'q?', options: [{ label: 'a' }], multi_select: true }],
  })
})

describe('a call without a word there keeps its own', () => {
  test.each([
    ['call_mcp_tool', { ServerName: 's', ToolName: 't' }],
    ['tool_of_tomorrow', { a: 1 }],
    ['constructor', {}],
    ['run_command', {}],
    ['run_command', { CommandLine: 7 }],
    ['view_file', { Path: '/a' }],
    ['search_web', { query: '' }],
    ['invoke_subagent', { Subagents: [{ Role: 'x' }] }],
    ['invoke_subagent', { Subagents: [null] }],
    ['ask_question', { questions: [{}] }],
    ['ask_question', { questions: [null] }],
  ])('%s %j', (name, args) => {
    expect(told(name, args)).toEqual([name, args])
  })
})
