/** Draws how the delays of deltas are spread: for each load which share of them came within how many milliseconds. */
import { init } from 'echarts'

const STEPS = 200

/** Points of the distribution: a delay in milliseconds, and the share in percent that took no longer. */
function distribution(delays) {
  const sorted = [...delays].sort((a, b) => a - b)
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const at = Math.min(sorted.length - 1, Math.round((step / STEPS) * (sorted.length - 1)))
    // A logarithmic axis has no zero.
    return [Math.max(0.05, sorted[at]), ((at + 1) / sorted.length) * 100]
  })
}

/**
 * @param {readonly { name: string, times: { ours: number[], baseline: number[] } }[]} loads
 * @param {string} machine
 * @returns {string} SVG
 */
export function picture(loads, machine) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 900, height: 520 })
  const colours = ['#2f6fde', '#0f9d77', '#d9822b', '#b3372f']
  const line = (name, delays, colour, dashed) => ({
    name,
    type: 'line',
    showSymbol: false,
    data: distribution(delays),
    color: colour,
    lineStyle: { width: 2, type: dashed ? 'dashed' : 'solid' },
  })
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: {
      text: 'From the child’s write to a subscriber of the session',
      subtext: `solid: the engine, dashed: a bare reader of the same children\n${machine}`,
      left: 'center',
    },
    legend: { bottom: 0, data: loads.map(({ name }) => name) },
    grid: { top: 90, bottom: 80, left: 60, right: 30 },
    xAxis: { type: 'log', name: 'milliseconds', nameLocation: 'middle', nameGap: 28, min: 0.05 },
    yAxis: { type: 'value', name: '% of deltas', min: 0, max: 100 },
    series: loads.flatMap(({ name, times }, at) => [
      line(name, times.ours, colours[at % colours.length], false),
      line(`${name}, bare`, times.baseline, colours[at % colours.length], true),
    ]),
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}
