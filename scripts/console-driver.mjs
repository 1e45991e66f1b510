/**
 * A row for dsh's headless profile: opens a new session, or an old one again, on the engine; asks one or more prompts;
 * and shows on the terminal what the session log says while it grows.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createUserMessage } from '@deepseek-ai/dsh-llm'

export const name = 'console-driver'
export const inject = ['agents', 'sessions', 'sessionPersistence']

const INDENT = '    '
const shorten = text => {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, 8).map(line => (line.length > 160 ? `${line.slice(0, 160)}…` : line))
  if (lines.length > shown.length) shown.push(`… ${lines.length - shown.length} more lines`)
  return shown.map(line => `${INDENT}${line}\n`).join('')
}

/** Prints events of a session as a person would tell them. */
function narrator(write) {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, reasoningTokens: 0 }
  let column = 0
  const freshLine = () => {
    if (column > 0) write('\n')
    column = 0
  }
  return {
    usage,
    tell(event) {
      switch (event.type) {
        case 'assistant/chunk': {
          const { chunk } = event.data
          if (chunk.type !== 'text-delta') return
          write(chunk.text)
          column = chunk.text.endsWith('\n') ? 0 : 1
          return
        }
        case 'assistant/message':
          for (const key of Object.keys(usage)) usage[key] += event.data.usage?.[key] ?? 0
          return
        case 'tool/call':
          freshLine()
          write(`  tool ${event.data.name} ${event.data.arguments}\n`)
          return
        case 'tool/result': {
          const [block] = event.data.message.content
          const text = block.content.map(part => part.text ?? '').join('')
          write(`  ${block.isError ? 'failed' : 'result'}\n${shorten(text)}`)
          return
        }
        case 'turn/end':
          freshLine()
      }
    },
  }
}

const ending = reason => {
  switch (reason?.kind) {
    case 'error':
      return `failed, ${reason.error.code}: ${reason.error.message}`
    case 'aborted':
      return 'aborted'
    default:
      return reason?.kind ?? 'without a turn'
  }
}

async function drive(ctx, config) {
  await ctx.get('loader')?.await()
  const agentOptions = config.route ?? { provider: 'agy', model: 'default' }
  const { agent } = config.resume
    ? await ctx.agents.resume({ resumeSessionId: config.resume, agentOptions })
    : await ctx.agents.create({
        sessionId: `session-${randomUUID()}`,
        meta: { cwd: config.cwd },
        agentOptions,
      })
  const write = text => process.stdout.write(text)
  const earlier = agent.session.deriveMessages().length
  const story = narrator(write)
  ctx.on('session/event', (session, event) => {
    if (session === agent.session) story.tell(event)
  })
  let reason
  for (const prompt of config.prompts) {
    write(`\nyou: ${prompt}\n\n`)
    agent.followup(createUserMessage({ content: [{ type: 'text', text: prompt }], source: { kind: 'user' } }))
    await agent.whenIdle()
    reason = agent.session.events.findLast(event => event.type === 'turn/end')?.data.reason
  }
  await ctx.sessions.flush(agent.session)
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = story.usage
  write(
    `\nusage: ${inputTokens} tokens in, ${cacheReadTokens} more from cache, ${outputTokens} out (${reasoningTokens} of them thinking)\n`,
  )
  write(`ended: ${ending(reason)}\n`)
  writeFileSync(
    config.report,
    JSON.stringify({ sessionId: agent.id, earlier, completed: reason?.kind === 'completed' }),
  )
  return reason?.kind === 'completed' ? 0 : 1
}

export function apply(ctx, config) {
  const exit = ctx.get('appExit')
  drive(ctx, config).then(exit, error => {
    process.stderr.write(`${error?.stack ?? error}\n`)
    exit(1)
  })
}
