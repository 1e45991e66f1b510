/** The recorded probes, and one run of the pure layers over a recording. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Fold, type FoldSummary } from '../../src/agy/fold.ts'
import { FrameParser } from '../../src/agy/frames.ts'
import { LineSplitter } from '../../src/agy/lines.ts'
import { nameOutcome } from '../../src/agy/outcome.ts'
import { decodeFrame } from '../../src/agy/wire.ts'
import { type Recording, readRecording } from '../../src/cli/recording.ts'
import type { EngineEvent } from '../../src/engine/contract.ts'

const PROBES = join(import.meta.dirname, '..', '..', 'probes')

/** Names of all probes. */
export const probeNames: readonly string[] = readdirSync(PROBES)
  .filter(name => /^\d\d-/.test(name))
  .sort()

export const probeFolder = (name: string): string => join(PROBES, name)

export const readProbe = (name: string): Recording => readRecording(probeFolder(name))

/**
 * Run bytes of stdout through splitter, parser, decoder and fold.
 *
 * @param pieceSize - in which the bytes arrive.
 * @param ended - whether the stream ends with them.
 */
export function foldBytes(
  bytes: Buffer,
  pieceSize = bytes.length,
  ended = true,
): { events: EngineEvent[]; summary: FoldSummary; problems: string[] } {
  const splitter = new LineSplitter()
  const parser = new FrameParser()
  const fold = new Fold('t1s1')
  const events: EngineEvent[] = []
  const problems: string[] = []
  const take = (lines: ReturnType<LineSplitter['push']>): void => {
    for (const frame of parser.parse(lines)) {
      if ('problem' in frame) problems.push(frame.problem)
      else if (fold.summary().result === undefined) events.push(...fold.push(decodeFrame(frame.value)))
    }
  }
  for (let at = 0; at < bytes.length; at += pieceSize) take(splitter.push(bytes.subarray(at, at + pieceSize)))
  if (ended) {
    take(splitter.end())
    events.push(...fold.finish())
  }
  return { events, summary: fold.summary(), problems }
}

/** The whole of a probe's run, with its outcome. */
export function foldProbe(name: string) {
  const probe = readProbe(name)
  const folded = foldBytes(probe.frames)
  const named = nameOutcome({
    ...folded.summary,
    exit: probe.exit,
    stderr: probe.stderr,
  })
  return { ...folded, ...named }
}
