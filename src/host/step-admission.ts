/**
 * What stands in the log before a step's request.
 *
 * In the first generation the turn machine writes the step's messages before it calls the body of the step, and the system
 * prompt is a part of the request's header. In the later one the body is given the messages and writes them itself, behind
 * the system prompt, which is the first event of the surface (`step` in `packages/core/agent-loop/src/agent.ts`).
 */
import type { Session } from '@deepseek-ai/dsh-session'
import { type Generation, generationOf, type HostApi, INSTALLED, refusal } from './generation.ts'
import type { StepPlace } from './live-answer.ts'
import { eventsOf } from './session-events.ts'

/** The later generation's way to append, which the installed types do not know. */
type Append = (type: string, data: object, intent: object) => void

/**
 * Write what the host's own body of the step would write before its request.
 *
 * A session that starts on a hosted step gets an empty system prompt: the CLI is given none, and the place at the head of
 * the surface is taken for steps of dsh's own loop that may follow.
 *
 * @param given - what the host calls the body of a step with.
 * @param fail - the error to throw if the step brings its messages in no known shape: a step without the user's words
 *   would answer something else.
 */
export function admitStep(
  session: Session,
  place: StepPlace,
  given: unknown,
  fail: new (message: string, code: string) => Error,
  host: HostApi = INSTALLED,
  generation: Generation = generationOf(host) as Generation,
): void {
  if (generation === 'first') return
  const messages = (given as { messages?: unknown } | null)?.messages
  if (!Array.isArray(messages)) {
    const { code, problem } = refusal('it opens a step without saying what is asked')
    throw new fail(problem, code)
  }
  const append = session.append.bind(session) as unknown as Append
  if (!eventsOf(session).some(({ type }) => (type as string) === 'system/message')) {
    const createSystemMessage = host.llm.createSystemMessage as (text: string) => object
    append('system/message', { ...place, message: createSystemMessage('') }, { surfaceOp: 'append' })
  }
  for (const message of messages) append('user/message', message, { surfaceOp: 'append' })
}
