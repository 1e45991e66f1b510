/**
 * The CLI's `ask_question` and the words in which its answer travels back: the reason of a denial is the only way for a text to
 * reach the model, so the reason says at once that it is an answer.
 */
import type { Answer, Question } from '../../engine/contract.ts'
import { type Fields, isFields } from '../fields.ts'

/**
 * The questions of a call.
 *
 * @param args - `{ questions: [{ question, options: [label], is_multi_select }] }` (a public driver's capture; 2026).
 * @returns none where the arguments hold none that can be shown.
 */
export function questionsOf(args: Fields): readonly Question[] {
  if (!Array.isArray(args.questions)) return []
  const questions = args.questions.map(questionOf)
  return questions.every(question => question !== undefined) ? questions : []
}

function questionOf(value: unknown): Question | undefined {
  if (!isFields(value) || typeof value.question !== 'string' || value.question.trim() === '') return undefined
  const options = Array.isArray(value.options) ? value.options.map(labelOf) : []
  if (options.some(option => option === undefined)) return undefined
  return {
    question: value.question,
    // A label that stands twice could not be told apart in the answer.
    options: [...new Set(options as string[])],
    multiple: value.is_multi_select === true,
  }
}

function labelOf(option: unknown): string | undefined {
  const label = isFields(option) ? option.label : option
  return typeof label === 'string' && label !== '' ? label : undefined
}

/** What came of the questions. */
export interface Told {
  /** For the card. */
  readonly shown: string
  /** For the model. */
  readonly reason: string
  readonly answered: boolean
}

/** Put what came of the questions into words. */
export function tellAnswer(questions: readonly Question[], answer: Answer): Told {
  switch (answer.kind) {
    case 'answered': {
      const words = questions.map(({ question }, at) => `${question}\n${worded(answer.answers[at])}`).join('\n\n')
      const answers = questions.map(({ question }, at) => ({ id: `q${at + 1}`, question, ...answer.answers[at] }))
      return {
        // The card counts the answers in it.
        shown: JSON.stringify({ answers }),
        reason: `This is no refusal: the user has answered your question. The answer:\n${words}\nGo on with this answer; do not ask the same again.`,
        answered: true,
      }
    }
    case 'cancelled':
      return unanswered('The user was asked and gave no answer: the question was dismissed or ran out of time.')
    case 'nobody':
      return unanswered('Nobody is there to answer: this session has no user at hand.')
  }
}

const unanswered = (what: string): Told => ({
  shown: what,
  reason: `${what} Do not ask again; go on with what you judge best and say what you assumed.`,
  answered: false,
})

function worded(item: { readonly selected: readonly string[]; readonly custom?: string } | undefined): string {
  const parts = [...(item?.selected ?? []).map(label => JSON.stringify(label)), ...(item?.custom ? [item.custom] : [])]
  return parts.length === 0 ? '(skipped by the user)' : parts.join(', ')
}
