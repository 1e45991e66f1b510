/**
 * Reads a dsh session log from disk, and what both generations of dsh say in its events.
 *
 * A log is JSON lines, plain or in zstd frames: a header, then events, with runs of chunks packed into one row. A last
 * line or frame that a crash cut off is left out, as dsh leaves it out; anything else that is damaged is refused.
 */
import { constants as constantsOfBuffer } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { constants, type ZstdOptions, zstdDecompressSync } from 'node:zlib'
import { interruptedTurnClosers, type SessionEvent } from '@deepseek-ai/dsh-session'
import { type Fields, fields } from '../agy/fields.ts'
import { eventsOfRow } from '../host/stored-rows.ts'
import { CommandRefusal } from './command-line.ts'

/** An event as a log holds it. */
export interface LogEvent {
  readonly type: string
  readonly seq: number
  readonly data: unknown
  readonly surfaceOp?: unknown
  readonly sourceEventSeqs?: unknown
  readonly ignorable?: unknown
}

/** A log as it stands on disk. */
export interface LogFile {
  /** The first line: what the session is. */
  readonly header: Fields
  readonly events: readonly LogEvent[]
  /** The last line was cut off, as it is when the host was killed while it wrote; it is not among the events. */
  readonly torn: boolean
}

/** A log that cannot be read. */
export class LogUnreadable extends CommandRefusal {
  constructor(file: string, what: string, wayOut: string = NAME_A_LOG) {
    super('LOG_UNREADABLE', `${file} is no readable dsh session log: ${what}. ${wayOut}`)
  }
}

const NAME_A_LOG = 'Name a session.jsonl or session.jsonl.zstd of dsh.'
const CUT_IT = 'Take the file from a backup, or cut a copy of it before that place.'
const ZSTD_MAGIC = 0xfd2fb528

/** Unpack zstd frames one by one: Node's decoder stops after the first. */
function unpack(file: string, bytes: Buffer): { whole: Buffer; torn: boolean } {
  const frames: Buffer[] = []
  let torn = false
  for (let at = 0; at < bytes.length && !torn; ) {
    const rest = bytes.subarray(at)
    try {
      // The declared options lack `info`, by which the decoder tells how much it took.
      const unpacked: unknown = zstdDecompressSync(rest, { info: true } as ZstdOptions)
      const { buffer, engine } = unpacked as { buffer: Buffer; engine: { bytesWritten: number } }
      frames.push(buffer)
      at += engine.bytesWritten
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'Z_BUF_ERROR') {
        throw new LogUnreadable(file, `its zstd frame at byte ${at} is damaged (${(error as Error).message})`, CUT_IT)
      }
      torn = true
      frames.push(zstdDecompressSync(rest, { finishFlush: constants.ZSTD_e_flush }))
    }
  }
  return { whole: Buffer.concat(frames), torn }
}

/**
 * Read a log.
 *
 * @param file - path of a `session.jsonl` or `session.jsonl.zstd`; the content says which it is, not the name.
 * @returns the header, the events in the order of the log, and whether its end was cut off.
 * @throws LogUnreadable that names the file, the line, what is wrong with it, and the way out.
 */
export async function readLog(file: string): Promise<LogFile> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new LogUnreadable(file, error.message, NAME_A_LOG)
  })
  const packed = bytes.length >= 4 && bytes.readUInt32LE(0) === ZSTD_MAGIC
  const { whole, torn } = packed ? unpack(file, bytes) : { whole: bytes, torn: false }
  if (whole.length > constantsOfBuffer.MAX_STRING_LENGTH) {
    throw new LogUnreadable(file, `it has ${whole.length} bytes, more than can be looked at`, CUT_IT)
  }
  const text = whole.toString('utf8')
  const [first = '', ...rows] = text.split('\n')
  // A whole log ends in LF, so the last piece is empty.
  const cut = rows.pop()
  const header = cut === undefined ? {} : fields(parsed(first))
  if (header.type !== 'session') throw new LogUnreadable(file, 'line 1 is no session header', NAME_A_LOG)
  const events = rows.flatMap((row, index) => {
    const found = decoded(row)
    if (typeof found === 'string') throw new LogUnreadable(file, `line ${index + 2} ${found}`, CUT_IT)
    return found
  })
  return { header, events, torn: torn || cut !== '' }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The events of one line, or what is wrong with it. */
function decoded(line: string): LogEvent[] | string {
  const value = parsed(line)
  if (value === undefined) return 'is no JSON'
  try {
    const events = eventsOfRow(value)
    const isEvent = (event: unknown): event is LogEvent =>
      typeof fields(event).type === 'string' && isSeq(fields(event).seq)
    return events.every(isEvent) ? [...events] : 'is no event: it has no type or no seq'
  } catch (error) {
    return `is no event: ${(error as Error).message}`
  }
}

/** The value as a list; anything else is an empty one. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
/** Whether the value can number an event, a turn or a step. */
export const isSeq = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** A whole operation, or nothing. Its range is named `start`/`end` in format 0 and `startSeq`/`endSeq` later. */
export function readSurfaceOp(value: unknown): 'append' | { readonly start: number; readonly end: number } | undefined {
  if (value === 'append') return value
  const { op, ...range } = fields(value)
  const { startSeq = range.start, endSeq = range.end } = range
  const whole = op === 'replace' && Object.keys(range).length === 2 && isSeq(startSeq) && isSeq(endSeq)
  return whole ? { start: startSeq, end: endSeq } : undefined
}

/** A tool result of either generation: what both say, read from where each says it. */
export function readResult(event: Pick<LogEvent, 'data'>) {
  const data = fields(event.data)
  const message = fields(data.message)
  const source = fields(message.source)
  const blocks = list(message.content)
  const block = fields(blocks[0])
  const later = message.role === 'tool'
  const { toolCallId = source.callId, isError, content } = later ? message : block
  const wellFormed = later
    ? Array.isArray(content) && !blocks.some(inner => fields(inner).type === 'tool-result')
    : message.role === 'user' && source.kind === 'tool' && blocks.length === 1 && block.type === 'tool-result'
  return {
    shape:
      wellFormed && typeof toolCallId === 'string' && (source.callId === undefined || source.callId === toolCallId),
    id: String(toolCallId),
    facts: { id: message.id, isError, error: data.error, turn: data.turn, step: data.step },
    content,
  }
}

/**
 * The result that the host itself writes, after a crash, for a call that has none.
 *
 * @param id - the call's id.
 * @param seq - the number that the result has in the log.
 * @param place - turn and step of the call.
 * @param started - whether the call had started, so that its outcome is unknown.
 * @returns what {@link readResult} reads from it: words, names and codes are the host's own.
 */
export function hostRepair(id: string, seq: number, { turn, step }: Fields, started: boolean) {
  const call = { name: 'name', arguments: '{}' }
  const message = { content: [{ type: 'tool-call', id, ...call }] }
  const log = [
    { type: 'turn/start', seq: 0, time: 0, data: { turn } },
    { type: 'step/start', seq: 0, time: 0, data: { turn, step } },
    { type: 'assistant/message', seq: seq - 1, time: 0, data: { turn, step, message } },
    { type: 'tool/call', seq: seq - 1, time: 0, data: { turn, step, callId: id, ...call } },
  ].slice(0, started ? 4 : 3)
  const [repair] = interruptedTurnClosers(log as unknown as SessionEvent[])
  return readResult(repair ?? { data: undefined })
}
