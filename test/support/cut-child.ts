/** A child that is cut short in the middle of a recording. */
import type { Agent } from '@deepseek-ai/dsh-agent'
import { LineSplitter } from '../../src/agy/lines.ts'
import type { ChildExit } from '../../src/agy/outcome.ts'
import type { AgyChild } from '../../src/agy/process.ts'
import type { Recording } from '../../src/cli/recording.ts'

/** What cuts it: its stdout ends, a signal from outside kills it, the user stops the turn, or it waits to be stopped. */
export type Cut = 'eof' | 'kill' | 'abort' | 'hold'

/** How the child leaves. */
export const cutExit = (cut: Cut): ChildExit =>
  cut === 'eof' ? { code: 0 } : { signal: cut === 'kill' ? 'SIGKILL' : 'SIGTERM' }

/** A child that writes so many bytes of the recording and then meets the cut. */
export function cutChild({ frames, stderr }: Recording, bytes: number, cut: Cut, agent: Agent): AgyChild {
  const left = Promise.withResolvers<ChildExit>()
  const leave = async (): Promise<void> => left.resolve(cutExit(cut))
  async function* lines(): AgyChild['lines'] {
    const splitter = new LineSplitter()
    yield splitter.push(frames.subarray(0, bytes))
    if (cut === 'abort') agent.cancel({ kind: 'user' })
    if (cut === 'abort' || cut === 'hold') await left.promise
    yield splitter.end()
    await leave()
  }
  return { lines: lines(), left: left.promise, stderr: () => stderr, settle: leave, stop: leave }
}
