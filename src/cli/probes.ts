/** `dsh-agy probes check`: plays every recording of a folder and says what is new in it. The canary for a new CLI. */
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandRefusal, type Io, readCommandLine, tellRefusals, UNUSABLE } from './command-line.ts'
import { FrameVocabulary, type SeenWords } from './frame-vocabulary.ts'
import { statOf } from './paths.ts'
import { checkProbe, type ProbeFindings } from './probe-check.ts'
import { Progress } from './progress.ts'
import { RecordingUnreadable, readRecording } from './recording.ts'
import { openReplayHost } from './replay-host.ts'
import { holdTime } from './still-time.ts'

const USAGE = `dsh-agy probes check [folder] [--golden <folder>] [--json]

  <folder>   a folder of recordings, or one recording; the probes of this project's clone if it is left out
  --golden   what the recordings became before; test/golden beside the folder if it is left out, and nothing if that is missing
  --json     one JSON object instead of lines

Plays each recording through the engine, starts no program, and tells what the decoder did not know, what became different,
and which words the frames of each version of the CLI use. Exit codes: 0 all is known and as it was, 3 something is not,
1 not readable or wrong usage.`

/** This project's own recordings: they lie beside the sources, and are not part of the package. */
const OWN_PROBES = fileURLToPath(new URL('../../probes', import.meta.url))

const CHANGED = 3

type Found = { readonly probe: string; readonly version: string } & (
  | ProbeFindings
  | { readonly code: string; readonly message: string }
)

/**
 * Run the command.
 *
 * @param args - what follows the command's name.
 * @param io - where the findings and the complaints go.
 * @returns the exit code: 0 all is known and as it was, 3 something is not, 1 not readable or wrong usage.
 */
export async function probes([action, ...args]: readonly string[], io: Io): Promise<number> {
  if (action === '--help' || action === '-h') {
    io.out(USAGE)
    return 0
  }
  if (action !== 'check') {
    io.err(`${action === undefined ? 'No action is named' : `There is no action "${action}"`}.\n\n${USAGE}`)
    return UNUSABLE
  }
  const shape = { usage: USAGE, operand: 'folder', optional: true, switches: ['json'], values: ['golden'] } as const
  const line = readCommandLine(args, shape, io)
  if (typeof line === 'number') return line
  return tellRefusals(io, async () => {
    const folder = resolve(line.operand || OWN_PROBES)
    const names = probesIn(folder, line.operand === '')
    const golden = line.values.golden ?? join(dirname(folder), 'test', 'golden')
    if (line.values.golden !== undefined && !isFolder(golden)) {
      throw new CommandRefusal('PROBES_GOLDEN_MISSING', `There is no folder ${golden}. Name one that exists, or none.`)
    }
    const words = new Map<string, FrameVocabulary>()
    const found = await checkAll(folder, names, golden, words, io)
    const vocabulary = Object.fromEntries([...words].sort(byVersion).map(([version, { seen }]) => [version, seen]))
    if (line.given.has('json')) io.out(JSON.stringify({ ok: found.every(isAsBefore), probes: found, vocabulary }))
    else tell(found, vocabulary, io)
    if (!found.every(isAsBefore)) return CHANGED
    return 0
  })
}

/** Names of the recordings; an empty one stands for the folder itself. */
function probesIn(folder: string, isOwn: boolean): readonly string[] {
  const missing = (what: string): CommandRefusal =>
    new CommandRefusal(
      'PROBES_MISSING',
      `${isOwn ? 'No recordings come with this package' : `${folder} ${what}`}. Name a folder whose folders hold a frames.ndjson, such as those that \`dsh-agy record\` writes.`,
    )
  if (!isFolder(folder)) throw missing('is no folder')
  if (existsSync(join(folder, 'frames.ndjson'))) return ['']
  const names = readdirSync(folder).filter(name => existsSync(join(folder, name, 'frames.ndjson')))
  if (names.length === 0) throw missing('holds no recording')
  return names.sort()
}

const isFolder = (path: string): boolean => statOf(path)?.isDirectory() ?? false

async function checkAll(
  folder: string,
  names: readonly string[],
  golden: string,
  words: Map<string, FrameVocabulary>,
  io: Io,
): Promise<Found[]> {
  const progress = new Progress(io)
  const letGo = holdTime()
  const host = await openReplayHost({ keep: false })
  try {
    const found: Found[] = []
    for (const [at, name] of names.entries()) {
      const probe = name || basename(folder)
      progress.at(`playing ${probe}, ${at + 1} of ${names.length}`)
      found.push(await checkNamed(join(folder, name), probe))
    }
    return found
  } finally {
    progress.done()
    await host.close()
    letGo()
  }

  async function checkNamed(path: string, probe: string): Promise<Found> {
    try {
      const recording = readRecording(path)
      const version = recording.version ?? 'unknown'
      const vocabulary = words.get(version) ?? new FrameVocabulary()
      words.set(version, vocabulary)
      return { probe, version, ...(await checkProbe(host, recording, join(golden, probe), vocabulary)) }
    } catch (error) {
      if (!(error instanceof RecordingUnreadable)) throw error
      return { probe, version: 'unknown', code: error.code, message: error.message }
    }
  }
}

const isAsBefore = (found: Found): boolean =>
  !('code' in found) && found.unknown.length === 0 && found.differences.length === 0

const byVersion = ([a]: [string, unknown], [b]: [string, unknown]): number =>
  a.localeCompare(b, 'en', { numeric: true })

const KINDS: Readonly<Record<keyof SeenWords, string>> = {
  events: 'events',
  stepTypes: 'step types',
  states: 'states',
  tools: 'tools',
  members: 'members',
}

function tell(found: readonly Found[], vocabulary: Readonly<Record<string, SeenWords>>, io: Io): void {
  for (const one of found) {
    if ('code' in one) {
      io.out(`unreadable  ${one.probe}: ${one.code}: ${one.message}`)
      continue
    }
    const told = [...one.unknown, ...one.differences]
    const sameness = one.compared ? 'as before' : 'nothing to compare with'
    io.out(
      `${told.length === 0 ? 'ok          ' : 'new         '}${one.probe} (${one.version}): ${one.outcome}${told.length === 0 ? `; ${sameness}` : ''}`,
    )
    for (const line of told) io.out(`            ${line}`)
  }
  io.out('')
  const width = Math.max(...Object.keys(vocabulary).map(version => version.length), 0)
  for (const [version, seen] of Object.entries(vocabulary)) {
    for (const [kind, name] of Object.entries(KINDS) as [keyof SeenWords, string][]) {
      const words = Object.keys(seen[kind]).sort()
      io.out(`${version.padEnd(width)}  ${name.padEnd(10)}  ${words.join(' ') || '-'}`)
    }
  }
  const fresh = found.filter(one => !isAsBefore(one)).length
  io.out('')
  io.out(`${found.length} recordings: ${fresh === 0 ? 'all known and as before' : `${fresh} with something new`}`)
}
