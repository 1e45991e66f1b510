/** A recorded run of the CLI, and a child that plays it back into the engine in place of a process. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Fields, fields } from '../agy/fields.ts'
import { LineSplitter } from '../agy/lines.ts'
import type { ChildExit } from '../agy/outcome.ts'
import type { AgyChild } from '../agy/process.ts'
import { CommandRefusal } from './command-line.ts'

/** What the CLI wrote, and how it left. */
export interface Recording {
  readonly frames: Buffer
  readonly stderr: string
  readonly exit: ChildExit
  /** Version of the CLI, as the card tells it; absent where it is not known. */
  readonly version?: string
}

/** Who ended the recorded child, where that was the recorder itself. */
export const RECORDER = 'recorder'

/** A recording that cannot be read. */
export class RecordingUnreadable extends CommandRefusal {
  constructor(path: string, what: string) {
    super('RECORDING_UNREADABLE', `${path} is no recording: ${what}. Name a frames.ndjson, or a folder that holds one.`)
  }
}

/**
 * Read a recording.
 *
 * @param path - a probe folder (`frames.ndjson`, with `stderr.txt` and `card.json` where there are any), or a file of frames.
 * @throws RecordingUnreadable that names the path.
 */
export function readRecording(path: string): Recording {
  if (!existsSync(path)) throw new RecordingUnreadable(path, 'there is nothing of that name')
  const file = statSync(path).isDirectory() ? join(path, 'frames.ndjson') : path
  if (!existsSync(file)) throw new RecordingUnreadable(path, 'it holds no frames.ndjson')
  // A file of another name has no card and no stderr of its own.
  const beside = (name: string): string | undefined => {
    const other = join(dirname(file), name)
    return basename(file) === 'frames.ndjson' && existsSync(other) ? readFileSync(other, 'utf8') : undefined
  }
  try {
    const card = fields(JSON.parse(beside('card.json') ?? '{}'))
    const version = String(card.agyVersion ?? '')
    return {
      frames: readFileSync(file),
      stderr: beside('stderr.txt') ?? '',
      exit: exitOf(card),
      ...(/^\d/.test(version) && { version }),
    }
  } catch (error) {
    throw new RecordingUnreadable(path, error instanceof Error ? error.message : String(error))
  }
}

/** A child that handled its signal left with a code of its own, whatever it was sent. */
function exitOf(card: Fields): ChildExit {
  const code = fields(card.exit).value
  const signal = fields(card.signal).value
  const byUs = fields(card.ended).by === RECORDER && { endedByUs: true as const }
  if (typeof code === 'number') return { code, ...byUs }
  if (typeof signal !== 'string' || !(signal in constants.signals)) return { ...byUs }
  return { signal: signal as NodeJS.Signals, ...byUs }
}

const LF = 0x0a

/** A child that writes a recording and leaves as the recorded one did. */
export function playingChild(recording: Recording): AgyChild {
  const left = Promise.withResolvers<ChildExit>()
  const leave = (): Promise<void> => {
    left.resolve(recording.exit)
    return Promise.resolve()
  }
  async function* lines(): AsyncGenerator<ReturnType<LineSplitter['push']>> {
    const splitter = new LineSplitter()
    // Line by line, as the CLI wrote it.
    for (let at = 0; at < recording.frames.length; ) {
      const end = recording.frames.indexOf(LF, at) + 1 || recording.frames.length
      yield splitter.push(recording.frames.subarray(at, end))
      at = end
    }
    yield splitter.end()
    await leave()
  }
  return { lines: lines(), left: left.promise, stderr: () => recording.stderr, settle: leave, stop: leave }
}
