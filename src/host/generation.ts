/**
 * Which generation of dsh this is, told by what its packages hold. Two are known:
 *
 * - `first`: session format 0, dsh 0.1.0-rc.8, which is what was run.
 * - `later`: session format 4, dsh 0.1.7 and later, which cannot be installed from npm. Its shapes are those of its public
 *   source as forks of deepseek-ai/deepseek-harness keep it (LunFengChen/deepseek-harness at 103e870, which calls itself
 *   0.1.7-rc.2, and ZengyingYue/astro-one at da06a33, 0.1.7-rc.1; read 2026-12-03). Nothing of it was run.
 *
 * What differs between them has one file each: `call-id`, `live-answer`, `preset-roots`, `session-events`,
 * `step-admission`, `stored-rows` and `tool-result`. Each looks at what is there; this file says only whether the whole is known. How an
 * agent is published and where a new session is stored differ too, but both are left to the host's own loop.
 */
import * as llm from '@deepseek-ai/dsh-llm'
import * as session from '@deepseek-ai/dsh-session'

/** What a package exports, of which nothing is taken for granted: a name that is not there is `undefined`. */
export type Exports = Readonly<Record<string, unknown>>

/** The packages of the host by which its generations differ. */
export interface HostApi {
  readonly llm: Exports
  readonly session: Exports
}

/** The host that this process runs on. */
export const INSTALLED: HostApi = { llm, session }

/** A generation whose shapes are known. */
export type Generation = 'first' | 'later'

/** A refusal in words, with its stable code. */
export interface Refusal {
  readonly code: 'ENGINE_HOST_UNSUPPORTED'
  readonly problem: string
}

interface Marks {
  readonly format: number
  readonly llm: readonly string[]
  readonly session: readonly string[]
}

const IN_BOTH = {
  llm: ['BlockAssembler', 'LlmError', 'createAssistantMessage', 'createToolResultMessage'],
  session: ['canonicalHeader', 'headerEquals', 'interruptedTurnClosers'],
}

/** The session format that a generation writes, and the functions and classes that hosting needs of it. */
const MARKS: Readonly<Record<Generation, Marks>> = {
  first: { format: 0, llm: [...IN_BOTH.llm, 'CallId'], session: IN_BOTH.session },
  later: {
    format: 4,
    llm: [...IN_BOTH.llm, 'ToolCallId', 'AssistantStreamAccumulator', 'createSystemMessage'],
    session: IN_BOTH.session,
  },
}

/** Why hosting is refused here, and the way out. */
export const refusal = (found: string): Refusal => ({
  code: 'ENGINE_HOST_UNSUPPORTED',
  problem: `This dsh is built differently from the versions that the engine knows: ${found}. Pick a model of another provider, which dsh's own loop answers as ever, or install a dsh that the README of dsh-loop-engine-agy names.`,
})

/**
 * Tell the generation.
 *
 * @param host - the host's packages.
 * @returns the generation, or the refusal of a host that is neither: a log that is written in a wrong shape is worse than
 *   a step that is refused.
 */
export function generationOf(host: HostApi = INSTALLED): Generation | Refusal {
  const format = host.session.SESSION_FORMAT_VERSION
  const known = (Object.keys(MARKS) as Generation[]).find(name => MARKS[name].format === format)
  if (known === undefined) return refusal(`it writes session format ${JSON.stringify(format) ?? 'unknown'}`)
  const missing = (['llm', 'session'] as const).flatMap(name =>
    MARKS[known][name].filter(key => typeof host[name][key] !== 'function').map(key => `dsh-${name} has no ${key}`),
  )
  return missing.length === 0 ? known : refusal(missing.join(', '))
}
