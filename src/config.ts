/**
 * The engine's configuration.
 *
 * A plugin that fails to mount would leave dsh without any agent factory, so a bad value never fails the mount: it is
 * kept, and each hosted step says what is wrong. dsh's own loop goes on.
 */
import z from '@deepseek-ai/schemastery'
import { DEFAULT_SLOTS } from './agy/child-slots.ts'
import { type AheadLimits, DEFAULT_AHEAD } from './agy/children-ahead.ts'
import { DEFAULT_APPROVAL_TIMEOUT_MS } from './agy/hooks/files.ts'
import { MAX_PROMPT_BYTES } from './agy/launch.ts'
import { DEFAULT_CHILD_LIMITS } from './agy/process.ts'
import { DEFAULT_RUN_LIMITS } from './agy/run-clock.ts'
import { DEFAULT_TOOL_RESULT_BYTES, type Steering } from './engine/hosted-step.ts'
import { DEFAULT_TRANSCRIPT, type TranscriptLimits } from './engine/transcript.ts'
import { AgentLoop } from './host/agent-loop.ts'

/** What a deployment may set in the row `agy`. */
export interface EngineConfig {
  bin?: string
  env: Record<string, string | null>
  model?: string
  mode?: 'accept-edits'
  effort?: 'low' | 'medium' | 'high'
  sandbox?: boolean
  dangerouslySkipPermissions?: boolean
  approvals: 'host' | 'cli'
  approvalTimeoutMs: number
  steering: Steering
  auxiliary: 'agy' | 'off'
  deadlineMs: number
  firstFrameMs: number
  stallMs: number
  toolStallMs: number
  exitGraceMs: number
  killGraceMs: number
  maxLineBytes: number
  maxStderrBytes: number
  maxToolResultBytes: number
  maxChildren: number
  startGapMs: number
  prestart: AheadLimits
  transcript: TranscriptLimits
}

/** Room for the frame of the prompt, and for something to say. */
const LEAST_PROMPT_BYTES = 20_000

/** The hook of the CLI waits a little longer, and 86,400 s is the longest that it was seen to take (1.2.16; 2026-12-03). */
const MOST_APPROVAL_MS = 23 * 60 * 60_000

/** A whole number from `least` on; timers and buffers take no more than 31 bits. */
const count = (normal: number, least = 1) =>
  z
    .number()
    .step(1)
    .min(least)
    .max(2 ** 31 - 1)
    .default(normal)

/** Schema of {@link EngineConfig}. */
export const EngineSchema = z.object({
  bin: z.string().description('Absolute path of the CLI, or a name to look for instead of `agy`.'),
  env: z
    .dict(z.union([z.string(), z.const(null)]))
    .default({})
    .description('Entries on top of the scrubbed parent environment; `null` removes a name.'),
  model: z.string().description('Model of sessions that picked the default entry; a name from `agy models`.'),
  mode: z.union([z.const('accept-edits' as const)]).description("`--mode`; absent leaves the CLI's own mode."),
  effort: z
    .union([z.const('low' as const), z.const('medium' as const), z.const('high' as const)])
    .description("Resolved into the model's name."),
  sandbox: z
    .boolean()
    .description(
      "`--sandbox`: confines terminal commands, not file writes; absent follows the session's sandbox mode.",
    ),
  dangerouslySkipPermissions: z
    .boolean()
    .description(
      "`--dangerously-skip-permissions`: the CLI runs every tool without asking; absent follows the session's permissions.",
    ),
  approvals: z
    .union([z.const('host' as const), z.const('cli' as const)])
    .default('cli')
    .description(
      "Who decides on each call: dsh's own dialogs and rules, where the CLI is proved to ask, or the CLI by its flags.",
    ),
  approvalTimeoutMs: z
    .number()
    .step(1)
    .min(1)
    .max(MOST_APPROVAL_MS)
    .default(DEFAULT_APPROVAL_TIMEOUT_MS)
    .description('Longest time that a call or a question waits for the user, in milliseconds; then it is denied.'),
  steering: z
    .union([z.const('interrupt' as const), z.const('queue' as const)])
    .default('interrupt')
    .description(
      'What a message in mid-turn does: end the running child at its next settled tool call, or wait for it.',
    ),
  auxiliary: z
    .union([z.const('agy' as const), z.const('off' as const)])
    .default('agy')
    .description("Whether dsh's own calls on a hosted session (titles, compaction) are answered by the CLI."),
  deadlineMs: count(DEFAULT_RUN_LIMITS.deadlineMs).description('Longest run, in milliseconds.'),
  firstFrameMs: count(DEFAULT_RUN_LIMITS.firstFrameMs).description(
    'Longest time from the start to the first frame, in milliseconds.',
  ),
  stallMs: count(DEFAULT_RUN_LIMITS.stallMs).description('Longest silence while no tool is open, in milliseconds.'),
  toolStallMs: count(DEFAULT_RUN_LIMITS.toolStallMs).description(
    'Longest silence while a tool is open, in milliseconds.',
  ),
  exitGraceMs: count(DEFAULT_CHILD_LIMITS.exitGraceMs, 0).description(
    'Time for the CLI to leave by itself after its answer, in milliseconds.',
  ),
  killGraceMs: count(DEFAULT_CHILD_LIMITS.killGraceMs, 0).description('Time from SIGTERM to SIGKILL, in milliseconds.'),
  maxLineBytes: count(DEFAULT_CHILD_LIMITS.maxLineBytes).description('Longest line of output that is taken, in bytes.'),
  maxStderrBytes: count(DEFAULT_CHILD_LIMITS.maxStderrBytes).description('What is kept of stderr, in bytes.'),
  maxToolResultBytes: count(DEFAULT_TOOL_RESULT_BYTES).description(
    'What is stored of one tool result, in bytes; head and tail are kept.',
  ),
  maxChildren: count(DEFAULT_SLOTS.maxChildren).description('Children at once, over all sessions.'),
  startGapMs: count(DEFAULT_SLOTS.startGapMs, 0).description('Least time between two starts, in milliseconds.'),
  prestart: z
    .object({
      max: count(DEFAULT_AHEAD.max, 0).description(
        'Children that are started before there is a prompt and wait for it, over all sessions; 0 starts none.',
      ),
      idleMs: count(DEFAULT_AHEAD.idleMs).description('Longest time that one of them waits, in milliseconds.'),
    })
    .description('Whether the next step finds the CLI started already.'),
  transcript: z
    .object({
      maxBytes: z
        .number()
        .step(1)
        .min(LEAST_PROMPT_BYTES)
        .max(MAX_PROMPT_BYTES)
        .default(DEFAULT_TRANSCRIPT.maxBytes)
        .description('The whole prompt, in bytes.'),
      maxToolResultBytes: count(DEFAULT_TRANSCRIPT.maxToolResultBytes).description(
        'What is sent of one earlier tool result, in bytes; head and tail are kept.',
      ),
      overflow: z
        .union([z.const('file' as const), z.const('drop' as const)])
        .default(DEFAULT_TRANSCRIPT.overflow)
        .description('Whether what does not fit is put into a private file for the model, or left out.'),
    })
    .description('How much of the session is sent.'),
})

