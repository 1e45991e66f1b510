/** What stands between a machine and a first answer. Starts no model call and changes nothing. */
import { namedCause } from './causes.ts'
import { findExecutable } from './executable.ts'
import { DEFAULT_APPROVAL_TIMEOUT_MS, hookSpec } from './hooks/files.ts'
import { inspectHooks } from './hooks/proof.ts'
import { childEnvironment } from './launch.ts'
import { parseModels } from './models.ts'
import { runToEnd } from './process.ts'
import { redact } from './redact.ts'
import { AgyRefusal } from './refusal.ts'
import { RunFolder } from './run-folder.ts'
import { NEWEST_RECORDED, VersionBook } from './version.ts'

/** `agy models` takes up to 14 s, and 60 s where a sign-in is waited for. */
const MODELS_LIMIT_MS = 45_000

/** One thing that was looked at. */
export interface Finding {
  readonly what: string
  readonly verdict: 'ok' | 'warning' | 'failure'
  /** What was found; a warning or a failure says the way out as well. */
  readonly words: string
  /** Stable code of a failure that the engine would report as well. */
  readonly code?: string
}

/** A finding as one line. */
export const lineOf = ({ what, verdict, words, code }: Finding): string =>
  `${verdict.padEnd(7)}  ${what}: ${words}${code === undefined ? '' : ` (${code})`}`

type Env = Readonly<Record<string, string>>

/** What an examination looks at. */
export interface Examined {
  /** The parent's environment, already free of credentials. */
  readonly parent: Env
  /** What a deployment puts on top of it. */
  readonly extra?: Readonly<Record<string, string | null>>
  /** The pinned program. */
  readonly bin?: string
  /** Absolute path of the folder whose hooks count. */
  readonly cwd: string
}

/** Look at everything, each thing as far as the ones before it allow. */
export async function examine({ parent, extra = {}, bin, cwd }: Examined): Promise<Finding[]> {
  const env = childEnvironment(parent, extra)
  const file = await refusable('program', async () => {
    const found = await findExecutable(bin, env)
    return { what: 'program', verdict: 'ok', words: redact(found, env.HOME), found }
  })
  const findings: Finding[] = [await platform(), file]
  if ('found' in file) {
    // One after the other: some versions fail when several start at once.
    findings.push(await version(file.found, env), await signIn(file.found, env), ...(await hooks(file.found, env, cwd)))
  }
  findings.push(await temporaryFolder())
  return findings.map(({ what, verdict, words, code }) => ({ what, verdict, words, ...(code && { code }) }))
}

async function refusable<T extends Finding>(what: string, look: () => Promise<T>): Promise<T | Finding> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof AgyRefusal)) throw error
    return { what, verdict: 'failure', words: `${error.message} ${error.hint}`, code: error.code }
  }
}

async function platform(): Promise<Finding> {
  const words = `${process.platform}-${process.arch}, Node ${process.version}`
  if (process.platform === 'linux') return { what: 'platform', verdict: 'ok', words }
  return {
    what: 'platform',
    verdict: 'warning',
    words: `${words}: the engine was written for it, but never run on it.`,
  }
}

const never = new AbortController().signal

const version = (file: string, env: Env): Promise<Finding> =>
  refusable('version', async () => {
    const word = await new VersionBook().check(file, env, never)
    if (word === undefined) return { what: 'version', verdict: 'ok', words: `recorded, up to ${NEWEST_RECORDED}` }
    return { what: 'version', verdict: 'warning', words: word.message, code: word.code }
  })

async function signIn(file: string, env: Env): Promise<Finding> {
  const { stdout, stderr, timedOut, exitCode } = await runToEnd(file, ['models'], env, MODELS_LIMIT_MS)
  const models = parseModels(stdout)
  if (models.length > 0) {
    return { what: 'sign-in', verdict: 'ok', words: `signed in; ${models.length} models, such as ${models[0]?.id}` }
  }
  const cause = namedCause(`${stderr}\n${stdout}`)
  if (cause !== undefined) {
    return { what: 'sign-in', verdict: 'failure', words: `${cause.message} ${cause.hint}`, code: cause.code }
  }
  const said = redact((stderr.trim() || stdout.trim()).slice(-300), env.HOME)
  const why = timedOut
    ? `no answer in ${MODELS_LIMIT_MS / 1000} s`
    : `exit code ${exitCode ?? 'unknown'}${said && `: ${said}`}`
  return {
    what: 'sign-in',
    verdict: 'warning',
    words: `\`agy models\` listed nothing (${why}). Run \`agy\` once in a terminal to see whether it answers.`,
  }
}

/** `/hooks` takes no longer than a start of the CLI. */
const HOOKS_LIMIT_MS = 30_000

/** Whether dsh could decide on calls in a folder, and who else does. */
async function hooks(file: string, env: Env, cwd: string): Promise<Finding[]> {
  const subject = { file, env, cwd, spec: hookSpec(DEFAULT_APPROVAL_TIMEOUT_MS) }
  const what = 'approvals by dsh'
  const warning = (words: string): Finding => ({
    what,
    verdict: 'warning',
    words: `"approvals: host" would be refused in this folder: ${words}`,
    code: 'AGY_GATE_UNPROVEN',
  })
  try {
    const { layout, others, brought, silence } = await inspectHooks(subject, AbortSignal.timeout(HOOKS_LIMIT_MS))
    const gate = ((): Finding => {
      if (silence !== undefined) return warning(`the CLI did not list its hooks (${silence}).`)
      if (brought !== undefined)
        return warning(`it brings the hook "${brought.name}" (${redact(brought.source, env.HOME)}).`)
      if (layout === undefined) return warning('the CLI does not list our hook.')
      return { what, verdict: 'ok', words: '"approvals: host" can be used: the CLI lists our hook' }
    })()
    const listed = others.map(({ name, source }) => `"${name}" (${redact(source, env.HOME)})`).join(', ')
    if (listed === '') return [gate]
    return [
      gate,
      {
        what: "other people's hooks",
        verdict: 'warning',
        words: `${listed}: asked about calls as well; one that prints \`{}\`, or anything but a decision, denies every call.`,
      },
    ]
  } catch (error) {
    if (!(error instanceof AgyRefusal)) throw error
    return [warning(error.message)]
  }
}

async function temporaryFolder(): Promise<Finding> {
  const folder = await RunFolder.open()
  await folder?.remove()
  if (folder !== undefined) return { what: 'temporary folder', verdict: 'ok', words: 'can be written' }
  return {
    what: 'temporary folder',
    verdict: 'warning',
    words: 'Nothing can be written below it: images and logs beyond the bound cannot be handed over. Set TMPDIR.',
  }
}
