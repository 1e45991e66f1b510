/** What stands between dsh and this plugin: the program, its version, the profile, and the rows in force. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { satisfies, valid } from 'semver'
import { findExecutable } from '../agy/executable.ts'
import { fields, isFields } from '../agy/fields.ts'
import type { Finding } from '../agy/finding.ts'
import { runToEnd } from '../agy/process.ts'
import { SHORTEST, without } from '../agy/redact.ts'
import { AgyRefusal } from '../agy/refusal.ts'
import { type EngineConfig, readConfig } from '../config.ts'
import { packageManifest } from './package-manifest.ts'
import { Expression, type Profile, ProfileUnreadable, type Row, readProfile } from './profile.ts'

const LIMIT_MS = 10_000

type Env = Readonly<Record<string, string>>

/** Where dsh keeps its profiles: `$DSH_HOME`, else `~/.dsh`. */
export function dshHomeOf(told: string | undefined, env: Env): string {
  const home = env.HOME ?? homedir()
  if (told === undefined || told.trim() === '') return join(home, '.dsh')
  return resolve(told.startsWith('~') ? join(home, told.slice(1)) : told)
}

/** Whether dsh is there, in a version that this plugin was made for. Starts nothing but `dsh --version`. */
export async function dshProgram(env: Env): Promise<Finding> {
  const what = 'dsh'
  const range = packageManifest().peerDependencies['@deepseek-ai/dsh-agent'] ?? '*'
  try {
    const file = await findExecutable('dsh', env)
    const { stdout } = await runToEnd(file, ['--version'], env, LIMIT_MS)
    const version = valid(stdout.trim().split('\n').at(-1) ?? '')
    if (version !== null && satisfies(version, range))
      return { what, verdict: 'ok', words: `${version}, which this plugin was made for` }
    const said = version ?? 'a version that cannot be read'
    return {
      what,
      verdict: 'warning',
      words: `${file} is ${said}, and this plugin was made for ${range}. Install that one.`,
      code: 'DSH_VERSION',
    }
  } catch (error) {
    if (!(error instanceof AgyRefusal)) throw error
    return {
      what,
      verdict: 'failure',
      words: `No "dsh" that can be run is on PATH. Install @deepseek-ai/dsh ${range}, or put it on PATH.`,
      code: 'DSH_MISSING',
    }
  }
}

/** What was found of a profile, and what it sets. */
export interface ProfileFindings {
  readonly findings: readonly Finding[]
  /** What the row of the engine sets; absent where it is not in force. */
  readonly config?: EngineConfig
  /** The mode that a new session starts with, as far as it stands in the profile. */
  readonly sandboxMode?: string
}

/** Look at a profile and its rows. Starts nothing and changes nothing. */
export function profileFindings(dshHome: string, name: string): ProfileFindings {
  const failure = (what: string, code: string, words: string): ProfileFindings => ({
    findings: [{ what, verdict: 'failure', words, code }],
  })
  if (!/^(?!\.+$|node_modules$)[^/\\]+$/.test(name)) {
    return failure('profile', 'DSH_PROFILE_INVALID', `"${name}" cannot be the name of a profile. Name one like web.`)
  }
  let profile: Profile | undefined
  try {
    profile = readProfile(dshHome, name)
  } catch (error) {
    if (!(error instanceof ProfileUnreadable)) throw error
    return failure('profile', 'DSH_PROFILE_UNREADABLE', error.message)
  }
  if (profile === undefined) {
    return failure(
      'profile',
      'DSH_PROFILE_MISSING',
      `There is no profile "${name}" in ${dshHome}. ${wayIn(name)} makes it; --profile looks at another one.`,
    )
  }
  const found: Finding = { what: 'profile', verdict: 'ok', words: `${name}, in ${profile.folder}` }
  const mounted = pluginOf(profile, name)
  const { findings, ...more } = rowsOf(profile, name)
  return { findings: [found, mounted, ...(mounted.verdict === 'failure' ? [] : findings)], ...more }
}

const wayIn = (profile: string): string => `\`dsh plugin --profile ${profile} add <the tarball of this package>\``

