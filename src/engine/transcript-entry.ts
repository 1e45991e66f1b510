/**
 * One message of the history as entries of the prompt.
 *
 * Nothing that a message holds can forge an entry: headers start with `#` in the first column, and every line of content
 * starts with `| `. What counts as a line end for a reader counts here too.
 */
import { createHash } from 'node:crypto'
import { boundedText } from './bounded-text.ts'

/** The part of a dsh message that a transcript needs. */
export interface TranscriptMessage {
  readonly role: string
  readonly content: readonly TranscriptBlock[]
  readonly source: { readonly kind: string; readonly plugin?: string; readonly name?: string }
}

/** The part of a dsh content block that a transcript needs. */
export interface TranscriptBlock {
  readonly type: string
  readonly text?: string
  readonly name?: string
  readonly arguments?: string
  readonly isError?: boolean
  readonly content?: readonly TranscriptBlock[]
  readonly attachment?: TranscriptImage
}

/** The part of a dsh image reference that a transcript needs. */
export interface TranscriptImage {
  readonly attachmentId: string
  readonly mediaType: string
  readonly width: number
  readonly height: number
  readonly name?: string
}

/** One message of the history. */
export interface TranscriptItem {
  readonly message: TranscriptMessage
  /** It was cut short by a stop or a crash. */
  readonly interrupted: boolean
}

/** Upper bounds of one entry, in UTF-8 bytes; head and tail of what is longer are kept. */
export interface EntryBounds {
  readonly maxTextBytes: number
  readonly maxToolResultBytes: number
}

const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g

/** A well-formed string: what is no character cannot be sent as UTF-8. */
const quoted = (content: string): string => `| ${content.toWellFormed().replace(LINE_END, '$&| ')}\n`

/** A header with its content. */
export const entry = (title: string, content: string): string => `\n# ${title}\n${quoted(content)}`

/** A name or a source could hold a line end; in a header it must not. */
const inHeader = (word: string | undefined): string => (word ?? 'unknown').toWellFormed().replace(LINE_END, ' ')

/** Names an image for the whole life of its session, without telling where it lies. */
export function imageAlias({ attachmentId }: TranscriptImage): string {
  return `image-${createHash('sha256').update(attachmentId).digest('hex').slice(0, 8)}`
}

function placeholder(block: TranscriptBlock): string {
  if (block.attachment === undefined) return `[${block.type}]`
  const { name, width, height } = block.attachment
  return `[${imageAlias(block.attachment)}: ${name === undefined ? '' : `${name}, `}${width} × ${height}]`
}

const joined = (blocks: readonly TranscriptBlock[]): string =>
  blocks.map(block => block.text ?? placeholder(block)).join('\n')

function title({ message: { role, source }, interrupted }: TranscriptItem): string {
  if (role === 'assistant') return interrupted ? 'assistant, cut short' : 'assistant'
  switch (source.kind) {
    case 'user':
      return 'user'
    case 'skill-invocation':
      return `user invokes the skill ${inHeader(source.name)}`
    case 'coordinator':
      return 'coordinator'
    case 'subagent-report':
    case 'subagent-settled':
      return 'notice of a subagent'
    // The later generation of dsh has a kind for each producer, and none for plugins at large.
    case 'compact-checkpoint':
      return 'summary of the log up to here'
    case 'plugin':
      return source.plugin === 'compact'
        ? 'summary of the log up to here'
        : `context from ${inHeader(source.plugin ?? source.kind)}`
    default:
      return `context from ${inHeader(source.kind)}`
  }
}

/** Entries of one message. */
export interface RenderedItem {
  readonly text: string
  readonly bytes: number
  /** Something of it was left out. */
  readonly cut: boolean
}

/**
 * Render one message; the same message gives the same bytes.
 *
 * Reasoning is left out: it was for the model that thought it.
 */
export function renderItem(item: TranscriptItem, bounds: EntryBounds): RenderedItem {
  let text = ''
  let cut = false
  // It tells the model to call a tool of dsh, which a hosted CLI does not have.
  if (item.message.source.kind === 'skill-catalog') return { text, bytes: 0, cut }
  let spoken: TranscriptBlock[] = []
  const add = (header: string, content: string, maxBytes: number): void => {
    const kept = boundedText(content, maxBytes)
    cut ||= kept !== content
    text += entry(header, kept)
  }
  const speak = (): void => {
    if (spoken.length > 0) add(title(item), joined(spoken), bounds.maxTextBytes)
    spoken = []
  }
  for (const block of item.message.content) {
    switch (block.type) {
      case 'reasoning':
        break
      case 'tool-call':
        speak()
        add(`assistant calls ${inHeader(block.name)}`, block.arguments ?? '', bounds.maxToolResultBytes)
        break
      case 'tool-result':
        speak()
        add(block.isError ? 'tool failed' : 'tool result', joined(block.content ?? []), bounds.maxToolResultBytes)
        break
      default:
        spoken.push(block)
    }
  }
  speak()
  return { text, bytes: Buffer.byteLength(text), cut }
}

const REQUESTS: ReadonlySet<string> = new Set(['user', 'skill-invocation', 'coordinator'])

/** Whether a message asks for something: a person's words, an invoked skill, or what a parent tells its subagent. */
export const isRequest = ({ message: { role, source } }: TranscriptItem): boolean =>
  role === 'user' && REQUESTS.has(source.kind)
