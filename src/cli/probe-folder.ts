/** Makes a probe folder of a run: frames, stderr and card, without what tells of a person, and refused if a secret is left. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { homedir, hostname, tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { secretsIn } from '../agy/redact.ts'
import { Anonymizer, type Replaced, type Surroundings } from './anonymizer.ts'
import { anonymousFrames, idsIn, textsOf } from './anonymous-frames.ts'
import { CommandRefusal } from './command-line.ts'
import { realOf } from './paths.ts'
import type { Recorded } from './record-run.ts'
import { RECORDER } from './recording.ts'
import { findSecrets, type SecretFound, type Suspect } from './secrets.ts'

/** A probe as it is to be written. */
export interface Probe {
  /** Contents by file name. */
  readonly files: Readonly<Record<string, string>>
  readonly replaced: Replaced
}

/** Exit code for a secret that is left. */
const SECRET = 3

function secretLeft(found: readonly SecretFound[]): CommandRefusal {
  const shown = found.slice(0, 10).map(({ kind, where }) => `${kind} in ${where}`)
  const more = found.length > shown.length ? `, and ${found.length - shown.length} more` : ''
  return new CommandRefusal(
    'RECORD_SECRET',
    `Nothing was written, since something in the recording has the shape of a secret: ${shown.join('; ')}${more}. Record again with a prompt that does not bring it up.`,
    SECRET,
  )
}

/** What the card says beside what the run tells by itself. */
export interface CardFacts {
  /** Version of the CLI as it says it. */
  readonly version: string
  /** Version of this package. */
  readonly recorder: string
  readonly now: Date
}

/**
 * Make the files of a probe.
 *
 * @param env - the environment of the run, by which names and folders are known.
 * @throws CommandRefusal that says what kind of secret is left, and where.
 */
export async function probeOf(run: Recorded, env: Readonly<Record<string, string>>, facts: CardFacts): Promise<Probe> {
  const anonymizer = new Anonymizer(surroundingsOf(run, env))
  const frames = anonymousFrames(run.frames, anonymizer)
  const stderr = anonymizer.text(run.stderr)
  const args = run.launch.args.map(argument => anonymizer.text(argument))
  const strange = run.strange[0] === undefined ? undefined : anonymizer.text(run.strange[0])
  const version = anonymizer.text(facts.version)
  const card = cardOf(run, { ...facts, version }, args, stderr, strange, anonymizer.replaced)
  const files = {
    'frames.ndjson': frames.map(frame => `${JSON.stringify(frame)}\n`).join(''),
    'card.json': `${JSON.stringify(card, undefined, 2)}\n`,
    ...(stderr !== '' && { 'stderr.txt': stderr.endsWith('\n') ? stderr : `${stderr}\n` }),
  }
  const suspects: Suspect[] = [
    ...textsOf(frames, 'frames.ndjson'),
    ...stderr.split('\n').map((text, at) => ({ where: `stderr.txt line ${at + 1}`, text })),
    { where: 'stderr.txt', text: stderr },
    ...textsOf([card], 'card.json').map(({ where, text }) => ({ where: where.replace(' line 1', ''), text })),
  ]
  const found = await findSecrets(
    suspects,
    secretsIn(env).filter(secret => secret.length >= SHORTEST_KNOWN),
  )
  if (found.length > 0) throw secretLeft(found)
  return { files, replaced: anonymizer.replaced }
}

