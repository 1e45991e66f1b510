import { expect, test } from 'vitest'
import { problemsOf, runSoak } from '../../scripts/soak-run.mjs'
import { TEMPLATE_HOME } from '../support/global-setup.ts'

test('a short soak leaves nothing behind', async () => {
  const { rows, outcomes, problems } = await runSoak(TEMPLATE_HOME, { seconds: 10, sessions: 8, everySeconds: 5 })
  expect(problems).toEqual([])
  expect(rows.at(-1)?.turns).toBeGreaterThan(20)
  expect(Object.keys(outcomes)).toContain('completed')
})

test('what has grown is told', () => {
  const idle = { rssMb: 100, heapMb: 30, descriptors: 20, children: 0, files: 0 }
  const rows = (last: object) => [idle, ...Array.from({ length: 8 }, () => idle), { ...idle, ...last }]
  expect(problemsOf(rows({}), {}, 300)).toEqual([])
  expect(problemsOf(rows({ children: 1 }), {}, 300)).toEqual(['children: 1 left'])
  expect(problemsOf(rows({ files: 2 }), {}, 300)).toEqual(['files: 2 left'])
  expect(problemsOf(rows({ descriptors: 40 }), {}, 300)).toEqual(['descriptors: 20 at the start, 40 at the end'])
  const growing = Array.from({ length: 11 }, (_, at) => ({ ...idle, rssMb: 100 + 2 * at }))
  expect(problemsOf(growing, {}, 300)).toEqual(['RSS grew by 4.0 MB a minute'])
  expect(problemsOf(rows({ heapMb: 99 }), {}, 300)).toEqual(['heap: 30 MB at the start, 99 at the end'])
  expect(problemsOf(rows({}), { 'no end': 3 }, 300)).toEqual(['3 turns without an end'])
})
