/** The host's two dialogs with the person behind a session: approvals, which it audits in the log, and questions. */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'

/** The parts of the two services that are used (as of 0.1.0-rc.8). */
interface ApprovalService {
  request(request: {
    readonly agent: Agent
    readonly toolName: string
    readonly callId?: string
    readonly reason: string
    readonly signal: AbortSignal
  }): Promise<string>
}
interface QuestionService {
  ask(request: {
    readonly agent: Agent
    readonly signal: AbortSignal
    readonly questions: readonly {
      readonly id: string
      readonly question: string
      readonly options?: readonly { readonly label: string }[]
      readonly multiSelect?: boolean
    }[]
  }): Promise<{
    readonly answers: readonly { readonly id: string; readonly selected: readonly string[]; readonly custom?: string }[]
  }>
}

/** What the person said to a request for approval; `unavailable` where nobody can be asked. */
export type ApprovalOutcome = 'allowed-once' | 'rejected' | 'cancelled' | 'unavailable'

/** What the person said to one question. */
export interface AnswerItem {
  readonly selected: readonly string[]
  readonly custom?: string
}

/** The dialogs of one agent's session. */
export interface UserDialogs {
  /**
   * Ask for one call. The host writes the question and its outcome into the log.
   *
   * @param call - the tool's name, the id of its announced call if it has one, and why it is asked.
   */
  approve(
    call: { readonly name: string; readonly id?: string; readonly reason: string },
    signal: AbortSignal,
  ): Promise<ApprovalOutcome>
  /**
   * Ask questions.
   *
   * @returns the answers in the order of the questions, or why there are none.
   */
  ask(
    questions: readonly {
      readonly question: string
      readonly options: readonly string[]
      readonly multiple: boolean
    }[],
    signal: AbortSignal,
  ): Promise<readonly AnswerItem[] | 'cancelled' | 'unavailable'>
}

/** Errors of the question service that mean that somebody was there and gave no answer. */
const NOT_ANSWERED: ReadonlySet<unknown> = new Set(['ASK_ABORTED', 'ASK_CANCELLED'])

/** The dialogs of an agent, by the services that are mounted at the time of each question. */
export function dialogsOf(ctx: Context, agent: Agent): UserDialogs {
  return {
    async approve({ name, id, reason }, signal) {
      const service = ctx.get('approval') as ApprovalService | undefined
      if (service === undefined) return 'unavailable'
      const outcome = await service.request({
        agent,
        toolName: name,
        reason,
        signal,
        ...(id !== undefined && { callId: id }),
      })
      return outcome === 'allowed-once' || outcome === 'rejected' || outcome === 'cancelled' ? outcome : 'unavailable'
    },
    async ask(questions, signal) {
      const service = ctx.get('userQuestions') as QuestionService | undefined
      if (service === undefined) return 'unavailable'
      const ids = questions.map((_, at) => `q${at + 1}`)
      try {
        const asking = service.ask({
          agent,
          signal,
          questions: questions.map(({ question, options, multiple }, at) => ({
            id: ids[at] as string,
            question,
            ...(options.length > 0 && { options: options.map(label => ({ label })), multiSelect: multiple }),
          })),
        })
        const { answers } = await Promise.race([asking, aborted(signal)])
        return ids.map(id => answers.find(answer => answer.id === id) ?? { selected: [] })
      } catch (error) {
        return signal.aborted || NOT_ANSWERED.has((error as { code?: unknown }).code) ? 'cancelled' : 'unavailable'
      }
    },
  }
}

/** Rejects when the signal is aborted: not every front end listens to it, and the run must not wait for one that does not. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
