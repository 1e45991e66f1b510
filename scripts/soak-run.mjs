/** Soaks one real dsh: many sessions, random prompts, stops and faults; nothing may grow. Linux only: it reads /proc. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { FAULTS, faultNames, readFault } from './fault-run.mjs'
import { copyHome, hostEnv, STAND_IN } from './private-host.mjs'
import { ROOT } from './setup.mjs'

/** Scenarios of the child alone, without floods that would measure the disk. */
const usable = () =>
  faultNames().filter(name => {
    const { family, child, act, program, env, cwd, removeCwd, temporary } = readFault(name)
    const host = act ?? program ?? env ?? cwd ?? removeCwd ?? temporary
    return ['frames', 'pipes', 'exit', 'encoding', 'time', 'stdin'].includes(family) && child && host === undefined
  })

/** Growth of RSS that is allowed after the warm-up, in MB a minute. */
const RSS_SLOPE = 1

/** RSS goes up and down by so many MB without growing; the longer the soak, the smaller a growth it shows. */
const NOISE_MB = 5

/** What the heap may hold more at the end, after a collection, in MB: caches of the host and compiled code. */
const HEAP_MB = 40

/**
 * Run the soak.
 *
 * @param {string} home a dsh home with the package in its headless profile.
 * @param {{ seconds: number, sessions: number, everySeconds?: number }} options
 * @returns {Promise<{ rows: Record<string, number>[], outcomes: Record<string, number>, problems: string[] }>}
 */
export async function runSoak(home, { seconds, sessions, everySeconds = 30 }) {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-agy-soak-'))
  const temporary = join(folder, 'tmp')
  const cwd = join(folder, 'cwd')
  for (const each of [temporary, cwd]) mkdirSync(each)
  const marker = randomUUID()
  const report = join(folder, 'report.json')
  const overlay = join(folder, 'overlay.json')
  const driver = { cwd, sessions, seconds, everySeconds, faults: usable(), marker, temporary, report }
  const rows = [
    { id: 'session-persistence-jsonl', config: { root: join(folder, 'sessions'), compression: 'none' } },
    { id: 'session-title-llm', disabled: true },
    { id: 'headless-runner', disabled: true },
    { id: 'headless-startup', disabled: true },
    {
      id: 'agy',
      config: {
        bin: STAND_IN,
        exitGraceMs: 300,
        killGraceMs: 300,
        startGapMs: 0,
        firstFrameMs: 8_000,
        stallMs: 4_000,
        toolStallMs: 4_000,
        deadlineMs: 8_000,
        env: { AGY_STANDIN_SCENARIOS: FAULTS, AGY_STANDIN_PROBE: '02-two-tools' },
      },
    },
    {
      insert: [
        { id: 'soak-driver', name: pathToFileURL(join(ROOT, 'scripts', 'soak-driver.mjs')).href, config: driver },
      ],
    },
  ]
  writeFileSync(overlay, JSON.stringify(rows))
  const { exitCode, stderr } = await execa('dsh', ['--profile', 'headless', '--patch', overlay], {
    cwd,
    env: {
      ...hostEnv(copyHome(home, join(folder, 'dsh'))),
      TMPDIR: temporary,
      AGY_SOAK_MARKER: marker,
      NODE_OPTIONS: '--expose-gc',
    },
    reject: false,
    stdin: 'ignore',
    stdout: ['pipe', 'inherit'],
  })
  try {
    if (exitCode !== 0) throw new Error(`dsh ended with ${exitCode}: ${stderr}`)
    const { rows: measured, outcomes } = JSON.parse(readFileSync(report, 'utf8'))
    return { rows: measured, outcomes, problems: problemsOf(measured, outcomes, seconds) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * What has grown.
 *
 * @param {readonly any[]} rows measurements, the first and the last of an idle host.
 * @param {Record<string, number>} outcomes how often each was seen.
 * @param {number} seconds length of the soak.
 */
export function problemsOf(rows, outcomes, seconds) {
  const [first, last] = [rows[0], rows.at(-1)]
  const problems = []
  for (const figure of ['children', 'files']) {
    if (last[figure] > 0) problems.push(`${figure}: ${last[figure]} left`)
  }
  // The host opens some of its own on the first turn, such as the log of its records.
  if (last.descriptors > first.descriptors + 4) {
    problems.push(`descriptors: ${first.descriptors} at the start, ${last.descriptors} at the end`)
  }
  // The first two thirds warm up: code is compiled, buffers and the allocator find their size.
  const late = rows.slice(Math.ceil((rows.length * 2) / 3) - 1)
  if (late.length >= 4) {
    const aRow = slopeOf(late.map(({ rssMb }) => rssMb))
    const slope = aRow * ((rows.length - 1) / (seconds / 60))
    if (slope > RSS_SLOPE && aRow * (late.length - 1) > NOISE_MB)
      problems.push(`RSS grew by ${slope.toFixed(1)} MB a minute`)
  }
  if (last.heapMb > first.heapMb + HEAP_MB)
    problems.push(`heap: ${first.heapMb} MB at the start, ${last.heapMb} at the end`)
  if (outcomes['no end'] > 0) problems.push(`${outcomes['no end']} turns without an end`)
  return problems
}

/** Growth from one value to the next, by least squares. */
function slopeOf(values) {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const covariance = values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0)
  return covariance / values.reduce((sum, _value, at) => sum + (at - middle) ** 2, 0)
}
