/** `/agy` in the composer: what is known of the engine. Nothing of it starts a model call. */
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { AgyLoop } from './agy/agy-loop.ts'
import { examine } from './agy/examination.ts'
import { lineOf } from './agy/finding.ts'
import type { ModelCatalogue } from './agy/models.ts'
import { redact } from './agy/redact.ts'
import { AgyRefusal } from './agy/refusal.ts'
import type { VersionBook } from './agy/version.ts'
import { type EngineConfig, EngineSchema } from './config.ts'
import type { Command, CommandAnswer } from './host/commands.ts'
import { scrubbedParentEnv } from './host/parent-env.ts'
import { permissionKnobs } from './host/permission-knobs.ts'

/** What the command tells of. */
export interface CommandSubject {
  readonly engine: AgyLoop
  readonly catalogue: ModelCatalogue
  readonly versions: VersionBook
  readonly config: EngineConfig
}

const USAGE = 'Usage: /agy status | models | doctor'

/** The command of a mounted engine. */
export function agyCommand(ctx: Context, subject: CommandSubject): Command {
  return {
    name: 'agy',
    description: "Google's Antigravity CLI in this session: status, models, doctor",
    hint: 'status | models | doctor',
    async run(agent, [what = 'status', ...more], signal) {
      if (more.length > 0) return { kind: 'error', text: USAGE }
      switch (what) {
        case 'status':
          return status(ctx, subject, agent, signal)
        case 'models':
          return models(subject)
        case 'doctor':
          return doctor(subject, agent)
        default:
          return { kind: 'error', text: USAGE }
      }
    },
  }
}

const success = (...lines: readonly string[]): CommandAnswer => ({ kind: 'success', text: lines.join('\n') })

/** The workspace of an agent's session. */
const folderOf = ({ session }: Agent): string => session.header.cwd ?? process.cwd()

async function status(
  ctx: Context,
  subject: CommandSubject,
  agent: Agent,
  signal: AbortSignal,
): Promise<CommandAnswer> {
  const { engine, config } = subject
  const { running, most, waiting } = engine.load
  const { sandboxMode = 'unknown', approvalPolicy = 'unknown' } = permissionKnobs(ctx, agent.session)
  const [program, model] = [await programOf(subject, signal), modelOf(agent)]
  return success(
    // The collapsed row shows the beginning alone.
    `${model}; ${sandboxMode}, approvals: ${config.approvals}`,
    `program: ${program}`,
    `sign-in: ${signInOf(subject)}`,
    `model: ${model}`,
    `mode: ${config.mode ?? "the CLI's own"}`,
    `permissions: ${sandboxMode}, approval ${approvalPolicy}`,
    `approvals: ${await approvalsOf(subject, agent)}`,
    `children: ${running} of ${most} running${waiting > 0 ? `, ${waiting} started ahead` : ''}`,
    `configured: ${configuredIn(config)}`,
  )
}

/** What the deployment sets. Values of the environment may be secrets, so its names are told alone. */
function configuredIn(config: EngineConfig): string {
  const normal: Readonly<Record<string, unknown>> = { ...EngineSchema() }
  const set = Object.entries(config).filter(([key, value]) => !isDeepStrictEqual(value, normal[key]))
  if (set.length === 0) return 'nothing beside the defaults'
  return set.map(([key, value]) => `${key}: ${key === 'env' ? Object.keys(value) : JSON.stringify(value)}`).join('; ')
}

async function programOf({ engine, versions }: CommandSubject, signal: AbortSignal): Promise<string> {
  try {
    const { file, env } = await engine.locate()
    return `${redact(file, env.HOME)}, version ${await versions.say(file, env, signal)}`
  } catch (error) {
    if (!(error instanceof AgyRefusal)) throw error
    return `${error.message} ${error.hint} (${error.code})`
  }
}

function signInOf({ catalogue }: CommandSubject): string {
  const { models, failure } = catalogue.known
  if (failure !== undefined) return `unknown; ${failure}`
  return models.length > 0 ? 'signed in, since models were listed' : 'not known yet: nobody has asked for the models'
}

/** The model that the session's last request named. */
function modelOf({ session }: Agent): string {
  const config = session.requestHeader()?.config
  if (config === undefined) return 'none yet: nothing was asked in this session'
  const effort = config.reasoningEffort === undefined ? '' : `, effort ${config.reasoningEffort}`
  return `${config.model} of "${config.provider}"${effort}${config.provider === 'agy' ? '' : ", which dsh's own loop drives"}`
}

async function approvalsOf({ engine, config }: CommandSubject, agent: Agent): Promise<string> {
  if (config.approvals === 'cli') return 'cli: the CLI decides by its flags and asks nobody'
  const proved = await engine.isGated(folderOf(agent)).catch(() => false)
  return proved
    ? 'host: dsh decides on each call; proved for this workspace'
    : 'host: dsh decides on each call; to be proved for this workspace by the next run'
}

function models({ catalogue, config }: CommandSubject): CommandAnswer {
  const known = catalogue.known
  if (known.models.length === 0) {
    return {
      kind: 'error',
      text: known.failure ?? 'Not listed yet. Open the model picker, which asks the CLI for them.',
    }
  }
  return success(
    `${known.models.length} models`,
    ...known.models.map(({ id, name, efforts }) => `${name}: ${id}${efforts ? ` (${efforts.join(', ')})` : ''}`),
    `The default entry is ${config.model === undefined ? "the CLI's own choice" : `pinned to ${config.model}`}.`,
  )
}

async function doctor({ config }: CommandSubject, agent: Agent): Promise<CommandAnswer> {
  const { bin, model, env: extra } = config
  const findings = await examine({
    parent: scrubbedParentEnv(),
    extra,
    cwd: folderOf(agent),
    ...(bin !== undefined && { bin }),
    ...(model !== undefined && { model }),
  })
  const failures = findings.filter(({ verdict }) => verdict === 'failure')
  const verdict =
    failures.length === 0 ? 'nothing is in the way' : `in the way: ${failures.map(({ what }) => what).join(', ')}`
  return success(verdict, ...findings.map(lineOf))
}
