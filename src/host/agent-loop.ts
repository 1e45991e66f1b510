/**
 * The host's loop, and the private members of it that hosting a step touches. This is the only file that names them.
 *
 * dsh has one slot for an agent factory and no public place between "whose turn is it" and "call the model". So the
 * host's own factory stays in charge of sessions and turns, and only the body of a step is replaced, on the agents that
 * it prepares. Publishing an agent and storing a new session, which differ between the generations, stay with that factory.
 *
 * Members as of @deepseek-ai/dsh-agent-loop 0.1.0-rc.8; those of the later generation, which has counters for its frames
 * beside them, as of `packages/core/agent-loop/src/agent.ts` (see `generation.ts` for where that was read).
 */
import type { Agent } from '@deepseek-ai/dsh-agent'
import { AgentLoop } from '@deepseek-ai/dsh-agent-loop'
import type { LlmCallConfig } from '@deepseek-ai/dsh-llm'
import type { TurnEndReason } from '@deepseek-ai/dsh-session'
import { type HostApi, INSTALLED } from './generation.ts'
import { type Counter, type FrameSource, storesNoChunks } from './live-answer.ts'

export { AgentLoop }

/** What a step answers: the turn may end, or (`null`) opens another step. */
export type StepVerdict = Extract<TurnEndReason, { kind: 'completed' | 'max-tokens' }> | null

/** The host's body of a step; what it is given differs between the generations, see `step-admission.ts`. */
export type StepBody = (given: unknown) => Promise<StepVerdict>

/** Where the turn machine stands while a step runs. */
export interface StepPosition {
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}

/** An agent of the host's loop, opened at the seams that hosting needs. */
export interface OpenAgent {
  readonly agent: Agent
  /** Replace the body of every further step; the host's own body is handed in. */
  replaceStep(replace: (own: StepBody) => StepBody): void
  position(): StepPosition
  /** Ask the host's listeners (model picker, presets) which model the step is for. */
  route(position: StepPosition): Promise<LlmCallConfig>
  /** The model that the next step is for, unless a listener names another one. */
  likelyRoute(): LlmCallConfig
  /** Whether this process has written a request header for the session, by whichever engine. */
  headerLogged: boolean
  /** Where the later generation's frames go; absent in the first one. */
  readonly frames?: FrameSource
}

interface PrivateMembers {
  phase: { kind: string; turn: number; step: number; abort: AbortController }
  step: StepBody
  requestHeaderLogged: boolean
  dispatch: {
    waterfall(event: 'agent/request', payload: StepPosition, last: () => Promise<LlmCallConfig>): Promise<LlmCallConfig>
    emit?(event: string, payload: object): void
  }
  assistantAttemptCounter?: number
  assistantStreamRevision?: number
}

/**
 * Open a prepared agent.
 *
 * @returns `undefined` when this generation of the host is built differently: then its own loop goes on untouched.
 */
export function openAgent(agent: Agent, host: HostApi = INSTALLED): OpenAgent | undefined {
  const members = agent as unknown as Partial<PrivateMembers>
  if (
    typeof members.step !== 'function' ||
    typeof members.phase?.kind !== 'string' ||
    typeof members.requestHeaderLogged !== 'boolean' ||
    typeof members.dispatch?.waterfall !== 'function'
  ) {
    return undefined
  }
  const loop = members as PrivateMembers
  const frames = frameSource(loop)
  if (storesNoChunks(host) && frames === undefined) return undefined
  return {
    agent,
    ...(frames && { frames }),
    replaceStep(replace) {
      loop.step = replace(loop.step.bind(agent))
    },
    position() {
      const { turn, step, abort } = loop.phase
      return { turn, step, signal: abort.signal }
    },
    route(position) {
      return loop.dispatch.waterfall('agent/request', position, () => Promise.resolve(proposal(agent, loop)))
    },
    likelyRoute: () => proposal(agent, loop),
    get headerLogged() {
      return loop.requestHeaderLogged
    },
    set headerLogged(value) {
      loop.requestHeaderLogged = value
    },
  }
}

function frameSource(loop: PrivateMembers): FrameSource | undefined {
  const counter = (name: 'assistantAttemptCounter' | 'assistantStreamRevision'): Counter | undefined => {
    if (typeof loop[name] !== 'number') return undefined
    return () => {
      loop[name] = (loop[name] ?? 0) + 1
      return loop[name]
    }
  }
  const nextAttempt = counter('assistantAttemptCounter')
  const nextRevision = counter('assistantStreamRevision')
  if (nextAttempt === undefined || nextRevision === undefined) return undefined
  return { nextAttempt, nextRevision, emit: frame => loop.dispatch.emit?.('agent/assistant-stream', { frame }) }
}

/** The config that the host's loop would propose: the agent's own route first, the logged one afterwards. */
function proposal(agent: Agent, loop: PrivateMembers): LlmCallConfig {
  const logged = loop.requestHeaderLogged ? agent.session.requestHeader() : undefined
  if (logged === undefined) return { provider: agent.options.provider ?? '', model: agent.options.model ?? '' }
  const { reasoningEffort, maxTokens, ...config } = logged.config
  return {
    ...config,
    ...(reasoningEffort === undefined || logged.adapterDefaults?.reasoningEffort ? {} : { reasoningEffort }),
    ...(maxTokens === undefined || logged.adapterDefaults?.maxTokens ? {} : { maxTokens }),
  }
}

/**
 * The host's loop, with a word in before each agent that it prepares is published.
 *
 * @param attach - called once for each prepared agent. A loop of another build never calls it.
 */
export function loopThatAttaches(attach: (agent: Agent) => void): typeof AgentLoop {
  class AttachingLoop extends AgentLoop {}
  const { prepare } = AgentLoop.prototype as unknown as { prepare?: (...args: unknown[]) => { agent: Agent } }
  if (typeof prepare === 'function') {
    Object.defineProperty(AttachingLoop.prototype, 'prepare', {
      configurable: true,
      writable: true,
      value: function (this: AgentLoop, ...args: unknown[]) {
        const prepared = Reflect.apply(prepare, this, args)
        attach(prepared.agent)
        return prepared
      },
    })
  }
  return AttachingLoop
}
