/**
 * The body of a hosted dsh step: history out, events in, log closed.
 *
 * A run of the engine may outlive the step. New text or a new call after the step's message is written opens the next
 * dsh step (the chat shows one message per step) while the same child goes on.
 */
import { stat } from 'node:fs/promises'
import type { StepVerdict } from '../host/agent-loop.ts'
import {
  appendRequest,
  eventsOf,
  historyOf,
  type LiveAnswer,
  type RequestFacts,
  type Session,
  type StepPlace,
} from '../host/session-log.ts'
import { boundedText } from './bounded-text.ts'
import type { Gate, HostedEngine, LikelyRequest, Outcome, Permissions, StartedAhead } from './contract.ts'
import { assertNever } from './contract.ts'
import { HostedRun, type RunPurpose } from './hosted-run.ts'
import { invokedSkill } from './skills.ts'
import { StepRecorder } from './step-recorder.ts'
import type { Transcript } from './transcript.ts'

/** A step's failure in the form that the host's turn machine understands. */
export type StepFailure = new (message: string, code: string) => Error

/**
 * What the user's words in mid-turn do: `interrupt` ends the child at its next settled call, so that a new one hears
 * them; `queue` lets the child finish first.
 */
export type Steering = 'interrupt' | 'queue'

/** What all hosted steps share. */
export interface Hosting {
  readonly steering: Steering
  readonly transcript: Transcript
  /** What is stored of one tool result, in bytes; head and tail are kept. */
  readonly maxToolResultBytes: number
}

/** What is stored of one tool result: it is shown in the page. */
export const DEFAULT_TOOL_RESULT_BYTES = 256 * 1024

/** Everything that a hosted step is given. */
export interface HostedStepInput {
  readonly hosting: Hosting
  readonly engine: HostedEngine
  readonly session: Session
  readonly place: StepPlace
  /** Where the step's answer streams to. */
  readonly answer: LiveAnswer
  readonly signal: AbortSignal
  readonly request: RequestFacts
  /** Whether nothing in this process has written a request header for the session yet. */
  readonly firstHeader: boolean
  /** Absolute path of the workspace. */
  readonly cwd: string
  /** Make the log durable up to here. */
  flush(): Promise<unknown>
  /** Whether the user said something that the next step should hear. */
  hasPendingInput(): boolean
  notice(code: string, message: string): void
  readonly failure: StepFailure
  readonly permissions: Permissions
  /** Decides on the calls of an engine that asks. */
  readonly gate: Gate
}

/** Drives the hosted steps of one session, one after the other. */
export class HostedSteps {
  private run: HostedRun | undefined
  private ahead: StartedAhead | undefined
  private isStepping = false
  /** Of runs that are given up while nobody waits for their end. */
  private stopping: Promise<void> | undefined

  /** Begin what the next run will probably need; nothing is recorded of it. */
  startAhead(engine: HostedEngine, request: LikelyRequest): void {
    // Too late: the step starts what it needs itself.
    if (this.isStepping) return
    void this.ahead?.end()
    this.ahead = engine.startAhead?.(request)
  }

  /** No hosted step is to be expected: end what is under way or waits. */
  async close(): Promise<void> {
    const { ahead } = this
    this.ahead = undefined
    await Promise.all([ahead?.end(), this.stop()])
  }

  /**
   * Run one step.
   *
   * @returns the verdict for the turn machine: `null` opens another step.
   * @throws the turn's abort reason, or a failure that carries the outcome's code.
   */
  async step(input: HostedStepInput): Promise<StepVerdict> {
    const { session, place, signal } = input
    appendRequest(session, input.request, input.firstHeader)
    const recorder = new StepRecorder(session, place, input.request, input.answer)
    this.isStepping = true
    try {
      const run = await this.runFor(input)
      return await this.record(run, recorder, input)
    } catch (error) {
      try {
        // Close the log before anything that takes time: the host may be on its way out.
        recorder.interrupt()
      } finally {
        await this.stop()
      }
      signal.throwIfAborted()
      throw error
    } finally {
      this.isStepping = false
    }
  }

