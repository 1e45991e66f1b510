/** A child that is cut short in the middle of a recording. */
import type { Agent } from '@deepseek-ai/dsh-agent'
import { LineSplitter } from '../../src/agy/lines.ts'
import type { ChildExit } from '../../src/agy/outcome.ts'
import type { AgyChild } from '../../src/agy/process.ts'
import type { Recording } from '../../src/cli/recording.ts'

/** What cuts it: its stdout ends, a signal from outside kills it, or the user stops the turn. */
export type Cut = 'eof' | 'kill' | 'abort'

/** How the child leaves when nobody stops it. */
export const cutExit = (cut: Cut): ChildExit => (cut === 'kill' ? { signal: 'SIGKILL' } : { code: 0 })

/** A child that writes so many bytes of the recording and then meets the cut. */
export function cutChild({ frames, stderr }: Recording, bytes: number, cut: Cut, agent: Agent): AgyChild {
  const left = Promise.withResolvers<ChildExit>()
  const leave = async (): Promise<void> => left.resolve(cut === 'abort' ? { signal: 'SIGTERM' } : cutExit(cut))
  async function* lines(): AgyChild['lines'] {
    const splitter = new LineSplitter()
    yield* splitter.push(frames.subarray(0, bytes))
    if (cut === 'abort') {
      agent.cancel({ kind: 'user' })
      await left.promise
    }
    yield* splitter.end()
    await leave()
  }
  return { lines: lines(), left: left.promise, stderr: () => stderr, settle: leave, stop: leave }
}
