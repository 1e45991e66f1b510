/**
 * A row of an agent preset: every session of the preset is driven by one provider's engine.
 *
 * @module dsh-loop-engine-agy/preset
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { LlmCallConfig } from '@deepseek-ai/dsh-llm'
import z from '@deepseek-ai/schemastery'
import { LlmError } from './host/llm.ts'

/** Stable plugin name. */
export const name = 'dsh-loop-engine-agy/preset'

/** The configuration of a preset's row. */
export interface PresetConfig {
  /** The provider whose engine drives the sessions. */
  provider: string
  /** Its model for sessions that picked none of its own. */
  model: string
}

/** Schema of {@link PresetConfig}; both members are needed. */
export const Config: z<PresetConfig> = z.object({ provider: z.string().required(), model: z.string().required() })

/**
 * Mount the row.
 *
 * A new session starts with the model that the user likes elsewhere, which is no choice for this session: it gets the
 * preset's own. A model of another provider that is picked later is a choice, and is refused in words.
 */
export function apply(ctx: Context, { provider, model }: PresetConfig): void {
  // Before the host's own listener, which would put the picked model over this one.
  const route = async ({ agent }: { agent: Agent }, next: () => Promise<LlmCallConfig>): Promise<LlmCallConfig> => {
    const asked = await next()
    if (asked.provider === provider) return asked
    if (agent.session.requestHeader() !== undefined) {
      throw new LlmError(
        `This session belongs to the preset of "${provider}", which cannot run "${asked.model}" of "${asked.provider}". Pick a model of "${provider}", or open a session with another preset.`,
        'ENGINE_PRESET_MODEL',
      )
    }
    // An effort would be one of the other model.
    const { reasoningEffort: _, ...rest } = asked
    return { ...rest, provider, model }
  }
  ctx.on('agent/request', route, { prepend: true })
}
