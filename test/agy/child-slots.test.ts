import { describe, expect, test } from 'vitest'
import { ChildSlots } from '../../src/agy/child-slots.ts'

const never = new AbortController().signal

describe('slots', () => {
  test('are as many as there are, and go to who waited longest', async () => {
    const slots = new ChildSlots({ maxChildren: 2, startGapMs: 0 })
    const [first] = await Promise.all([slots.take(never), slots.take(never)])
    expect(slots.isFull).toBe(true)
    const order: string[] = []
    const third = slots.take(never).then(release => {
      order.push('third')
      return release
    })
    const fourth = slots.take(never).then(release => {
      order.push('fourth')
      return release
    })
    first?.()
    const release = await third
    expect(order).toEqual(['third'])
    release()
    await fourth
    expect(order).toEqual(['third', 'fourth'])
  })

  test('waiting can be given up, and a held slot cannot be taken away', async () => {
    const slots = new ChildSlots({ maxChildren: 1, startGapMs: 0 })
    const holder = new AbortController()
    const release = await slots.take(holder.signal)
    holder.abort()
    expect(slots.isFull).toBe(true)
    const waiting = new AbortController()
    const second = slots.take(waiting.signal)
    waiting.abort(new Error('stopped'))
    await expect(second).rejects.toThrow('stopped')
    await expect(slots.take(AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
    release()
    await slots.take(never)
  })

  test('start no closer together than the gap', async () => {
    const slots = new ChildSlots({ maxChildren: 3, startGapMs: 40 })
    const at: number[] = []
    await Promise.all(
      [1, 2, 3].map(async () => {
        await slots.take(never)
        at.push(Date.now())
      }),
    )
    const [first = 0, second = 0, third = 0] = at
    expect(second - first).toBeGreaterThanOrEqual(39)
    expect(third - second).toBeGreaterThanOrEqual(39)
  })
})
