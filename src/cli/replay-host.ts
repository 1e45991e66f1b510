/** A small dsh in this process, of its real packages: session store, turn machine, durable log, and the engine. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import { type Session, SessionId } from '@deepseek-ai/dsh-session'
import JsonlSessionPersistence from '@deepseek-ai/dsh-session-persistence-jsonl'
import { AgyLoop } from '../agy/agy-loop.ts'
import type { AgyChild } from '../agy/process.ts'
import type { EngineEvent, HostedEngine, StepRequest } from '../engine/contract.ts'
import { HostedProvider } from '../engine/hosted-provider.ts'
import { DEFAULT_TOOL_RESULT_BYTES, type Hosting } from '../engine/hosted-step.ts'
import { DEFAULT_TRANSCRIPT, Transcript } from '../engine/transcript.ts'
import { AgentLoop, loopThatAttaches } from '../host/agent-loop.ts'
import { imageReader } from '../host/attachments.ts'
import { PROVIDER } from '../provider.ts'
import { routeSteps } from '../router/router.ts'
import { openBareHost } from './bare-host.ts'

/** One turn of a session that a child answered. */
export interface Playback {
  readonly agent: Agent
  readonly session: Session
  /** What the engine told, in order. */
  readonly events: readonly EngineEvent[]
}

/** Gives the child that answers next, in place of a process. */
export type ChildSource = (agent: Agent) => AgyChild

/** A host whose children are given to it. */
export interface ReplayHost {
  readonly ctx: Context
  /**
   * Ask one prompt and wait for the end of its turn.
   *
   * @param source - asked for each child that the turn starts.
   * @param agent - an earlier playback's, to go on with its session; a new session if absent.
   */
  play(source: ChildSource, agent?: Agent): Promise<Playback>
  /** Path of a session's durable log. */
  logOf(session: Session): string
  /** Unload everything. The durable logs stay, unless they were not to be kept. */
  close(): Promise<void>
}

/** Lets one watch what an engine tells. */
function watched(engine: HostedEngine, watch: (event: EngineEvent) => void): HostedEngine {
  return {
    id: engine.id,
    async *run(request: StepRequest) {
      for await (const event of engine.run(request)) {
        watch(event)
        yield event
      }
    },
  }
}

/**
 * Compose the host.
 *
 * @param options.mount - further plugins, mounted before the engine's loop.
 * @param options.durable - whether logs are written to files; in memory alone they cost no disk.
 * @param options.keep - whether these files stay when the host is closed.
 */
export async function openReplayHost({
  mount = () => Promise.resolve(),
  durable = true,
  keep = durable,
}: {
  readonly mount?: (ctx: Context) => Promise<void>
  readonly durable?: boolean
  readonly keep?: boolean
} = {}): Promise<ReplayHost> {
  const root = mkdtempSync(join(tmpdir(), 'dsh-agy-replay-'))
  const ctx = await openBareHost()
  if (durable) await ctx.plugin(JsonlSessionPersistence, { root, compression: 'none' })
  await mount(ctx)
  let playing: { child: () => AgyChild; events: EngineEvent[] } | undefined
  const engine = watched(
    new AgyLoop({
      // No program is started: any file that may be run will do.
      bin: process.execPath,
      env: {},
      parentEnv: () => ({}),
      startGapMs: 0,
      spawn: () => {
        if (playing === undefined) throw new Error('nothing is being played')
        return Promise.resolve(playing.child())
      },
    }),
    event => playing?.events.push(event),
  )
  const hosting: Hosting = {
    steering: 'interrupt',
    transcript: new Transcript(DEFAULT_TRANSCRIPT, imageReader(ctx)),
    maxToolResultBytes: DEFAULT_TOOL_RESULT_BYTES,
  }
  const Loop = loopThatAttaches(agent =>
    routeSteps(ctx, agent, hosting, provider => (provider === PROVIDER ? engine : undefined)),
  )
  await ctx.plugin({
    name: 'replay-loop',
    inject: AgentLoop.inject,
    apply(scope: Context) {
      new Loop(scope, { agents: [] })
    },
  })
  const model = { id: 'recording', name: 'A recording' }
  ctx.llm.registerAdapter(
    [PROVIDER],
    new HostedProvider('Antigravity', { list: async () => [model], entry: async () => model }),
  )
  let count = 0
  const open = async (): Promise<Agent> => {
    count += 1
    const { agent } = await ctx.agents.create({
      sessionId: SessionId(`replay-${count}`),
      meta: { cwd: root },
      agentOptions: { provider: PROVIDER, model: 'recording' },
    })
    return agent
  }
  return {
    ctx,
    async play(source, earlier) {
      const agent = earlier ?? (await open())
      playing = { child: () => source(agent), events: [] }
      agent.followup(createUserMessage({ content: [{ type: 'text', text: 'Replay.' }], source: { kind: 'user' } }))
      await agent.whenIdle()
      await ctx.sessions.flush(agent.session)
      return { agent, session: agent.session, events: playing.events }
    },
    logOf: session => findLog(root, session.id),
    async close() {
      await ctx.fiber.dispose()
      if (!keep) rmSync(root, { recursive: true, force: true })
    },
  }
}

function findLog(root: string, sessionId: string): string {
  const log = readdirSync(root, { recursive: true, encoding: 'utf8' }).find(path =>
    path.endsWith(join(sep, sessionId, 'session.jsonl')),
  )
  if (log === undefined) throw new Error(`the log of ${sessionId} was not written below ${root}`)
  return join(root, log)
}
