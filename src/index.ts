/**
 * dsh-loop-engine-agy: lets a dsh session be driven by Google's Antigravity CLI, `agy`.
 *
 * The plugin takes dsh's one slot for an agent factory with the host's own loop, routed: steps of a model of the `agy`
 * provider are hosted by an engine, all others run as before. On a host that the engine does not know, dsh's own loop is
 * mounted as it is and steps of that provider are refused in words: nothing here may leave dsh without a loop.
 *
 * @module dsh-loop-engine-agy
 */
import type { Context } from '@deepseek-ai/cordis'
import z from '@deepseek-ai/schemastery'
import { generationOf, type Refusal, refusal } from './host/generation.ts'
import { mountOwnLoop, SERVICES } from './host/own-loop.ts'
import { PROVIDER } from './provider.ts'

export type { EngineConfig } from './config.ts'

/** Stable plugin name. */
export const name = 'dsh-loop-engine-agy'

/** Services of dsh's own loop: this plugin stands in its place. */
export const inject = SERVICES

/** Accepts anything: the schema of {@link EngineConfig} is applied without failing the mount, see `config.ts`. */
export const Config = z.any()

/** The engine, or why it cannot even be loaded: a host may lack a package or a name that it is written against. */
const engine: typeof import('./plugin.ts') | Refusal = await import('./plugin.ts').catch((error: unknown) =>
  refusal(error instanceof Error ? error.message : String(error)),
)

/**
 * Mount the engine, or on an unknown host dsh's own loop alone.
 *
 * @param ctx - context with the services of {@link inject}.
 * @param raw - the row's configuration.
 */
export function apply(ctx: Context, raw: unknown): void {
  const generation = generationOf()
  if (typeof generation === 'object') mountOwnLoop(ctx, raw, PROVIDER, generation)
  else if ('problem' in engine) mountOwnLoop(ctx, raw, PROVIDER, engine)
  else engine.mount(ctx, raw)
}