/** Folders and names of this machine and of the run. */
function surroundingsOf({ launch, runFolder, frames }: Recorded, env: Readonly<Record<string, string>>): Surroundings {
  const { username } = userInfo()
  const homes = [env.HOME, env.USERPROFILE, homedir()].filter(path => path !== undefined)
  const host = hostname()
  const folders: (readonly [string | undefined, string])[] = [
    [launch.cwd, '/workspace'],
    [runFolder, '/tmp/run'],
    ...homes.map(home => [home, '/home/user'] as const),
    [dirname(launch.file), '/opt/agy/bin'],
    [tmpdir(), '/tmp'],
  ]
  return {
    folders: folders.flatMap(([path, alias]) =>
      path === undefined ? [] : [...new Set([path, realOf(path)])].map(spelling => [spelling, alias] as const),
    ),
    users: given(username, env.USER, env.LOGNAME, env.USERNAME, ...homes.map(home => basename(home))),
    hosts: given(host, host.split('.')[0], env.HOSTNAME, env.COMPUTERNAME),
    ids: idsIn(frames),
  }
}

const given = (...names: readonly (string | undefined)[]): string[] =>
  names.filter((name): name is string => name !== undefined && name !== '')

/** A shorter password may well be a word of the CLI. */
const SHORTEST_KNOWN = 6

const PLATFORMS: Readonly<Record<string, string>> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows 11' }

const CUTS = { time: 'cut off when its time was over', size: 'cut off at the bound of its size' } as const

/** How a run ended, in one word: the kind, or the code of its failure. */
export const outcomeOf = ({ outcome }: Pick<Recorded, 'outcome'>): string =>
  outcome.kind === 'failed' ? outcome.code : outcome.kind

function cardOf(
  { exit, outcome, cut, strange: lines, timing }: Recorded,
  { version, recorder, now }: CardFacts,
  args: readonly string[],
  stderr: string,
  strange: string | undefined,
  replaced: Replaced,
) {
  const told = Object.entries(replaced).map(([kind, count]) => `${count} ${kind}`)
  const edits = [
    told.length === 0 ? 'nothing was replaced' : `replaced, each by the same thing everywhere: ${told.join(', ')}`,
    ...(cut ? [CUTS[cut]] : []),
    ...(strange === undefined ? [] : [`left out: ${lines.length} line(s) that are no frames, the first: ${strange}`]),
  ]
  const isVersion = /^\d+\.\d+\.\d+$/.test(version)
  return {
    shows: 'not said yet: write here what this run shows that others do not',
    agyVersion: isVersion ? version : `unknown (${version})`,
    recorded: now.toISOString().slice(0, 10),
    platform: PLATFORMS[process.platform] ?? 'unknown',
    frames: cut ? 'excerpt' : strange === undefined ? 'edited' : 'abridged',
    edits: edits.join('; '),
    argv: { value: args, origin: 'recorded' },
    exit: { value: exit.code ?? null, origin: 'recorded' },
    signal: { value: exit.signal ?? (exit.endedByUs ? 'SIGTERM' : null), origin: 'recorded' },
    stderr: { origin: stderr === '' ? 'recorded-empty' : 'recorded', note: '' },
    outcome: outcomeOf({ outcome }),
    source: { repository: 'unnamed', path: `dsh-agy-record-${recorder}`, commit: '' },
    timing,
    ...(exit.endedByUs && { ended: { by: RECORDER } }),
  }
}

/**
 * Write the files into a folder that does not exist yet; nothing is left of it when they cannot be written.
 *
 * @throws CommandRefusal when there is something of that name.
 */
export async function writeProbe(folder: string, files: Probe['files']): Promise<void> {
  try {
    await mkdir(folder)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? folderTaken(folder) : unwritable(folder, error)
  }
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw unwritable(folder, error)
  }
}

/** The refusal of a folder that is there already. */
export const folderTaken = (folder: string): CommandRefusal =>
  new CommandRefusal('RECORD_FOLDER_EXISTS', `${folder} exists already. Name another folder with --out.`)

/** The refusal of a folder that cannot be written. */
export const unwritable = (folder: string, why: unknown): CommandRefusal =>
  new CommandRefusal(
    'RECORD_FOLDER_UNWRITABLE',
    `${folder} cannot be written (${why instanceof Error ? why.message : why}). Name another folder with --out.`,
  )
