/**
 * The CLI's tools in the words of the host, so that its own cards show them: one table of names and argument shapes.
 *
 * What has no word there keeps its own name and arguments, and what a known tool tells beside the mapped arguments is kept under
 * its own name. Argument names as the recordings and public captures show them (agy 1.1.7 to 1.3.2; 2026-12-03).
 */
import type { FileChange } from '../engine/contract.ts'

type Args = Readonly<Record<string, unknown>>

/** A call as it is told. */
export interface ToldCall {
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** What it changes in files, where it tells so. */
  readonly changes?: readonly FileChange[]
}

interface Word {
  readonly name: string
  readonly args: Args
  /** Arguments of the CLI that the mapped ones stand for. */
  readonly uses: readonly string[]
  readonly changes?: readonly FileChange[]
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** A text, also an empty one. */
const content = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Members without those that are missing. */
const present = (args: Args): Args =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined))

const WORDS: Readonly<Record<string, (args: Args) => Word | undefined>> = {
  run_command({ CommandLine, Cwd }) {
    const command = text(CommandLine)
    if (command === undefined) return undefined
    // The host shows the description in the row and the command in the terminal below it.
    const args = present({ command, description: command.split('\n', 1)[0], workdir: text(Cwd) })
    return { name: 'bash', args, uses: ['CommandLine', 'Cwd'] }
  },
  view_file({ AbsolutePath, StartLine, EndLine }) {
    const path = text(AbsolutePath)
    if (path === undefined) return undefined
    const [start, end] = [StartLine, EndLine].map(line => (Number.isSafeInteger(line) ? (line as number) : undefined))
    const limit = start !== undefined && end !== undefined && end >= start ? end - start + 1 : undefined
    return {
      name: 'read',
      args: present({ file_path: path, offset: start, limit }),
      uses: [
        'AbsolutePath',
        ...(start === undefined ? [] : ['StartLine']),
        ...(limit === undefined ? [] : ['EndLine']),
      ],
    }
  },
  list_dir({ DirectoryPath }) {
    const path = text(DirectoryPath)
    return path === undefined ? undefined : { name: 'read', args: { file_path: path }, uses: ['DirectoryPath'] }
  },
  find_by_name({ Pattern, SearchDirectory }) {
    const pattern = text(Pattern)
    if (pattern === undefined) return undefined
    return {
      name: 'glob',
      args: present({ pattern, path: text(SearchDirectory) }),
      uses: ['Pattern', 'SearchDirectory'],
    }
  },
  grep_search({ Query, SearchPath }) {
    const pattern = text(Query)
    if (pattern === undefined) return undefined
    return { name: 'grep', args: present({ pattern, path: text(SearchPath) }), uses: ['Query', 'SearchPath'] }
  },
  search_web({ query }) {
    const asked = text(query)
    return asked === undefined ? undefined : { name: 'web_search', args: { queries: [asked] }, uses: ['query'] }
  },
  read_url_content({ Url }) {
    const url = text(Url)
    return url === undefined ? undefined : { name: 'web_fetch', args: { url }, uses: ['Url'] }
  },
  write_to_file({ TargetFile, CodeContent }) {
    const path = text(TargetFile)
    if (path === undefined) return undefined
    const written = content(CodeContent)
    return {
      name: 'write',
      args: present({ file_path: path, content: written }),
      uses: ['TargetFile', 'CodeContent'],
      ...(written !== undefined && { changes: [{ path, before: null, after: written }] }),
    }
  },
  replace_file_content: edit,
  multi_replace_file_content: edit,
  invoke_subagent({ Subagents }) {
    const agents = Array.isArray(Subagents) ? (Subagents as Args[]) : []
    const prompts = agents.map(agent => text(agent?.Prompt))
    if (prompts.length === 0 || prompts.includes(undefined)) return undefined
    const roles = agents.map(agent => text(agent.Role) ?? text(agent.TypeName) ?? 'subagent')
    return { name: 'subagent', args: { description: roles.join(', '), prompt: prompts.join('\n\n') }, uses: [] }
  },
  ask_question({ questions }) {
    if (!Array.isArray(questions) || questions.length === 0) return undefined
    const asked = (questions as Args[]).map((question, at) => ({
      id: `q${at + 1}`,
      question: text(question?.question),
      options: Array.isArray(question?.options)
        ? question.options.map(option => (text(option) ? { label: option } : option))
        : [],
      multi_select: question?.is_multi_select === true,
    }))
    if (asked.some(({ question }) => question === undefined)) return undefined
    return { name: 'ask_user_question', args: { questions: asked }, uses: ['questions'] }
  },
}

/** Where one edit ends and the next begins, in the one edit that the host knows. */
const GAP = '\n⋯\n'

/** One replacement, or several in one file; a frame tells none of them, and then only the path is known. */
function edit(args: Args): Word | undefined {
  const path = text(args.TargetFile)
  if (path === undefined) return undefined
  const chunks = Array.isArray(args.ReplacementChunks) ? (args.ReplacementChunks as Args[]) : [args]
  const changes = chunks.map(chunk => ({
    path,
    before: content(chunk?.TargetContent),
    after: content(chunk?.ReplacementContent),
  }))
  const known = changes.filter(
    (change): change is { path: string; before: string; after: string } =>
      change.before !== undefined && change.after !== undefined,
  )
  const uses = ['TargetFile', 'TargetContent', 'ReplacementContent', 'ReplacementChunks']
  if (known.length === 0 || known.length < changes.length)
    return { name: 'edit', args: { file_path: path }, uses: ['TargetFile'] }
  return {
    name: 'edit',
    args: {
      file_path: path,
      old_string: known.map(({ before }) => before).join(GAP),
      new_string: known.map(({ after }) => after).join(GAP),
    },
    uses,
    changes: known,
  }
}

/** Tell a call of the CLI in the words of the host. */
export function tellCall(name: string, args: Args): ToldCall {
  const word = Object.hasOwn(WORDS, name) ? WORDS[name]?.(args) : undefined
  if (word === undefined) return { name, arguments: JSON.stringify(args) }
  const rest = Object.entries(args).filter(([key]) => !word.uses.includes(key) && !Object.hasOwn(word.args, key))
  return {
    name: word.name,
    arguments: JSON.stringify({ ...word.args, ...Object.fromEntries(rest) }),
    ...(word.changes && { changes: word.changes }),
  }
}
