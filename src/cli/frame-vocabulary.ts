/** The words that frames of the CLI use: a new CLI is one whose words are new. */
import { type Fields, fields, isFields } from '../agy/fields.ts'

/** Words of one kind, each with how often it was seen. */
type Words = Record<string, number>

/** What was seen, by kind. */
export interface SeenWords {
  readonly events: Words
  readonly stepTypes: Words
  readonly states: Words
  readonly tools: Words
  readonly members: Words
}

/** Contents that the model or a user chooses, so their members are no words of the CLI. */
const FOREIGN: ReadonlySet<string> = new Set(['parameters', 'structured_output', 'json_schema', 'data'])

/** Collects the words of frames. */
export class FrameVocabulary {
  readonly seen: SeenWords = { events: {}, stepTypes: {}, states: {}, tools: {}, members: {} }

  /** Take a frame, whatever it is. */
  take(frame: unknown): void {
    const top = fields(frame)
    const kind = text(top.event)
    note(this.seen.events, kind ?? '(none)')
    const step = fields(top.step_update)
    note(this.seen.stepTypes, text(step.step_type))
    note(this.seen.states, text(step.state))
    note(this.seen.tools, text(step.tool_name) ?? text(fields(step.tool_info).name))
    this.members(top, '')
  }

  /** Take what another vocabulary has seen. */
  add({ seen }: FrameVocabulary): void {
    for (const kind of Object.keys(this.seen) as (keyof SeenWords)[]) {
      for (const [word, times] of Object.entries(seen[kind])) note(this.seen[kind], word, times)
    }
  }

  private members(value: Fields, at: string): void {
    for (const [name, inner] of Object.entries(value)) {
      const place = at === '' ? name : `${at}.${name}`
      note(this.seen.members, place)
      if (FOREIGN.has(name)) continue
      for (const entry of Array.isArray(inner) ? inner : [inner]) if (isFields(entry)) this.members(entry, place)
    }
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function note(words: Words, word: string | undefined, times = 1): void {
  if (word !== undefined) words[word] = (Object.hasOwn(words, word) ? (words[word] ?? 0) : 0) + times
}
