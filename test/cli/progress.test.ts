/** What is being done is said once it takes longer than a second. */
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { Progress } from '../../src/cli/progress.ts'

test('a piece of work that goes on is told after a second, and one that is done is not', async () => {
  const told = new PassThrough({ objectMode: true })
  const progress = new Progress({ err: line => void told.write(line) })
  progress.at('doing what is done at once')
  progress.at('counting stones')
  const start = performance.now()
  const [line] = await once(told, 'data')
  expect(line).toBe('· counting stones …')
  expect(performance.now() - start).toBeGreaterThan(900)
  progress.at('doing what is done at once')
  progress.done()
})

test('what lets no timer through is told before', () => {
  const told: string[] = []
  const progress = new Progress({ err: line => told.push(line) })
  progress.at('unpacking', true)
  progress.done()
  expect(told).toEqual(['· unpacking …'])
})
