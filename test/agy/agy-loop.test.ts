/** The engine is unloaded while a run has no child yet: none comes into being, or it is ended. */
import { expect, test, vi } from 'vitest'
import { AgyLoop, type AgyLoopOptions } from '../../src/agy/agy-loop.ts'
import type { AgyChild } from '../../src/agy/process.ts'
import { playingChild } from '../../src/cli/recording.ts'
import type { StepRequest } from '../../src/engine/contract.ts'
import { privateFolder } from '../support/folders.ts'
import { readProbe } from '../support/probes.ts'

const request = (): StepRequest => ({
  prompt: { files: [], text: () => 'hello' },
  cwd: privateFolder(),
  permissions: { confined: true, everythingAllowed: false },
  scope: 't1s1',
  signal: new AbortController().signal,
})
const loopWith = (more: Partial<AgyLoopOptions>) =>
  new AgyLoop({ bin: process.execPath, env: {}, parentEnv: () => ({}), startGapMs: 0, ...more })

async function endOf(loop: AgyLoop) {
  for await (const event of loop.run(request())) if (event.type === 'end') return event.outcome
  return undefined
}

test('before it is spawned', async () => {
  const spawn = vi.fn(() => Promise.reject(new Error('spawned after all')))
  const loop = loopWith({ spawn })
  const end = endOf(loop)
  await loop.dispose()
  expect(await end).toEqual({ kind: 'aborted' })
  expect(spawn).not.toHaveBeenCalled()
})

test('while it is being spawned', async () => {
  const spawning = Promise.withResolvers<AgyChild>()
  const called = Promise.withResolvers<void>()
  const spawn = () => {
    called.resolve()
    return spawning.promise
  }
  const loop = loopWith({ spawn })
  const end = endOf(loop)
  await called.promise
  const disposed = loop.dispose()
  const child = playingChild(readProbe('01-text-answer'))
  const stop = vi.spyOn(child, 'stop')
  spawning.resolve(child)
  await disposed
  expect(stop).toHaveBeenCalled()
  expect(await end).toEqual({ kind: 'aborted' })
})

test('while it waits for another one to end', async () => {
  const child = playingChild(readProbe('01-text-answer'))
  const silent: AgyChild = {
    ...child,
    lines: (async function* () {
      yield []
      await child.left
    })(),
  }
  const spawn = vi.fn(() => Promise.resolve(silent))
  const loop = loopWith({ spawn, maxChildren: 1 })
  const ends = [endOf(loop), endOf(loop)]
  await vi.waitFor(() => expect(spawn).toHaveBeenCalled())
  await loop.dispose()
  expect(await Promise.all(ends)).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }])
  expect(spawn).toHaveBeenCalledTimes(1)
})
