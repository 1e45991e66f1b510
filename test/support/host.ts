/** The real dsh, composed in this process from its npm packages, with the host's own invariants mounted. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import * as AgentInvariant from '@deepseek-ai/dsh-agent/invariant'
import * as LoopInvariant from '@deepseek-ai/dsh-agent-loop/invariant'
import InvariantRegistry from '@deepseek-ai/dsh-invariants'
import { createUserMessage, LlmAdapter, type StreamChunk } from '@deepseek-ai/dsh-llm'
import * as LlmInvariant from '@deepseek-ai/dsh-llm/invariant'
import { type Session, type SessionEvent, SessionId } from '@deepseek-ai/dsh-session'
import * as SessionInvariant from '@deepseek-ai/dsh-session/invariant'
import * as SystemPromptInvariant from '@deepseek-ai/dsh-system-prompt/invariant'
import * as ToolsInvariant from '@deepseek-ai/dsh-tools/invariant'
import { expect, onTestFinished } from 'vitest'
import { openBareHost } from '../../src/cli/bare-host.ts'
import { checkLog } from '../../src/cli/log-rules.ts'
import * as Plugin from '../../src/index.ts'
import { privateFolder, STAND_IN } from './folders.ts'

/** A provider of the host's own, so that a step can go to its loop. */
export class EchoAdapter extends LlmAdapter {
  override async *stream(): AsyncIterable<StreamChunk> {
    yield { type: 'block-start', index: 0, blockType: 'text' }
    yield { type: 'text-delta', index: 0, text: 'own loop' }
    yield { type: 'block-end', index: 0, block: { type: 'text', text: 'own loop' } }
    yield { type: 'finish', reason: { kind: 'stop' } }
  }
}

/** What the stand-in was given at one start. */
export interface Received {
  readonly pid: number
  readonly argv: readonly string[]
  readonly cwd: string
  /** Names of its environment. */
  readonly env: readonly string[]
  readonly prompt: string
  /** Files in the folders that were added beside the workspace. */
  readonly files: readonly { readonly file: string; readonly mode: string; readonly base64: string }[]
}

export interface TestHost {
  readonly ctx: Context
  readonly cwd: string
  /** The starts that were given a prompt, in order. */
  received(): Received[]
  /** Arguments of all starts that were to answer a prompt, whatever came of them. */
  starts(): (readonly string[])[]
  /** Their processes. */
  pids(): number[]
  /** A new session on a model of the `agy` provider, or of another one. */
  create(options?: { provider?: string; model?: string; cwd?: string; seed?: readonly SessionEvent[] }): Promise<Agent>
}

/** A configuration of the engine's row; `env` steers the stand-in. */
export interface TestConfig {
  readonly env?: Readonly<Record<string, string>>
  readonly [key: string]: unknown
}

/** The host's own checks of every append, which no shipped profile mounts: a broken rule throws where it is broken. */
export async function mountInvariants(ctx: Context): Promise<void> {
  await ctx.plugin(InvariantRegistry, {})
  for (const companion of [
    SessionInvariant,
    AgentInvariant,
    LoopInvariant,
    LlmInvariant,
    ToolsInvariant,
    SystemPromptInvariant,
  ]) {
    await ctx.plugin(companion)
  }
}

/** Compose the host with the plugin; everything is unloaded after the test. */
export async function startHost(config: TestConfig = {}): Promise<TestHost> {
  const ctx = await openBareHost()
  const cwd = privateFolder()
  const echo = join(privateFolder(), 'received.jsonl')
  onTestFinished(async () => {
    await ctx.fiber.dispose()
  })
  await mountInvariants(ctx)
  await ctx.plugin(Plugin, { bin: STAND_IN, startGapMs: 0, ...config, env: { AGY_STANDIN_ECHO: echo, ...config.env } })
  ctx.llm.registerAdapter(['echo'], new EchoAdapter())
  let count = 0
  return {
    ctx,
    cwd,
    received: () => readReceived(echo),
    starts: () => runsOf(echo).map(({ argv }) => argv),
    pids: () => runsOf(echo).map(({ pid }) => pid),
    async create({ provider = 'agy', model = 'default', cwd: workspace = cwd, seed } = {}) {
      count += 1
      const { agent } = await ctx.agents.create({
        sessionId: SessionId(`session-${count}`),
        meta: { cwd: workspace },
        agentOptions: { provider, model },
        ...(seed === undefined ? {} : { seed }),
      })
      return agent
    },
  }
}

type Start = Omit<Received, 'prompt'> & { readonly stdin: string }

function readStarts(file: string): Start[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  // What stands behind the last line feed is still being written.
  return lines.slice(0, -1).map(line => JSON.parse(line) as Start)
}

const runsOf = (file: string): Start[] =>
  readStarts(file).filter(({ argv }) => argv.includes('--input-format=stream-json'))

export function readReceived(file: string): Received[] {
  return readStarts(file)
    .filter(start => start.stdin !== '')
    .map(({ stdin, ...start }) => ({ ...start, prompt: JSON.parse(stdin).message.content[0].text as string }))
}

/** Say something and wait for the turn to end. */
export async function say(agent: Agent, text: string): Promise<void> {
  agent.followup(createUserMessage({ content: [{ type: 'text', text }], source: { kind: 'user' } }))
  await agent.whenIdle()
}

/** The log must be valid under both generations' rules (the host's invariants have thrown already if not). */
export function expectValidLog(session: Session): void {
  expect(checkLog(session.events, { complete: true })).toEqual([])
}

/** How the last turn ended. */
export function lastTurnEnd(session: Session): SessionEvent<'turn/end'>['data']['reason'] | undefined {
  return session.events.findLast(event => event.type === 'turn/end')?.data.reason
}

/** The text of all assistant messages. */
export const storedText = (session: Session): string =>
  session.events
    .filter(event => event.type === 'assistant/message')
    .flatMap(event => event.data.message.content)
    .map(block => (block.type === 'text' ? block.text : ''))
    .join('')

/** The text that was streamed live. */
export const shownText = (session: Session): string =>
  session.events
    .filter(event => event.type === 'assistant/chunk')
    .map(({ data: { chunk } }) => (chunk.type === 'text-delta' ? chunk.text : ''))
    .join('')