  /** End the run that is under way, if any: its turn is over. Resolves when nothing is left of it, or of one before it. */
  async stop(): Promise<void> {
    const { run, stopping } = this
    this.run = undefined
    const stopped = Promise.all([stopping, run?.stop()]).then(() => {})
    this.stopping = stopped.catch(() => {})
    await stopped
  }

  private async runFor(input: HostedStepInput): Promise<HostedRun> {
    const { engine, session, place, signal, request, cwd, permissions, gate, hosting } = input
    const { model, reasoningEffort } = request.config
    const purpose: RunPurpose = { engine, model, effort: reasoningEffort, permissions }
    if (this.run !== undefined) {
      const heard = hosting.steering === 'queue' || this.run.hasHeard(eventsOf(session))
      if (!heard || !this.run.serves(purpose)) this.run.abandon()
      // What an abandoned child did before its end belongs into the log, before a new one starts.
      if (!this.run.isAbandoned || (await this.run.peek()).type !== 'end') return this.run
      await this.stop()
    }
    // Two children of one session would work in one folder.
    await this.stopping
    // The child acts on its own: what it is told must be durable before it is told.
    const durable = input.flush()
    // A run that is stopped by then does not wait for it.
    durable.catch(() => {})
    if (!(await isFolder(cwd))) {
      throw new input.failure(
        `The folder of this session, "${cwd}", is not there any more. Bring it back, or open a session in another folder.`,
        'ENGINE_CWD_MISSING',
      )
    }
    signal.throwIfAborted()
    const history = historyOf(session)
    const skill = await invokedSkill(history, cwd)
    const { ahead } = this
    this.ahead = undefined
    this.run = new HostedRun(
      purpose,
      {
        permissions,
        gate,
        prompt: hosting.transcript.render(history, skill),
        cwd,
        model,
        scope: `t${place.turn}s${place.step}`,
        signal,
        durable,
        ...(reasoningEffort === undefined ? {} : { effort: reasoningEffort }),
        ...(ahead && { ahead }),
      },
      session.seq,
    )
    return this.run
  }

  private async record(run: HostedRun, recorder: StepRecorder, input: HostedStepInput): Promise<StepVerdict> {
    for (;;) {
      const event = await run.peek()
      if (recorder.belongsToNextStep(event)) return this.rotate(run, recorder, input)
      run.take()
      switch (event.type) {
        case 'text':
        case 'text-settled':
        case 'tool-call':
        case 'usage':
          recorder.record(event)
          break
        case 'tool-result':
          recorder.record({ ...event, text: boundedText(event.text, input.hosting.maxToolResultBytes) })
          await input.flush()
          if (input.hosting.steering === 'interrupt' && !recorder.hasOpenCall && input.hasPendingInput()) {
            // Steering: the log is the only context, so a new child is told what this one cannot hear.
            run.abandon()
          }
          break
        case 'notice':
          input.notice(event.code, event.message)
          break
        case 'end':
          // Lets the engine let go of what it still holds.
          await this.stop()
          return this.end(event.outcome, run, recorder, input)
        default:
          assertNever(event)
      }
    }
  }

  private rotate(run: HostedRun, recorder: StepRecorder, { session }: HostedStepInput): StepVerdict {
    recorder.complete()
    // What the run has not heard stays unheard, however many steps it goes on for.
    if (run.hasHeard(eventsOf(session))) run.knows(session.seq)
    return null
  }

  private end(outcome: Outcome, run: HostedRun, recorder: StepRecorder, input: HostedStepInput): StepVerdict {
    if (run.isAbandoned) {
      input.signal.throwIfAborted()
      recorder.complete()
      return null
    }
    switch (outcome.kind) {
      case 'completed':
      case 'max-tokens':
        recorder.complete()
        // What was said while the child ran is answered by the next one.
        return run.hasHeard(eventsOf(input.session)) ? { kind: outcome.kind } : null
      case 'aborted':
        input.signal.throwIfAborted()
        throw new input.failure('The run was stopped.', 'ENGINE_STOPPED')
      case 'failed':
        throw new input.failure(`${outcome.message} ${outcome.hint}`, outcome.code)
      default:
        return assertNever(outcome)
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}
