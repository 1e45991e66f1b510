/**
 * Third pure layer: settings and a request become the file, arguments, environment and stdin of one child.
 *
 * Flags and their traps were read from the recordings and public drivers of agy 1.1.15 to 1.3.3 (2026-12-01).
 */
import type { StepRequest } from '../engine/contract.ts'
import { AgyRefusal } from './refusal.ts'

/** What a deployment pins. Each member names the flag that it becomes. */
export interface LaunchSettings {
  /** `--mode`; absent leaves the CLI's own mode. */
  readonly mode?: string
  /** `--model` when the session picked none. */
  readonly model?: string
  /** Resolved into the model's name: the CLI refuses `--effort` beside a name that carries a tier. */
  readonly effort?: string
  /** `--sandbox`, which confines terminal commands only; absent leaves it to the session. */
  readonly sandbox?: boolean
  /** `--dangerously-skip-permissions`: every tool runs without asking; absent leaves it to the session. */
  readonly dangerouslySkipPermissions?: boolean
  /** Entries on top of the parent's environment; `null` removes a name. */
  readonly env: Readonly<Record<string, string | null>>
}

/** What one run asks for. */
export interface LaunchRequest extends Pick<StepRequest, 'cwd' | 'model' | 'effort' | 'permissions' | 'auxiliary'> {
  /** Absent for a child that is started ahead of its prompt. */
  readonly prompt?: string
  /** A second `--add-dir`: the folder of the files that go with the prompt. */
  readonly filesFolder?: string
  /**
   * The gate that the CLI asks before each call; with it alone may the CLI be told not to ask by itself, since no answer of the
   * gate can lift a denial of its own.
   */
  readonly gate?: { readonly folder: string; readonly env: Readonly<Record<string, string>> }
  /** `--log-file`: the only place where some causes of a failure stand. */
  readonly logFile?: string
}

/** One child, ready to be spawned without a shell. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The one line that is written to stdin before it is closed; absent, the child waits for it. */
  readonly stdin?: string
}

/**
 * Longest prompt in UTF-8 bytes. The CLI silently replaces what goes beyond 191,580 bytes (measured by one project on
 * 1.2.14 and 1.3.3).
 */
export const MAX_PROMPT_BYTES = 190_000

/** Longer than any run: `0` means "at once" to some versions and "never" to others, so the CLI's own limit is put out of the way. */
const PRINT_TIMEOUT = '2562047h'

/** Efforts of the CLI, weakest first; each is the end of a model's name. */
export const TIERS: readonly string[] = ['low', 'medium', 'high']

/**
 * Build the environment of a child.
 *
 * @param parent - the parent's environment, already free of credentials.
 * @param extra - explicit entries, which win; `null` removes a name.
 */
export function childEnvironment(
  parent: Readonly<Record<string, string>>,
  extra: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const env: Record<string, string> = { ...parent, AGY_CLI_DISABLE_AUTO_UPDATE: 'true' }
  for (const [name, value] of Object.entries(extra)) {
    if (value === null) delete env[name]
    else env[name] = value
  }
  return env
}

/**
 * The model's name as `--model` takes it.
 *
 * @param model - picked or pinned model id; absent means the CLI's own default.
 * @param effort - asked effort.
 * @throws AgyRefusal when the two contradict each other: nothing is spawned then.
 */