function pluginOf({ bundles, installed }: Profile, name: string): Finding {
  const own = packageManifest()
  const version = installed.get(own.name)
  if (!bundles.includes(own.name) || version === undefined) {
    const why = bundles.includes(own.name) ? 'is not installed in it' : 'is not among its bundles'
    return {
      what: 'plugin',
      verdict: 'failure',
      words: `${own.name} ${why}. ${wayIn(name)} mounts it.`,
      code: 'DSH_PLUGIN_MISSING',
    }
  }
  if (version === own.version) return { what: 'plugin', verdict: 'ok', words: `${version} is installed and mounted` }
  return {
    what: 'plugin',
    verdict: 'warning',
    words: `${version} is mounted, and this command is of ${own.version}. Use the command of the profile.`,
    code: 'DSH_PLUGIN_VERSION',
  }
}

function rowsOf({ rows }: Profile, name: string): ProfileFindings {
  const [row, loop] = [rows.get('agy'), rows.get('agent-loop')]
  const mode = fields(rows.get('sandbox-policy')?.config).mode
  const sandboxMode = typeof mode === 'string' ? { sandboxMode: mode } : {}
  const failure = (code: string, words: string): ProfileFindings => ({
    findings: [{ what: 'rows', verdict: 'failure', words, code }],
  })
  if (row === undefined || isOff(row)) {
    return failure(
      'DSH_ROW_OFF',
      `The row "agy" of the profile "${name}" is off. Remove its \`disabled\` in a cordis.patch.yml.`,
    )
  }
  if (loop !== undefined && !isOff(loop)) {
    return failure(
      'DSH_ROW_LOOP',
      `The row "agent-loop" is on beside "agy", and dsh has one slot for both. Remove its \`disabled\` in a cordis.patch.yml.`,
    )
  }
  const { engine } = readConfig(withoutExpressions(row.config))
  if ('problem' in engine) return failure(engine.code, without(engine.problem, leavesOf(fields(row.config).env)))
  const open = [
    ...([row, loop].some(one => one?.disabled instanceof Expression) ? ['whether it stands there'] : []),
    ...(row.config instanceof Expression ? ['all of its configuration'] : []),
    ...Object.entries(fields(row.config)).flatMap(([key, value]) => (hasExpression(value) ? [key] : [])),
  ]
  // Values of the environment may be secrets, so the keys are told alone.
  const set = Object.keys(fields(row.config)).map(key =>
    key === 'env' ? `env (${Object.keys(fields(fields(row.config).env)).join(', ')})` : key,
  )
  const configured = row.config instanceof Expression ? 'by an expression' : set.join(', ') || 'nothing'
  const worked = open.length > 0 ? `. Worked out when dsh starts, and not looked at here: ${open.join(', ')}` : ''
  return {
    findings: [
      {
        what: 'rows',
        verdict: open.length > 0 ? 'warning' : 'ok',
        words: `agy stands in the place of dsh's own loop; configured: ${configured}${worked}`,
      },
    ],
    config: engine,
    ...sandboxMode,
  }
}

const isOff = ({ disabled }: Row): boolean => Boolean(disabled) && !(disabled instanceof Expression)

/** What stands in a configuration by itself; what dsh works out when it starts is left out. */
function withoutExpressions(value: unknown): unknown {
  if (value instanceof Expression) return undefined
  if (Array.isArray(value)) return value.filter(entry => !(entry instanceof Expression)).map(withoutExpressions)
  if (!isFields(value)) return value
  const stated = Object.entries(value).filter(([, inner]) => !(inner instanceof Expression))
  return Object.fromEntries(stated.map(([key, inner]) => [key, withoutExpressions(inner)]))
}

const hasExpression = (value: unknown): boolean =>
  value instanceof Expression ||
  (typeof value === 'object' && value !== null && Object.values(value).some(hasExpression))

/** All that stands in the environment of a row, however deep: a complaint may quote it. */
function leavesOf(env: unknown): string[] {
  if (typeof env === 'object' && env !== null) return Object.values(env).flatMap(leavesOf)
  const leaf = String(env ?? '')
  // Shorter ones would be found in every word of the complaint.
  return leaf.length < SHORTEST ? [] : [leaf]
}