/** A configuration that was refused: which key, which rule, and the way out. */
export interface ConfigProblem {
  readonly code: 'AGY_CONFIG_INVALID'
  readonly problem: string
}

type LoopConfig = ConstructorParameters<typeof AgentLoop>[1]

/** The row's configuration, taken apart. */
export interface ReadConfig {
  /** The part that belongs to dsh's own loop, whose factory this plugin replaces. */
  readonly loop: LoopConfig
  readonly engine: EngineConfig | ConfigProblem
}

const LOOP_KEYS = Object.keys(AgentLoop.Config.dict ?? {})
const ENGINE_KEYS = Object.keys(EngineSchema.dict ?? {})

const refused = (problem: string): ConfigProblem => ({ code: 'AGY_CONFIG_INVALID', problem })

const unknownKey = (keys: readonly string[], known: readonly string[], place: string): ConfigProblem =>
  refused(
    `Unknown key "${keys.join('", "')}"${place} in the configuration of the agy engine. It takes ${known.join(', ')}; correct or remove the key.`,
  )

function withKeys(raw: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(raw).filter(([key]) => keys.includes(key)))
}

/** The host's own schema fills in its defaults. */
const readLoop = (raw: Record<string, unknown>): LoopConfig => AgentLoop.Config(raw as unknown as LoopConfig)

function readEngine(raw: Readonly<Record<string, unknown>>): EngineConfig | ConfigProblem {
  const unknown = Object.keys(raw).filter(key => !LOOP_KEYS.includes(key) && !ENGINE_KEYS.includes(key))
  if (unknown.length > 0) return unknownKey(unknown, ENGINE_KEYS, '')
  for (const [key, { dict }] of Object.entries(EngineSchema.dict ?? {})) {
    const inner = raw[key]
    if (dict === undefined || typeof inner !== 'object' || inner === null) continue
    const strange = Object.keys(inner).filter(name => !Object.hasOwn(dict, name))
    if (strange.length > 0) return unknownKey(strange, Object.keys(dict), ` under "${key}"`)
  }
  if (raw.mode === 'plan') {
    return refused(
      'The key "mode" is "plan", which is refused: headless agy approves its own plan and goes on to write. Leave mode out.',
    )
  }
  if (raw.approvals === 'host' && raw.dangerouslySkipPermissions !== undefined) {
    return refused(
      'The key "dangerouslySkipPermissions" stands beside "approvals: host", where dsh decides on each call. Remove one of the two.',
    )
  }
  for (const key of ENGINE_KEYS) {
    try {
      EngineSchema.dict?.[key]?.(raw[key] as never)
    } catch (error) {
      const rule = error instanceof Error ? error.message : String(error)
      return refused(`The key "${key}" of the agy engine has a value of the wrong kind: ${rule}. Correct or remove it.`)
    }
  }
  return EngineSchema(withKeys(raw, ENGINE_KEYS) as never) as EngineConfig
}

/**
 * Read the row's raw configuration; never throws.
 *
 * @param raw - whatever the row holds.
 */
export function readConfig(raw: unknown): ReadConfig {
  if (raw !== undefined && raw !== null && (typeof raw !== 'object' || Array.isArray(raw))) {
    return {
      loop: readLoop({}),
      engine: refused('The configuration of the agy engine is not a map of keys to values.'),
    }
  }
  const values = (raw ?? {}) as Readonly<Record<string, unknown>>
  try {
    return { loop: readLoop(withKeys(values, LOOP_KEYS)), engine: readEngine(values) }
  } catch (error) {
    const rule = error instanceof Error ? error.message : String(error)
    return {
      loop: readLoop({}),
      engine: refused(`A key of dsh's own loop in the row of the agy engine is wrong: ${rule}.`),
    }
  }
}
