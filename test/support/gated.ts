/** A hosted session whose calls dsh decides on: the real services, and a person who answers as told. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import SandboxPolicyService from '@deepseek-ai/dsh-sandbox-policy'
import type { Session } from '@deepseek-ai/dsh-session'
import ApprovalService, { type ApprovalOutcome } from '@deepseek-ai/dsh-user-approval'
import * as ApprovalInvariant from '@deepseek-ai/dsh-user-approval/invariant'
import UserQuestionService, {
  type AskUserQuestionAnswer,
  type AskUserQuestionRequest,
} from '@deepseek-ai/dsh-user-questions'
import { privateFolder } from './folders.ts'
import { expectValidLog, lastTurnEnd, say, startHost, type TestConfig } from './host.ts'

/** One request for approval, as the person sees it. */
export interface Shown {
  readonly toolName: string
  readonly callId?: string
  readonly reason?: string
  readonly signal?: AbortSignal
}

/** How the person answers; without a person nobody can be asked. */
export interface Person {
  approves?(asked: Shown): ApprovalOutcome | Promise<ApprovalOutcome>
  answers?(request: AskUserQuestionRequest): Promise<AskUserQuestionAnswer>
}

/** What the child does, one action after the other; written to a file for the stand-in. */
export function scenario(...child: readonly object[]): string {
  const file = join(privateFolder(), 'scenario.json')
  writeFileSync(file, JSON.stringify({ child }))
  return file
}

/** A host with dsh's own approvals and questions, and an engine that lets them decide. */
export async function gatedHost(
  child: readonly object[],
  person: Person = {},
  {
    sandbox = 'workspace-write',
    policy = 'ask',
    env = {},
    ...config
  }: TestConfig & { sandbox?: string; policy?: string } = {},
) {
  const host = await startHost({
    approvals: 'host',
    auxiliary: 'off',
    ...config,
    env: { AGY_STANDIN_SCENARIO: scenario({ read: true }, { init: true }, ...child), ...env },
  })
  await host.ctx.plugin(SandboxPolicyService, { mode: sandbox as 'workspace-write' })
  await host.ctx.plugin(ApprovalService, { policy: policy as 'ask' })
  await host.ctx.plugin(ApprovalInvariant)
  await host.ctx.plugin(UserQuestionService)
  const asked: Shown[] = []
  const { approves, answers } = person
  if (approves !== undefined) {
    host.ctx.on('approval/request', async request => {
      asked.push(request)
      return approves(request)
    })
  }
  if (answers !== undefined) host.ctx.userQuestions.registerProvider({ ask: answers })
  return { ...host, asked }
}

/** What became of a call. */
export interface ToldCall {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly text: string | undefined
  readonly failed: boolean | undefined
}

/** The calls of a log, in order. */
export function callsOf(session: Session): ToldCall[] {
  return session.events.flatMap(event => {
    if (event.type !== 'tool/call') return []
    const { callId, name } = event.data
    const block = session.events
      .flatMap(other => (other.type === 'tool/result' ? other.data.message.content : []))
      .find(other => other.toolCallId === callId)
    return [
      {
        id: callId as string,
        name,
        arguments: JSON.parse(event.data.arguments) as Record<string, unknown>,
        text: block?.content.map(part => (part.type === 'text' ? part.text : '')).join(''),
        failed: block && (block.isError ?? false),
      },
    ]
  })
}

/** The audit of a log: what was asked, by call, and how it was decided. */
export function auditOf(
  session: Session,
): { toolName: string; callId: string | undefined; outcome: string | undefined }[] {
  return session.events.flatMap(event => {
    if (event.type !== 'approval/asked') return []
    const { id, toolName, callId } = event.data
    const decided = session.events
      .map(other => (other.type === 'approval/decided' ? other.data : undefined))
      .find(other => other?.id === id)
    return [{ toolName, callId, outcome: decided?.outcome }]
  })
}

/** A call of a command. */
export const command = (CommandLine: string, more: object = {}) => ({
  name: 'run_command',
  args: { CommandLine, Cwd: '/w' },
  ...more,
})

/** The last words of a child. */
export const DONE = { answer: 'so be it' }

/** A person who always says the same. */
export const always = (outcome: ApprovalOutcome): Person => ({ approves: () => outcome })

/** One run; its log must be valid however it ends. */
export async function runOf(
  child: readonly object[],
  person: Person = {},
  config: Parameters<typeof gatedHost>[2] = {},
) {
  const host = await gatedHost([...child, DONE], person, config)
  const agent = await host.create()
  await say(agent, 'go')
  expectValidLog(agent.session)
  return { host, agent, calls: callsOf(agent.session), audit: auditOf(agent.session), end: lastTurnEnd(agent.session) }
}
