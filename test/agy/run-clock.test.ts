/** The clocks of a run, on time that the test lets pass. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RunClock } from '../../src/agy/run-clock.ts'

const LIMITS = { deadlineMs: 10_000, firstFrameMs: 100, stallMs: 1_000, toolStallMs: 3_000 }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function started() {
  const reached: string[] = []
  return { clock: new RunClock(LIMITS, limit => reached.push(limit)), reached }
}

test('each limit is reached in its time', () => {
  const first = started()
  vi.advanceTimersByTime(100)
  expect(first.reached).toEqual(['first-frame'])
  const { clock, reached } = started()
  clock.heard(false)
  vi.advanceTimersByTime(999)
  expect(reached).toEqual([])
  vi.advanceTimersByTime(1)
  expect(reached).toEqual(['stall'])
})

test('an open tool may be silent for longer', () => {
  const { clock, reached } = started()
  clock.heard(true)
  vi.advanceTimersByTime(2_999)
  expect(reached).toEqual([])
  vi.advanceTimersByTime(1)
  expect(reached).toEqual(['stall'])
})

test('it stands still until everything that was asked is answered, and goes on with what was left', () => {
  const { clock, reached } = started()
  clock.heard(true)
  vi.advanceTimersByTime(2_000)
  clock.pause()
  clock.pause()
  clock.heard(true)
  vi.advanceTimersByTime(100_000)
  clock.resume()
  vi.advanceTimersByTime(100_000)
  expect(reached).toEqual([])
  clock.resume()
  for (let at = 0; at < 7; at += 1) {
    vi.advanceTimersByTime(1_000)
    clock.heard(true)
  }
  expect(reached).toEqual([])
  vi.advanceTimersByTime(1_000)
  expect(reached).toEqual(['deadline'])
})

test('stopped, nothing is reached', () => {
  const { clock, reached } = started()
  clock.stop()
  vi.advanceTimersByTime(100_000)
  expect(reached).toEqual([])
})
