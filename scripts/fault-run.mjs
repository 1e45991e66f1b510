/** Runs one scenario of `probes/faults` on the real headless dsh, and looks at what came of it and what was left. */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { readLog } from '../lib/cli/log-file.js'
import { checkLog } from '../lib/cli/log-rules.js'
import { copyHome, hostEnv, STAND_IN } from './private-host.mjs'
import { ROOT } from './setup.mjs'

export const FAULTS = join(ROOT, 'probes', 'faults')

/** Files that the host itself leaves in its temporary and home folders, with or without this package. */
const OF_THE_HOST = /^(?:dsh-spill-|node-|\.npm|\.cache|\.config|\.local|\.dsh)/

/** Longest time for one scenario, in milliseconds. */
const LIMIT_MS = 60_000

/** Names of all scenarios. */
export const faultNames = () =>
  readdirSync(FAULTS)
    .filter(name => name.endsWith('.json'))
    .map(name => name.replace(/\.json$/, ''))
    .sort()

/**
 * @typedef {{ family: string, about: string, child?: object[], program?: object, expect: { outcome: string | Record<string, number>, says?: string } } & Record<string, unknown>} Fault
 * @typedef {{ name: string, family: string, outcomes: Record<string, number>, says: string, valid: boolean, processes: number, files: string[], ms: number, problems: string[] }} Row
 */

/** @returns {Fault} one scenario */
export const readFault = name => JSON.parse(readFileSync(join(FAULTS, `${name}.json`), 'utf8'))

/** Small times, so that a bound is reached soon. */
const SMALL = { exitGraceMs: 400, killGraceMs: 400, startGapMs: 0 }

/**
 * Run one scenario.
 *
 * @param {string} name of the scenario.
 * @param {string} home a dsh home with the package in its headless profile.
 * @param {Fault} [scenario] in place of the one that is stored.
 * @returns {Promise<Row>} the row of the table; `problems` says what is not as the scenario expects it.
 */
export async function runFault(name, home, scenario = readFault(name)) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-agy-fault-')))
  const place = Object.fromEntries(
    ['home', 'tmp', 'bin', 'sessions'].map(each => {
      mkdirSync(join(folder, each))
      return [each, join(folder, each)]
    }),
  )
  const cwd = join(folder, scenario.cwd ?? 'cwd')
  mkdirSync(cwd, { recursive: true })
  const marker = randomUUID()
  const report = join(folder, 'report.json')
  const overlay = join(folder, 'overlay.json')
  const scenarioFile = join(folder, 'scenario.json')
  writeFileSync(scenarioFile, JSON.stringify(scenario))
  writeFileSync(overlay, JSON.stringify(rowsOf(scenario, { place, cwd, report, scenarioFile, folder })))

  const own = copyHome(home, join(folder, 'dsh'))
  const env = { ...hostEnv(own), ...scenario.env, HOME: place.home, TMPDIR: place.tmp, AGY_FAULT_MARKER: marker }
  const start = () =>
    execa('dsh', ['--profile', 'headless', '--patch', overlay], {
      cwd,
      env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      timeout: LIMIT_MS,
    })
  const run = await start()
  const killed = scenario.act?.do?.startsWith('SIG') ?? false
  // What a killed host leaves is for the next one to end and to repair.
  if (scenario.act?.do === 'SIGKILL') await settleNext(overlay, start)

  const endings = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : []
  const logs = await logsBelow(place.sessions)
  const row = {
    name,
    family: scenario.family,
    outcomes: tally(killed && endings.length === 0 ? ['host ended'] : endings.map(({ outcome }) => outcome)),
    says: endings.find(({ says }) => says !== '')?.says ?? '',
    valid: logs.length > 0 && logs.every(events => checkLog(events, { complete: !killed }).length === 0),
    processes: processesOf(marker).length,
    files: leftBehind(place, cwd),
    ms: Math.round(Math.max(0, ...endings.map(({ ms }) => ms))),
  }
  for (const pid of processesOf(marker)) process.kill(pid, 'SIGKILL')
  const problems = compare(row, scenario, run)
  rmSync(folder, { recursive: true, force: true })
  return { ...row, problems }
}

