/** The engine as it is mounted on a host whose generation is known; {@link module:dsh-loop-engine-agy} stands in front. */
import { fileURLToPath } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'
import { AgyLoop } from './agy/agy-loop.ts'
import { endOrphans } from './agy/child-records.ts'
import { ModelCatalogue } from './agy/models.ts'
import { VersionBook } from './agy/version.ts'
import { agyCommand } from './command.ts'
import { type EngineConfig, EngineSchema, readConfig } from './config.ts'
import { answerAuxiliary } from './engine/auxiliary-call.ts'
import { type AuxiliaryCalls, HostedProvider } from './engine/hosted-provider.ts'
import type { Hosting } from './engine/hosted-step.ts'
import { Transcript } from './engine/transcript.ts'
import { loopThatAttaches } from './host/agent-loop.ts'
import { imageReader } from './host/attachments.ts'
import { offerCommand } from './host/commands.ts'
import { onFirstRoute } from './host/model-seat.ts'
import { scrubbedParentEnv } from './host/parent-env.ts'
import { offerPresets } from './host/preset-roots.ts'
import { PROVIDER } from './provider.ts'
import { type EngineChoice, routeSteps } from './router/router.ts'

/**
 * Mount the engine, and dsh's own loop with it.
 *
 * @param ctx - context with the services of dsh's own loop.
 * @param raw - the row's configuration.
 */
export function mount(ctx: Context, raw: unknown): void {
  const config = readConfig(raw)
  const { steering, maxToolResultBytes, transcript } = 'problem' in config.engine ? EngineSchema() : config.engine
  const hosting: Hosting = { steering, maxToolResultBytes, transcript: new Transcript(transcript, imageReader(ctx)) }
  const choice = 'problem' in config.engine ? config.engine : mountEngine(ctx, config.engine, hosting)
  if (choice !== undefined && 'problem' in choice) ctx.logger.warn(`${choice.code}: ${choice.problem}`)
  offerPresets(ctx, fileURLToPath(new URL('../presets', import.meta.url)))
  const Loop = loopThatAttaches(agent =>
    routeSteps(ctx, agent, hosting, provider => (provider === PROVIDER ? choice : undefined)),
  )
  new Loop(ctx, config.loop)
}

/** Mount the CLI side; `undefined` when another plugin serves the provider already, and its models stay its own. */
function mountEngine(ctx: Context, config: EngineConfig, { transcript }: Hosting): EngineChoice {
  const versions = new VersionBook()
  const engine = new AgyLoop({ ...config, parentEnv: scrubbedParentEnv, versions })
  endOrphans(config.killGraceMs).then(
    pids => pids.length > 0 && ctx.logger.info(`AGY_ORPHANS_ENDED: children of a killed dsh were ended: ${pids}`),
    error => ctx.logger.warn(`AGY_ORPHANS: children of a killed dsh could not be looked for: ${error}`),
  )
  const unloaded = new AbortController()
  const catalogue = new ModelCatalogue({
    locate: () => engine.locate(),
    onChange: () => registration?.replace([PROVIDER]),
    onFailure: reason => ctx.logger.info(reason),
    signal: unloaded.signal,
    ...(config.model === undefined ? {} : { pinned: config.model }),
  })
  ctx.effect(
    () => async () => {
      unloaded.abort()
      await engine.dispose()
    },
    'agy.children()',
  )
  let registration: ReturnType<Context['llm']['registerAdapter']> | undefined
  try {
    const auxiliary: AuxiliaryCalls = options => answerAuxiliary(engine, transcript, options)
    const provider = new HostedProvider('Antigravity', catalogue, config.auxiliary === 'agy' ? auxiliary : undefined)
    registration = ctx.llm.registerAdapter([PROVIDER], provider)
  } catch (error) {
    ctx.logger.warn(
      `AGY_PROVIDER_TAKEN: another plugin serves "${PROVIDER}" already, so its sessions are not hosted: ${error}`,
    )
    return undefined
  }
  offerCommand(ctx, agyCommand(ctx, { engine, catalogue, versions, config }))
  onFirstRoute(ctx, PROVIDER, () => registration?.replace([PROVIDER]))
  return engine
}
