/**
 * Remembers on disk which children run, so that the next process finds and ends what a killed host left behind.
 *
 * A record names the child and its owner by pid and start time: a pid that the system gave to somebody else since then
 * is never touched.
 */
import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { endGroup, runToEnd } from './process.ts'

/** One process, told apart from all others that ever had its pid. */
interface ProcessIdentity {
  readonly pid: number
  readonly started: string
}

interface ChildRecord {
  readonly child: ProcessIdentity
  readonly owner: ProcessIdentity
  /** Private folder of its run, which goes with it. */
  readonly folder?: string
}

const LIMIT_MS = 5_000

/** When a process started, in the system's own terms; `undefined` if there is none, or the system does not tell. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux') {
      // The name in parentheses may hold anything; the start time is the 20th field behind it.
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
      const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
      const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
      return `${boot.trim()}:${ticks}`
    }
    // Windows tells no start time without a program of its own, so no record is kept there.
    if (process.platform === 'win32') return undefined
    const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C' }
    const { stdout } = await runToEnd('ps', ['-o', 'lstart=', '-p', String(pid)], env, LIMIT_MS)
    return stdout.trim() || undefined
  } catch {
    return undefined
  }
}

const isAlive = async ({ pid, started }: ProcessIdentity): Promise<boolean> => (await startOf(pid)) === started

/** A folder that only this user can have filled. */
async function ownFolder(): Promise<string | undefined> {
  const uid = process.getuid?.()
  if (uid === undefined) return undefined
  const folder = join(tmpdir(), `dsh-agy-children-${uid}`)
  // Not recursive: where nothing can be made, such as below /proc, Node would try for ever.
  await mkdir(folder, { mode: 0o700 }).catch(() => {})
  try {
    const found = await lstat(folder)
    const private_ = found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0
    return private_ ? folder : undefined
  } catch {
    return undefined
  }
}

/**
 * Write down that a child runs.
 *
 * @param pid - the child's.
 * @param runFolder - its private folder, if it has one.
 * @returns takes the record away again.
 */
export async function recordChild(pid: number, runFolder: string | undefined): Promise<() => Promise<void>> {
  const [folder, started, owner] = await Promise.all([ownFolder(), startOf(pid), startOf(process.pid)])
  if (folder === undefined || started === undefined || owner === undefined) return () => Promise.resolve()
  const file = join(folder, `${pid}.json`)
  const record: ChildRecord = {
    child: { pid, started },
    owner: { pid: process.pid, started: owner },
    ...(runFolder === undefined ? {} : { folder: runFolder }),
  }
  try {
    await writeFile(file, JSON.stringify(record), { mode: 0o600 })
  } catch {
    // A full disk costs the record, not the run.
  }
  return () => rm(file, { force: true })
}

/**
 * End the children of hosts that are gone.
 *
 * @param graceMs - from SIGTERM until SIGKILL, in milliseconds.
 * @returns the pids that were ended.
 */
export async function endOrphans(graceMs: number): Promise<number[]> {
  const folder = await ownFolder()
  if (folder === undefined) return []
  const ended: number[] = []
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    const record = await readRecord(file)
    if (record !== undefined && (await isAlive(record.owner))) continue
    if (record !== undefined && (await isAlive(record.child))) {
      await endGroup(record.child.pid, graceMs)
      ended.push(record.child.pid)
    }
    if (record?.folder !== undefined && isRunFolder(record.folder)) {
      await rm(record.folder, { recursive: true, force: true })
    }
    await rm(file, { force: true })
  }
  return ended
}

/**
 * List the children of hosts that are gone. Ends nobody.
 *
 * @returns the pids of those that still run.
 */
export async function listOrphans(): Promise<number[]> {
  const folder = await ownFolder()
  if (folder === undefined) return []
  const pids: number[] = []
  for (const name of await readdir(folder)) {
    const record = await readRecord(join(folder, name))
    if (record === undefined || (await isAlive(record.owner))) continue
    if (await isAlive(record.child)) pids.push(record.child.pid)
  }
  return pids
}

/** Only what a run can have made is removed, whatever stands in the record. */
const isRunFolder = (path: string): boolean => dirname(path) === tmpdir() && basename(path).startsWith('dsh-agy-run-')

async function readRecord(file: string): Promise<ChildRecord | undefined> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as Partial<ChildRecord>
    return isIdentity(value.child) && isIdentity(value.owner) ? (value as ChildRecord) : undefined
  } catch {
    return undefined
  }
}

const isIdentity = (value: unknown): value is ProcessIdentity => {
  const { pid, started } = (value ?? {}) as Partial<ProcessIdentity>
  return Number.isSafeInteger(pid) && (pid as number) > 1 && typeof started === 'string'
}
