/** A measured promise: pairs of times taken in turn, ours and a baseline's, and what is made of them. */

/** @param {readonly number[]} values @param {number} share 0 to 1 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export const median = values => quantile(values, 0.5)

/** Ours to the baseline: the median over the pairs, since what disturbs a machine for seconds disturbs both of a pair. */
export const ratioOf = ({ ours, baseline }) => median(ours.map((time, at) => time / baseline[at]))

/** Milliseconds that a piece of work takes. */
export async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/**
 * Take both times in turn, so that what disturbs the machine disturbs both.
 *
 * @param {number} rounds counted rounds; one more warms up.
 * @param {() => unknown} ours
 * @param {() => unknown} baseline
 */
export async function pairs(rounds, ours, baseline) {
  const times = { ours: [], baseline: [] }
  for (let round = 0; round <= rounds; round += 1) {
    const base = await timed(baseline)
    const own = await timed(ours)
    if (round === 0) continue
    times.baseline.push(base)
    times.ours.push(own)
  }
  return times
}
