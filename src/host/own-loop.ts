/**
 * dsh's own loop, mounted as it is: what is left on a host that the engine does not know. It takes as little of the host for
 * granted as can be, by looking for what it uses when it uses it.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { AgentLoop } from '@deepseek-ai/dsh-agent-loop'
import * as agentLoop from '@deepseek-ai/dsh-agent-loop'
import type { LlmCallConfig } from '@deepseek-ai/dsh-llm'
import { type Exports, type HostApi, INSTALLED, type Refusal } from './generation.ts'

const { AgentLoop: named, default: unnamed } = agentLoop as Exports
const OwnLoop = (named ?? unnamed) as typeof AgentLoop

/** Services that dsh's own loop needs. */
export const SERVICES = OwnLoop.inject

/**
 * Mount dsh's own loop, and refuse the steps that the engine would drive.
 *
 * @param raw - the row's configuration, of which the keys of dsh's own loop are taken.
 * @param provider - of the engine, whose steps are refused.
 * @param refused - why, and the way out.
 */
export function mountOwnLoop(ctx: Context, raw: unknown, provider: string, refused: Refusal): void {
  ctx.logger.warn(`${refused.code}: ${refused.problem}`)
  refuseSteps(ctx, provider, refused)
  const keys = Object.keys(OwnLoop.Config.dict ?? {})
  const own = Object.entries(raw ?? {}).filter(([key]) => keys.includes(key))
  const config = Object.fromEntries(own) as unknown as ConstructorParameters<typeof AgentLoop>[1]
  new OwnLoop(ctx, readable(config, ctx))
}

/** The host's own schema fills in its defaults; a wrong value costs the keys, not the loop. */
function readable(config: ConstructorParameters<typeof AgentLoop>[1], ctx: Context) {
  try {
    return OwnLoop.Config(config)
  } catch (error) {
    ctx.logger.warn(`AGY_CONFIG_INVALID: a key of dsh's own loop is wrong, so its defaults are taken: ${error}`)
    return OwnLoop.Config({} as typeof config)
  }
}

/**
 * Refuse the steps of a provider by name. Before a step's model is called, the host asks its listeners which one: a place that
 * both known generations have.
 */
export function refuseSteps(
  ctx: Context,
  provider: string,
  { code, problem }: Refusal,
  host: HostApi = INSTALLED,
): void {
  const Failure = host.llm.LlmError as (new (message: string, code: string) => Error) | undefined
  const route = async (_: unknown, next: () => Promise<LlmCallConfig>): Promise<LlmCallConfig> => {
    const asked = await next()
    if (asked.provider !== provider) return asked
    throw Failure === undefined ? new Error(`${code}: ${problem}`) : new Failure(problem, code)
  }
  ctx.on('agent/request', route, { prepend: true })
}
