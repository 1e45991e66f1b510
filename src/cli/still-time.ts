/** Holds the clocks of this process still, so that a recording is played in one way only, however busy the machine is. */

/**
 * Stop `Date.now`, `performance.now` and `setTimeout`.
 *
 * @returns lets them go on.
 */
export function holdTime(): () => void {
  const { setTimeout, clearTimeout } = globalThis
  const [dateNow, performanceNow] = [Date.now, performance.now]
  Date.now = () => 0
  performance.now = () => 0
  // A timer that is never due: nobody waits for one while a recording is played.
  const inert = { ref: () => inert, unref: () => inert, refresh: () => inert, hasRef: () => false }
  globalThis.setTimeout = (() => inert) as unknown as typeof setTimeout
  globalThis.clearTimeout = () => {}
  return () => {
    Date.now = dateNow
    performance.now = performanceNow
    Object.assign(globalThis, { setTimeout, clearTimeout })
  }
}
