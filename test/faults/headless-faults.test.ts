/** Every scenario of `probes/faults` on the real headless dsh: named, logged validly, nothing left. */
import { describe, expect, test } from 'vitest'
import { faultNames, readFault, runFault } from '../../scripts/fault-run.mjs'
import { TEMPLATE_HOME } from '../support/global-setup.ts'

describe.concurrent('a fault', () => {
  test.each(faultNames())('%s', async name => {
    expect((await runFault(name, TEMPLATE_HOME)).problems).toEqual([])
  })
})

test('a scenario that ends otherwise than it says is told', async () => {
  const scenario = {
    ...readFault('exit-one-after-success'),
    expect: { outcome: 'AGY_QUOTA', says: 'nothing of the kind' },
  }
  const { problems } = await runFault('wrong', TEMPLATE_HOME, scenario)
  expect(problems).toEqual([
    'outcome {"completed":1}, expected {"AGY_QUOTA":1}',
    'says "", expected "nothing of the kind"',
  ])
})

test('a process and a file that are left behind are told', async () => {
  // A helper in a group of its own is nobody whom the engine could know.
  const program = {
    script: '#!/bin/sh\nsetsid sleep 600 >/dev/null 2>&1 </dev/null &\ntouch left.txt\nexec STAND_IN "$@"\n',
  }
  const { problems } = await runFault('untidy', TEMPLATE_HOME, { ...readFault('start-wrapper'), program })
  expect(problems.join('; ')).toMatch(/processes left.*files left: left\.txt/)
})

test('there are at least sixty, and at least four of each family', () => {
  const families = faultNames().map(name => readFault(name).family as string)
  expect(families.length).toBeGreaterThanOrEqual(60)
  for (const family of new Set(families))
    expect(families.filter(other => other === family).length).toBeGreaterThanOrEqual(4)
})
