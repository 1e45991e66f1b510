/**
 * Which engine drives a step.
 *
 * The host's loop keeps sessions, turns and inbox. For each step its listeners name a provider and a model; a step whose
 * provider belongs to a hosted engine is driven by that engine, any other by the host's own body, untouched.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { HostedEngine } from '../engine/contract.ts'
import { HostedSteps, type Hosting } from '../engine/hosted-step.ts'
import { permissionsOf } from '../engine/permissions.ts'
import { userGate } from '../engine/user-gate.ts'
import { openAgent, type StepBody } from '../host/agent-loop.ts'
import { openAnswer } from '../host/live-answer.ts'
import { LlmError } from '../host/llm.ts'
import { permissionKnobs } from '../host/permission-knobs.ts'
import { admitStep } from '../host/step-admission.ts'
import { dialogsOf } from '../host/user-dialogs.ts'

/** The engine of a provider route, or a word on why there is none. */
export type EngineChoice = HostedEngine | { readonly code: string; readonly problem: string } | undefined

/**
 * Route the steps of one agent.
 *
 * @param ctx - the plugin's context.
 * @param agent - an agent that the host's loop prepared.
 * @param hosting - what all hosted steps share.
 * @param engineOf - the hosted engine of a provider, `undefined` for a provider that is not hosted.
 */
export function routeSteps(
  ctx: Context,
  agent: Agent,
  hosting: Hosting,
  engineOf: (provider: string) => EngineChoice,
): void {
  const open = openAgent(agent)
  if (open === undefined) return
  const { session } = agent
  const hosted = new HostedSteps()
  const cwd = session.header.cwd ?? process.cwd()
  const notice = (code: string, message: string): void => ctx.logger.info(`${code}: ${message}`)
  const knobs = () => permissionKnobs(ctx, session)
  const gate = userGate({ knobs, workspace: cwd, dialogs: dialogsOf(ctx, agent), notice })
  const closing = new AbortController()
  const startAhead = async (): Promise<void> => {
    const route = open.likelyRoute()
    const engine = engineOf(route.provider)
    if (engine === undefined || 'problem' in engine || engine.startAhead === undefined) return
    const { model, reasoningEffort } = (await ctx.llm.prepareCall(route, closing.signal)).config
    if (closing.signal.aborted || agent.inbox.nextStep.length > 0) return
    const permissions = permissionsOf(knobs())
    hosted.startAhead(engine, { cwd, model, permissions, gate, ...(reasoningEffort && { effort: reasoningEffort }) })
  }
  // What stands in the way of a likely step is told by the step itself.
  const prepareNext = (): void => void startAhead().catch(() => {})
  agent.ctx.on('agent/session-start', ({ agent: subject }) => subject === agent && prepareNext())
  // A turn may end between two steps of one run (a rejected step, an abort): the child must not go on alone.
  agent.ctx.on('session/event', (subject, event) => {
    if (subject !== session || event.type !== 'turn/end') return
    hosted.stop().catch(error => ctx.logger.warn(`A run could not be ended cleanly: ${error}`))
    if (event.data.reason.kind === 'completed') prepareNext()
  })
  agent.ctx.effect(
    () => () => {
      closing.abort()
      return hosted.close()
    },
    'agy.steps()',
  )
  open.replaceStep(
    (own: StepBody): StepBody =>
      async given => {
        const position = open.position()
        const { signal, ...place } = position
        signal.throwIfAborted()
        const route = await open.route(position)
        signal.throwIfAborted()
        const engine = engineOf(route.provider)
        if (engine === undefined) {
          await hosted.close()
          return own(given)
        }
        if ('problem' in engine) throw new LlmError(engine.problem, engine.code)
        const { config, adapterDefaults, context } = await ctx.llm.prepareCall(route, signal)
        admitStep(session, place, given, LlmError)
        const firstHeader = !open.headerLogged
        open.headerLogged = true
        return hosted.step({
          hosting,
          engine,
          session,
          place,
          answer: openAnswer(session, place, open.frames),
          signal,
          firstHeader,
          request: { config, adapterDefaults, ...(context && { contextWindow: context.contextWindow }) },
          cwd,
          flush: () => ctx.sessions.flush(session),
          hasPendingInput: () => agent.inbox.nextStep.length > 0,
          notice,
          failure: LlmError,
          permissions: permissionsOf(knobs()),
          gate,
        })
      },
  )
}