export function resolveModel(model: string | undefined, effort: string | undefined): string | undefined {
  if (effort === undefined) return model
  if (!TIERS.includes(effort)) {
    throw new AgyRefusal(
      'AGY_EFFORT_UNKNOWN',
      `The effort "${effort}" is not one of ${TIERS.join(', ')}.`,
      'Choose one of these, or leave effort out.',
    )
  }
  if (model === undefined) {
    throw new AgyRefusal(
      'AGY_EFFORT_WITHOUT_MODEL',
      `The effort "${effort}" is set, but no model is.`,
      "Effort is part of a model's name: set a model too, or leave effort out.",
    )
  }
  const tier = TIERS.find(name => model.endsWith(`-${name}`))
  if (tier === effort) return model
  if (tier !== undefined) {
    throw new AgyRefusal(
      'AGY_EFFORT_CONFLICT',
      `The model "${model}" already carries the effort "${tier}", but "${effort}" was asked.`,
      'Choose the model whose name ends in the effort that you want.',
    )
  }
  // Only Gemini families come in tiers; Claude and GPT-OSS refuse an effort (stated by two drivers, 2026).
  if (!model.startsWith('gemini-')) {
    throw new AgyRefusal(
      'AGY_EFFORT_UNSUPPORTED',
      `The model "${model}" takes no effort, but "${effort}" was asked.`,
      'Leave effort out for this model.',
    )
  }
  return `${model}-${effort}`
}

/** A value is joined to its flag, so it cannot be read as a flag itself; anything unlike a model id is refused. */
function checkedModel(model: string | undefined): string | undefined {
  if (model === undefined || /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$/.test(model)) return model
  throw new AgyRefusal(
    'AGY_MODEL_INVALID',
    `"${model}" cannot be the name of a model.`,
    'Use a name from the list of `agy models`, without its label.',
  )
}

/**
 * The line that a child is given.
 *
 * @throws AgyRefusal when the prompt cannot reach the CLI whole.
 */
export function stdinOf(prompt: string): string {
  const bytes = Buffer.byteLength(prompt)
  if (bytes > MAX_PROMPT_BYTES) {
    throw new AgyRefusal(
      'AGY_PROMPT_TOO_LONG',
      `The prompt has ${bytes} bytes; the CLI would silently cut it at 191,580.`,
      'Start a new session, or send less at once.',
    )
  }
  const message = { role: 'user', content: [{ type: 'text', text: prompt }] }
  return `${JSON.stringify({ event: 'user', message })}\n`
}

/**
 * Describe the child of one run.
 *
 * @param file - absolute path of the executable.
 * @param settings - the deployment's pins.
 * @param request - what is asked.
 * @param parentEnv - the parent's environment, already free of credentials.
 * @throws AgyRefusal when the request contradicts itself or the prompt cannot reach the CLI whole.
 */
export function buildLaunch(
  file: string,
  settings: LaunchSettings,
  request: LaunchRequest,
  parentEnv: Readonly<Record<string, string>>,
): Launch {
  const stdin = request.prompt === undefined ? undefined : stdinOf(request.prompt)
  const model = checkedModel(resolveModel(request.model ?? settings.model, request.effort ?? settings.effort))
  const args = ['--input-format=stream-json', '--output-format=stream-json']
  // Without it a prompt that starts with "/" is expanded and ends the process.
  args.push('--disable-slash-commands')
  // Without it the CLI works in a scratch folder of its own.
  args.push(`--add-dir=${request.cwd}`)
  if (request.filesFolder !== undefined) args.push(`--add-dir=${request.filesFolder}`)
  if (request.gate !== undefined) args.push(`--add-dir=${request.gate.folder}`)
  if (model !== undefined) args.push(`--model=${model}`)
  if (settings.mode !== undefined) args.push(`--mode=${settings.mode}`)
  const { confined, everythingAllowed } = request.permissions
  const pins: Partial<LaunchSettings> = request.auxiliary ? {} : settings
  if (pins.sandbox ?? confined) args.push('--sandbox')
  if (request.gate !== undefined || (pins.dangerouslySkipPermissions ?? everythingAllowed))
    args.push('--dangerously-skip-permissions')
  if (request.logFile !== undefined) args.push(`--log-file=${request.logFile}`)
  args.push(`--print-timeout=${PRINT_TIMEOUT}`)
  // A string flag: detached it would swallow the next token, so it is empty, attached and last.
  args.push('--print=')
  return {
    file,
    args,
    cwd: request.cwd,
    env: { ...childEnvironment(parentEnv, settings.env), ...request.gate?.env },
    ...(stdin !== undefined && { stdin }),
  }
}
