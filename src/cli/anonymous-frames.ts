/** Frames without what tells of a person or a machine, and the texts in them by the place where they stand. */
import { type Fields, fields, isFields } from '../agy/fields.ts'
import type { Anonymizer } from './anonymizer.ts'
import type { Suspect } from './secrets.ts'

/** Members whose contents the model or a user chooses; what stands elsewhere under a bare name is a word of the CLI. */
const FOREIGN: ReadonlySet<string> = new Set(['parameters', 'structured_output', 'data', 'json_schema'])

/** Members that hold words of the CLI. */
const VOCABULARY: ReadonlySet<string> = new Set([
  ...['event', 'state', 'step_type', 'status', 'tool_name', 'name', 'type', 'type_name', 'permission_mode', 'tools'],
  ...['model', 'action', 'agent'],
])

/** Ids that stand in frames under the name of one, at least so long that they cannot be a number of ours. */
export function idsIn(frames: readonly unknown[]): string[] {
  const ids = new Set<string>()
  for (const frame of frames) {
    walk(frame, (value, path) => {
      if (/(?:^|_)id$/i.test(path.at(-1) ?? '') && /^[\w.:-]{8,128}$/.test(value)) ids.add(value)
    })
  }
  return [...ids]
}

/** Pieces of text that belong together: those of one step. */
const stepOf = (frame: unknown): string | undefined => {
  const { conversation_id, step_index, text_delta } = fields(fields(frame).step_update)
  return typeof text_delta === 'string' ? `${conversation_id}#${step_index}` : undefined
}

/**
 * Replace in all frames.
 *
 * @returns other frames, in the same order.
 */
export function anonymousFrames(frames: readonly unknown[], anonymizer: Anonymizer): Fields[] {
  // The model's text comes in pieces that may cut through a name or a path.
  const texts = Map.groupBy(
    frames.flatMap((frame, at) => (stepOf(frame) === undefined ? [] : [at])),
    at => stepOf(frames[at]) as string,
  )
  const pieces = new Map<number, string>()
  for (const places of texts.values()) {
    const said = places.map(at => String(fields(fields(frames[at]).step_update).text_delta))
    anonymizer.pieces(said).forEach((piece, index) => void pieces.set(places[index] as number, piece))
  }
  return frames.map((frame, at) => {
    const clean = fields(replaced(frame, anonymizer, '', false))
    const piece = pieces.get(at)
    return piece === undefined ? clean : { ...clean, step_update: { ...fields(clean.step_update), text_delta: piece } }
  })
}

function replaced(value: unknown, anonymizer: Anonymizer, member: string, isForeign: boolean): unknown {
  if (typeof value === 'string') return anonymizer.text(value, isForeign || !VOCABULARY.has(member))
  if (Array.isArray(value)) return value.map(entry => replaced(entry, anonymizer, member, isForeign))
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      anonymizer.text(name, isForeign),
      // Read as one with the other pieces.
      name === 'text_delta' && member === 'step_update'
        ? inner
        : replaced(inner, anonymizer, name, isForeign || FOREIGN.has(name)),
    ]),
  )
}

/** Each text of the frames with its place, and the pieces of each step's text as one. */
export function textsOf(frames: readonly unknown[], file: string): Suspect[] {
  const texts: Suspect[] = []
  const steps = new Map<string, string>()
  frames.forEach((frame, at) => {
    const where = `${file} line ${at + 1}`
    walk(
      frame,
      (text, path) => void texts.push({ where: `${where}, ${path.join('.')}`, text }),
      // A name could be the secret itself, so it is not told.
      name => void texts.push({ where: `${where}, the name of a member`, text: name }),
    )
    const step = stepOf(frame)
    if (step !== undefined) {
      steps.set(step, (steps.get(step) ?? '') + String(fields(fields(frame).step_update).text_delta))
    }
  })
  const joined = [...steps].map(([step, text]) => ({
    where: `${file}, the text of step ${step.slice(step.lastIndexOf('#') + 1)}`,
    text,
  }))
  return [...texts, ...joined]
}

/** Members that are named in a place: others may be the model's or a user's words. */
const isPlain = (name: string): boolean => /^[a-zA-Z_]{1,32}$/.test(name)

function walk(
  value: unknown,
  onText: (text: string, path: readonly string[]) => void,
  onName: (name: string) => void = () => {},
  path: readonly string[] = [],
): void {
  if (typeof value === 'string') onText(value, path)
  else if (Array.isArray(value)) for (const entry of value) walk(entry, onText, onName, path)
  else if (isFields(value)) {
    for (const [name, inner] of Object.entries(value)) {
      if (!isPlain(name)) onName(name)
      walk(inner, onText, onName, [...path, isPlain(name) ? name : '…'])
    }
  }
}
