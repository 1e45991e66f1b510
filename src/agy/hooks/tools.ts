/**
 * The CLI's tools by what they can do, and what a person is shown of a call.
 *
 * Names as `init.tools` of the recordings lists them (agy 1.1.18 to 1.3.2), parameters as the recordings and public captures of
 * the hook's input show them (1.1.7 to 1.2.16; 2026-12-03). A name that is not in the table is of the most dangerous kind.
 */
import type { ToolKind } from '../../engine/contract.ts'

const NAMES: Readonly<Record<Exclude<ToolKind, 'other'>, readonly string[]>> = {
  read: [
    ...['view_file', 'list_dir', 'find_by_name', 'grep_search', 'command_status', 'list_permissions', 'list_resources'],
    // They do nothing but let time pass, or hand over the answer.
    ...['wait', 'wait_5_seconds', 'finish'],
  ],
  write: ['write_to_file', 'replace_file_content', 'multi_replace_file_content', 'sed_file', 'notebook_edit'],
  command: ['run_command', 'send_command_input', 'notebook_execution'],
  network: [
    ...[
      'search_web',
      'read_url_content',
      'read_resource',
      'search_marketplace',
      'open_browser_url',
      'read_browser_page',
    ],
    ...['capture_browser_console_logs', 'capture_browser_screenshot', 'click_browser_pixel', 'list_browser_pages'],
    'execute_browser_javascript',
  ],
}

const KINDS: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries(NAMES).flatMap(([kind, names]) => names.map(name => [name, kind as ToolKind] as const)),
)

/** The tool by which the model asks the user; it is answered, not allowed. */
export const QUESTION_TOOL = 'ask_question'

type Args = Readonly<Record<string, unknown>>

/** What a tool can do. */
export function kindOf(name: string): ToolKind {
  // A subagent in a browser acts by calls of its own.
  if (name.startsWith('browser_') && name !== 'browser_subagent') return 'network'
  return KINDS.get(name) ?? 'other'
}

/** Files that a call of a writing tool would change; none where it does not say so in a known way. */
export function targetsOf(name: string, args: Args): readonly string[] {
  if (kindOf(name) !== 'write') return []
  return typeof args.TargetFile === 'string' ? [args.TargetFile] : []
}

/** Most of a call that is shown in a dialog, in characters. */
const SHOWN = 64 * 1024

/** What a person is shown of a call. */
export interface Summary {
  readonly text: string
  /** Whether nothing is left out of it. */
  readonly isWhole: boolean
}

/** What says most of a call stands first. */
const FIRST = ['CommandLine', 'TargetFile', 'AbsolutePath', 'Url', 'ServerName', 'ToolName']

/** All that a call says of itself, for the person who decides on it. */
export function summaryOf(args: Args): Summary {
  const keys = Object.keys(args).sort((a, b) => rank(a) - rank(b))
  const told = keys.map(key => (key === 'CommandLine' ? worded(args[key]) : `${key}: ${worded(args[key])}`))
  const text = told.map(visible).join(' ·\n')
  const more = text.length - SHOWN
  if (more <= 0) return { text, isWhole: true }
  return { text: `${text.slice(0, SHOWN)}\n… and ${more} more characters that are not shown.`, isWhole: false }
}

function rank(key: string): number {
  const at = FIRST.indexOf(key)
  return at === -1 ? FIRST.length : at
}

const worded = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Characters that are not seen, look like a space, or turn the order of others round. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Zs}\u2800]/gu

/**
 * A text in which nothing is hidden: unseen characters could make a call look like another one, and so could a line break, where
 * the dialog shows it as a space.
 */
export function visible(text: string): string {
  return text
    .replace(UNSEEN, character =>
      character === ' ' || character === '\n' || character === '\t'
        ? character
        : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
    .replaceAll('\n', ' ⏎\n')
}

/** Most of one text among a call's arguments that the card of the call holds, in characters. */
const CARD_TEXT = 64 * 1024

/** Arguments as the card of a call holds them: a text that is longer than a card can hold is cut, and says so. */
export function shownArguments(args: Args): Args {
  return cut(args) as Args
}

function cut(value: unknown): unknown {
  if (typeof value === 'string') {
    const more = value.length - CARD_TEXT
    return more <= 0 ? value : `${value.slice(0, CARD_TEXT)}\n… (${more} more characters)`
  }
  if (Array.isArray(value)) return value.map(cut)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner)]))
}
