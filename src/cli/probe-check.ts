/** Looks at one recording as a new version of the CLI would be looked at: what is unknown in it, and what is different. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fold } from '../agy/fold.ts'
import { FrameParser } from '../agy/frames.ts'
import { LineSplitter } from '../agy/lines.ts'
import { decodeFrame } from '../agy/wire.ts'
import { type Becoming, becomingOf, GOLDEN_FILES } from './becoming.ts'
import type { FrameVocabulary } from './frame-vocabulary.ts'
import { readLog } from './log-file.ts'
import { checkLog } from './log-rules.ts'
import type { Recording } from './recording.ts'
import type { ReplayHost } from './replay-host.ts'

/** What was found in one recording. */
export interface ProbeFindings {
  /** How the run ended: `completed`, `aborted`, or the code of its failure. */
  readonly outcome: string
  /** What the decoder did not know, in words. */
  readonly unknown: readonly string[]
  /** What is different from the golden files, and rules of dsh that the log breaks, in words. */
  readonly differences: readonly string[]
  /** Whether there are golden files to compare with. */
  readonly compared: boolean
}

/**
 * Check one recording.
 *
 * @param golden - folder of its golden files, which need not exist.
 * @param vocabulary - takes up the words of its frames.
 */
export async function checkProbe(
  host: ReplayHost,
  recording: Recording,
  golden: string,
  vocabulary: FrameVocabulary,
): Promise<ProbeFindings> {
  const unknown = unknownIn(recording.frames, vocabulary)
  const becoming = await becomingOf(host, recording)
  const broken = checkLog((await readLog(becoming.logFile)).events, { complete: true })
  const differences = differencesFrom(becoming, golden)
  const { outcome } = becoming
  return {
    outcome: outcome === undefined ? 'no end' : outcome.kind === 'failed' ? outcome.code : outcome.kind,
    unknown,
    differences: [
      ...(differences ?? []),
      ...broken.map(({ rule, seq, message }) => `the log breaks ${rule} at seq ${seq}: ${message}`),
    ],
    compared: differences !== undefined,
  }
}

/** All frames, also those after the first result, which a run does not read. */
function unknownIn(frames: Buffer, vocabulary: FrameVocabulary): string[] {
  const splitter = new LineSplitter()
  const lines = [...splitter.push(frames), ...splitter.end()]
  const fold = new Fold('check')
  const strange: string[] = []
  const told = new FrameParser().parse(lines).flatMap(frame => {
    if ('problem' in frame) {
      strange.push(`a line that is no frame: ${frame.problem}`)
      return []
    }
    vocabulary.take(frame.value)
    return fold.push(decodeFrame(frame.value))
  })
  const notices = [...told, ...fold.finish()].flatMap(event =>
    event.type === 'notice' && event.code === 'AGY_UNKNOWN_FRAMES' ? [event.message] : [],
  )
  return [...notices, ...strange]
}

/** `undefined` where there is nothing to compare with. */
function differencesFrom(becoming: Becoming, golden: string): string[] | undefined {
  const files = Object.entries(GOLDEN_FILES) as [keyof typeof GOLDEN_FILES, string][]
  if (!files.some(([, name]) => existsSync(join(golden, name)))) return undefined
  return files.flatMap(([what, name]) => {
    const file = join(golden, name)
    if (!existsSync(file)) return [`${name} is missing`]
    let before: string
    try {
      before = readFileSync(file, 'utf8')
    } catch (error) {
      return [`${name} cannot be read (${(error as NodeJS.ErrnoException).code})`]
    }
    const difference = firstDifference(before, becoming[what])
    return difference === undefined ? [] : [`${name} ${difference}`]
  })
}

const WIDTH = 200

function firstDifference(expected: string, actual: string): string | undefined {
  if (expected === actual) return undefined
  const [before, after] = [expected.split('\n'), actual.split('\n')]
  const at = before.findIndex((line, index) => line !== after[index])
  const place = at < 0 ? before.length : at
  const short = (line: string | undefined): string => (line ? line.slice(0, WIDTH) : 'nothing')
  return `differs from line ${place + 1} on: ${short(before[place])} became ${short(after[place])}`
}