/** Rows on top of the headless profile. */
function rowsOf(scenario, { place, cwd, report, scenarioFile, folder }) {
  const { sessions = 1, prompt = 'hello', act, temporary, removeCwd = false } = scenario
  const env = {
    ...(scenario.child ? { AGY_STANDIN_SCENARIO: scenarioFile } : {}),
    AGY_STANDIN_ECHO: join(folder, 'received.jsonl'),
    ...scenario.childEnv,
  }
  const driver = {
    report,
    cwd,
    sessions,
    prompt: typeof prompt === 'string' ? prompt : 'x'.repeat(prompt.bytes),
    removeCwd,
    ...(act && { act }),
    ...(temporary && { temporary: temporary === 'missing' ? join(folder, 'no-such-folder') : temporary }),
  }
  return [
    { id: 'session-persistence-jsonl', config: { root: place.sessions, compression: 'none' } },
    { id: 'session-title-llm', disabled: true },
    { id: 'headless-runner', disabled: true },
    { id: 'headless-startup', disabled: true },
    { id: 'agy', config: { bin: programOf(scenario, place.bin), ...SMALL, ...scenario.config, env } },
    {
      insert: [
        {
          id: 'fault-driver',
          name: pathToFileURL(join(ROOT, 'scripts', 'fault-driver.mjs')).href,
          config: driver,
        },
      ],
    },
  ]
}

/** What stands where the CLI is looked for. */
function programOf({ program }, folder) {
  if (program === undefined) return STAND_IN
  const file = join(folder, program.name ?? 'agy')
  if (program.bin !== undefined) return program.bin
  if (program.kind === 'folder') mkdirSync(file)
  if (program.script !== undefined) {
    writeFileSync(file, program.script.replaceAll('STAND_IN', `"${process.execPath}" "${STAND_IN}"`))
    chmodSync(file, program.kind === 'not executable' ? 0o644 : 0o755)
  }
  return file
}

/** Boot once more, without a prompt: the engine ends what is left, the host repairs what was cut. */
async function settleNext(overlay, start) {
  const rows = JSON.parse(readFileSync(overlay, 'utf8'))
  const driver = rows.at(-1).insert[0].config
  delete driver.act
  driver.sessions = 0
  writeFileSync(overlay, JSON.stringify(rows))
  await start()
}

async function logsBelow(root) {
  const logs = []
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.name === 'session.jsonl') logs.push((await readLog(join(entry.parentPath, entry.name))).events)
  }
  return logs
}

/** Living processes that carry the run's marker in their environment; one that waits for its parent is none. */
function processesOf(marker) {
  return readdirSync('/proc').filter(pid => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker)
    } catch {
      return false
    }
  })
}

function leftBehind({ home, tmp }, cwd) {
  const here = folder => (existsSync(folder) ? readdirSync(folder) : [])
  const records = here(tmp).filter(name => name.startsWith('dsh-agy-children-'))
  return [
    ...[...here(home), ...here(tmp)].filter(name => !OF_THE_HOST.test(name) && !records.includes(name)),
    // The folder of the records stays, empty.
    ...records.flatMap(name => here(join(tmp, name))),
    ...here(cwd),
  ]
}

const tally = outcomes =>
  Object.fromEntries([...new Set(outcomes)].sort().map(one => [one, outcomes.filter(other => other === one).length]))

/** What is not as the scenario expects it, in words. */
function compare(row, { expect }, run) {
  const problems = []
  const wanted = typeof expect.outcome === 'string' ? { [expect.outcome]: 1 } : expect.outcome
  if (
    JSON.stringify(row.outcomes) !== JSON.stringify(tally(Object.entries(wanted).flatMap(([o, n]) => Array(n).fill(o))))
  ) {
    problems.push(`outcome ${JSON.stringify(row.outcomes)}, expected ${JSON.stringify(wanted)}`)
  }
  if (expect.says !== undefined && !row.says.includes(expect.says)) {
    problems.push(`says "${row.says}", expected "${expect.says}"`)
  }
  if (!row.valid) problems.push('the log is invalid')
  if (row.processes > 0) problems.push(`${row.processes} processes left`)
  if (row.files.length > 0) problems.push(`files left: ${row.files.join(', ')}`)
  if (run.timedOut) problems.push(`dsh did not end in ${LIMIT_MS / 1000} s`)
  // The cause of a failed boot stands before its long stack.
  if (problems.length > 0 && run.stderr !== '') problems.push(`dsh said: ${excerpt(run.stderr)}`)
  return problems
}

const excerpt = text => (text.length <= 4000 ? text : `${text.slice(0, 3000)} … ${text.slice(-1000)}`)
