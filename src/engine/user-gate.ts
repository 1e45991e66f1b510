/** Decides on the calls of a hosted run: by the session's rules where they decide, by asking the user where they do not. */
import type { PermissionKnobs } from '../host/permission-knobs.ts'
import type { UserDialogs } from '../host/user-dialogs.ts'
import type { Answer, Gate, GatedCall, Question, Verdict } from './contract.ts'
import { ruleOf } from './permissions.ts'

/** What a gate stands on. */
export interface GateGround {
  /** The session's knobs, read anew for each call. */
  knobs(): PermissionKnobs
  /** Absolute path of the workspace. */
  readonly workspace: string
  readonly dialogs: UserDialogs
  notice(code: string, message: string): void
}

/** The gate of one session. */
export function userGate({ knobs, workspace, dialogs, notice }: GateGround): Gate {
  let saidThatNobodyIsThere = false

  const nobody = (): void => {
    if (saidThatNobodyIsThere) return
    saidThatNobodyIsThere = true
    notice('ENGINE_NOBODY_TO_ASK', 'The engine would have to ask the user, but nobody can be asked here.')
  }

  const asked = async (call: GatedCall): Promise<Verdict> => {
    const { name, id, kind, summary, isWhole, signal } = call
    // What stands at the end of a command may be what matters of it.
    if (kind === 'command' && !isWhole) {
      return denied(
        'This command is too long to be shown to the person who would have to decide on it. Put it into a file.',
      )
    }
    const outcome = await dialogs.approve(
      { name, reason: `${sentenceOf(call)}\n${summary}`, ...(id !== undefined && { id }) },
      signal,
    )
    switch (outcome) {
      case 'allowed-once': {
        // The user may have tightened the session while the dialog stood open.
        const rule = await ruleOf(call, knobs(), workspace)
        return typeof rule === 'object' ? denied(rule.deny) : { allowed: true }
      }
      case 'rejected':
        return denied('The user refused this call. Do not try it again in another way; ask what to do instead.')
      case 'cancelled':
        return denied('Nobody decided on this call in time, so it may not happen.')
      case 'unavailable':
        nobody()
        return denied('This call needs an approval, and nobody is there to give it.')
    }
  }

  return {
    async decide(call: GatedCall): Promise<Verdict> {
      try {
        const rule = await ruleOf(call, knobs(), workspace)
        if (rule === 'allow') return { allowed: true }
        return rule === 'ask' ? await asked(call) : denied(rule.deny)
      } catch (error) {
        return denied(`The approval could not be asked for: ${error instanceof Error ? error.message : String(error)}`)
      }
    },
    async ask(questions: readonly Question[], signal: AbortSignal): Promise<Answer> {
      const answers = await dialogs.ask(questions, signal)
      if (answers === 'unavailable') nobody()
      if (typeof answers === 'string') return { kind: answers === 'cancelled' ? 'cancelled' : 'nobody' }
      return { kind: 'answered', answers }
    },
  }
}

const denied = (reason: string): Verdict => ({ allowed: false, reason })

function sentenceOf({ kind, name, id }: GatedCall): string {
  const who = id === undefined ? 'A subagent of Antigravity' : 'Antigravity'
  switch (kind) {
    case 'command':
      return `${who} wants to run a command (${name}):`
    case 'write':
      return `${who} wants to change files (${name}):`
    case 'network':
      return `${who} wants to use the network (${name}):`
    default:
      return `${who} wants to use "${name}":`
  }
}
