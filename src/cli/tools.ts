/**
 * What others may build on: the recordings' replay, the rules of a session log, and the frames of the CLI as types.
 *
 * Needs the same dsh packages as the plugin does; starts no program and no model call.
 *
 * @module dsh-loop-engine-agy/tools
 */
import { playingChild, readRecording } from './recording.ts'
import { summarize, type Told } from './replay.ts'
import { openReplayHost } from './replay-host.ts'

export type { AgyEvent, AgyResult, AgyStep, AgyTool, AgyUsage } from '../agy/wire.ts'
export { type LogEvent, type LogFile, LogUnreadable, readLog } from './log-file.ts'
export { checkLog, LOG_RULES, type LogRule, type LogViolation } from './log-rules.ts'
export { RecordingUnreadable } from './recording.ts'
export type { Told } from './replay.ts'

/**
 * Run a recording of the CLI through the engine and dsh's session store, in this process.
 *
 * @param path - a `frames.ndjson`, or a folder that holds one, with its `stderr.txt` and `card.json` where there are any.
 * @returns how the run ended, what it said and did, its token counts, its notices, and the verdict over its log. The log
 *   itself stays on disk, at `log`.
 * @throws RecordingUnreadable that names the path, before anything is run.
 */
export async function replay(path: string): Promise<Told> {
  const recording = readRecording(path)
  const host = await openReplayHost()
  try {
    const playback = await host.play(() => playingChild(recording))
    return await summarize(playback, host.logOf(playback.session))
  } finally {
    await host.close()
  }
}
