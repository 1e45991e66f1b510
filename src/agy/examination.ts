/** What stands between a machine and a first answer. Starts no model call and changes nothing. */
import { namedCause } from './causes.ts'
import { findExecutable } from './executable.ts'
import type { Finding } from './finding.ts'
import { DEFAULT_APPROVAL_TIMEOUT_MS, hookSpec } from './hooks/files.ts'
import { inspectHooks } from './hooks/proof.ts'
import { childEnvironment } from './launch.ts'
import { type AgyModel, parseModels } from './models.ts'
import { runToEnd } from './process.ts'
import { quota } from './quota.ts'
import { redact, saidBy, secretsIn, without } from './redact.ts'
import { AgyRefusal } from './refusal.ts'
import { orphans, platform, proxies, TERMS, temporaryFolder, UPDATES } from './surroundings.ts'
import { NEWEST_RECORDED, VersionBook } from './version.ts'

/** `agy models` takes up to 14 s, and 60 s where a sign-in is waited for. */
const MODELS_LIMIT_MS = 45_000

type Env = Readonly<Record<string, string>>

/** What an examination looks at. */
export interface Examined {
  /** The parent's environment, already free of credentials. */
  readonly parent: Env
  /** What a deployment puts on top of it. */
  readonly extra?: Readonly<Record<string, string | null>>
  /** The pinned program. */
  readonly bin?: string
  /** The pinned model. */
  readonly model?: string
  /** Absolute path of the folder whose hooks count. */
  readonly cwd: string
  /** Whether the CLI is asked for its quota too. */
  readonly usage?: boolean
  /** Told what is looked at next. */
  readonly onLook?: (what: string) => void
}

/** Look at everything, each thing as far as the ones before it allow. */
export async function examine(examined: Examined): Promise<Finding[]> {
  const { parent, extra = {}, bin, cwd, usage = false, onLook = () => {} } = examined
  const env = childEnvironment(parent, extra)
  onLook('looking for the program')
  const file = await refusable('program', async () => {
    const found = await findExecutable(bin, env)
    return { what: 'program', verdict: 'ok', words: found, found }
  })
  const findings: Finding[] = [platform(), file]
  if ('found' in file) {
    // One after the other: some versions fail when several start at once.
    onLook('asking agy for its version')
    const known = await version(file.found, env)
    findings.push(known)
    onLook('asking agy for its models, a call over the network')
    findings.push(...(await signIn(file.found, env, examined.model)))
    onLook('asking agy for its hooks')
    findings.push(...(await hooks(file.found, env, cwd)))
    // An old version would take the question for a prompt.
    if (usage && known.verdict !== 'failure') {
      onLook('asking agy for its quota')
      findings.push(await quota(file.found, env, cwd))
    }
  }
  onLook('looking around')
  findings.push(proxies(env), await orphans(), await temporaryFolder(), UPDATES, TERMS)
  const secrets = secretsIn(env)
  return findings.map(finding => shown({ ...finding, words: without(finding.words, secrets) }, env.HOME))
}

/** A finding that can be shown to anybody. */
export const shown = ({ what, verdict, words, code }: Finding, home: string | undefined): Finding => ({
  what,
  verdict,
  words: redact(words, home),
  ...(code && { code }),
})

async function refusable<T extends Finding>(what: string, look: () => Promise<T>): Promise<T | Finding> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof AgyRefusal)) throw error
    return { what, verdict: 'failure', words: `${error.message} ${error.hint}`, code: error.code }
  }
}

const never = new AbortController().signal

const version = (file: string, env: Env): Promise<Finding> =>
  refusable('version', async () => {
    const book = new VersionBook()
    const word = await book.check(file, env, never)
    if (word === undefined) {
      const said = await book.say(file, env, never)
      return { what: 'version', verdict: 'ok', words: `${said}, verified: recordings go up to ${NEWEST_RECORDED}` }
    }
    return { what: 'version', verdict: 'warning', words: word.message, code: word.code }
  })

async function signIn(file: string, env: Env, pinned: string | undefined): Promise<Finding[]> {
  const { stdout, stderr, timedOut, exitCode } = await runToEnd(file, ['models'], env, MODELS_LIMIT_MS)
  const models = parseModels(stdout)
  if (models.length > 0) {
    return [{ what: 'sign-in', verdict: 'ok', words: 'signed in, since models are listed' }, modelsOf(models, pinned)]
  }
  const cause = namedCause(`${stderr}\n${stdout}`)
  if (cause !== undefined) {
    return [{ what: 'sign-in', verdict: 'failure', words: `${cause.message} ${cause.hint}`, code: cause.code }]
  }
  const said = saidBy(stderr.trim() || stdout.trim(), env).slice(-300)
  const why = timedOut
    ? `no answer in ${MODELS_LIMIT_MS / 1000} s`
    : `exit code ${exitCode ?? 'unknown'}${said && `: ${said}`}`
  return [
    {
      what: 'sign-in',
      verdict: 'warning',
      words: `\`agy models\` listed nothing (${why}). Run \`agy\` once in a terminal to see whether it answers.`,
    },
  ]
}

/** The list names each tier by itself; a pinned model may leave its tier to the pinned effort. */
function modelsOf(models: readonly AgyModel[], pinned: string | undefined): Finding {
  const what = 'models'
  const isListed = pinned === undefined || models.some(({ id }) => id === pinned || id.startsWith(`${pinned}-`))
  if (isListed) return { what, verdict: 'ok', words: `${models.length} listed, such as ${models[0]?.id}` }
  return {
    what,
    verdict: 'warning',
    words: `The pinned model "${pinned}" is not among the ${models.length} that \`agy models\` lists. Pin one of them, or none.`,
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
