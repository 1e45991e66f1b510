/** A row that does to a session what a person does with controls that the page's API does not have: over loopback HTTP. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { setSandboxMode } from '@deepseek-ai/dsh-sandbox-policy'
import { setApprovalPolicy } from '@deepseek-ai/dsh-user-approval'

export const name = 'host-hands'
export const inject = ['agents', 'commands']

export function apply(ctx, { portFile }) {
  const acts = {
    permissions(agent, { mode, policy }) {
      setSandboxMode(agent.session, mode)
      setApprovalPolicy(agent.session, policy)
    },
    command: (agent, { line }) => ctx.commands.execute(agent, line, [], new AbortController().signal),
  }
  const server = createServer(async (request, response) => {
    try {
      const { act, sessionId, ...rest } = await json(request)
      const agent = ctx.agents.get(sessionId)
      const result = await acts[act](agent, rest)
      response.end(JSON.stringify({ result: result ?? null }))
    } catch (error) {
      response.end(JSON.stringify({ error: String(error?.stack ?? error) }))
    }
  })
  server.listen(0, '127.0.0.1', () => writeFileSync(portFile, String(server.address().port)))
  ctx.effect(() => () => void server.close(), 'host-hands')
}
