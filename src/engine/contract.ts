/**
 * The seam between the dsh side of the house and a CLI that drives a step.
 *
 * An engine is given everything it may know in one `StepRequest` and answers with neutral events. It never sees the
 * session, and the rooms that do see the session never learn which CLI is behind the events.
 */

/** Stable name of an engine: the id of the provider route whose models it serves. */
export type EngineId = string

/** A file that goes with a prompt. */
export interface PromptFile {
  /** Name in the prompt and on disk; a plain file name. */
  readonly alias: string
  /** Its bytes or its UTF-8 text; may reject. */
  content(): Promise<Uint8Array | string>
}

/** The serialized session, ending in what is to be answered. */
export interface Prompt {
  readonly files: readonly PromptFile[]
  /**
   * The text, once it is known where the files lie.
   *
   * @param places - absolute path of each file that could be written, by its alias.
   */
  text(places: ReadonlyMap<string, string>): string
}

/** What the run may do. */
export interface Permissions {
  /** Commands are to be confined as far as the engine can. */
  readonly confined: boolean
  /** Nothing needs to be asked for. */
  readonly everythingAllowed: boolean
}

/** What a call would do; what an engine does not know is `other`, which counts as the most dangerous. */
export type ToolKind = 'read' | 'write' | 'command' | 'network' | 'other'

/** A call that waits for a word on whether it may happen. */
export interface GatedCall {
  /** Id of its `tool-call` event; absent for a call that has none, such as one of the engine's own subagents. */
  readonly id?: string
  readonly name: string
  readonly kind: ToolKind
  /** What it would do, in plain words or code: this is what a person decides on. */
  readonly summary: string
  /** Whether nothing is left out of the summary. */
  readonly isWhole: boolean
  /** Files that it would write, as it names them. */
  readonly targets: readonly string[]
  /** Aborted when nobody waits for the word any more. */
  readonly signal: AbortSignal
}

/** The word on a gated call; the reason is a sentence for the model and the user. */
export type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly reason: string }

/** One question of the model to the user. */
export interface Question {
  readonly question: string
  /** Labels to choose from; none asks for free text. */
  readonly options: readonly string[]
  readonly multiple: boolean
}

/** What came of a question; `nobody` where no user can be reached at all. */
export type Answer =
  | {
      readonly kind: 'answered'
      /** In the order of the questions. */
      readonly answers: readonly { readonly selected: readonly string[]; readonly custom?: string }[]
    }
  | { readonly kind: 'cancelled' | 'nobody' }

/** Who decides about calls, and answers questions, while a run is under way. */
export interface Gate {
  /** Decide on one call, by the session's rules as they stand now or by asking the user. Never rejects. */
  decide(call: GatedCall): Promise<Verdict>
  /** Put questions to the user. Never rejects. */
  ask(questions: readonly Question[], signal: AbortSignal): Promise<Answer>
}

/** Everything an engine may know about one run. */
export interface StepRequest {
  readonly prompt: Prompt
  /** Absolute path of the workspace. */
  readonly cwd: string
  /** Model id of the engine's own catalogue; absent means the engine's default. */
  readonly model?: string
  /** Reasoning effort that the session picked, in the engine's own words. */
  readonly effort?: string
  readonly permissions: Permissions
  /** Decides about the run's calls, for an engine that can be stopped before each of them. */
  readonly gate?: Gate
  /** Distinct within the session, e.g. `t3s1`: begins the ids of the run's calls. */
  readonly scope: string
  /** Settles when what the run is told is durable: nothing that could act on it may be told before. */
  readonly durable?: Promise<unknown>
  /** What was started ahead for this run, if it fits; see {@link HostedEngine.startAhead}. */
  readonly ahead?: StartedAhead
  /** A call of the host's own, such as a title: it waits for no other run, and no setting may widen its permissions. */
  readonly auxiliary?: true
  /** Aborting it is the user's stop: the run ends with an `aborted` outcome. */
  readonly signal: AbortSignal
}

/** What a run that is only likely would be started with. */
export type LikelyRequest = Omit<StepRequest, 'prompt' | 'scope' | 'signal' | 'durable' | 'ahead' | 'auxiliary'>

/** Something that waits for its run, for a bounded time. */
export interface StartedAhead {
  /** It will not be used. Safe to call at any time; resolves when nothing of it is left. */
  end(): Promise<void>
}

/** Token counts of one model call, disjoint: `inputTokens` counts uncached input only, reasoning is part of the output. */
export interface EngineUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly reasoningTokens?: number
}

/** How a run ended. `code` is stable and machine-readable; `message` and `hint` are sentences for the user. */
export type Outcome =
  | { readonly kind: 'completed' }
  | { readonly kind: 'max-tokens' }
  | { readonly kind: 'aborted' }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      readonly retryable: boolean
      readonly hint: string
    }

/** What a call changes in one file. */
export interface FileChange {
  readonly path: string
  /** The replaced text; `null` where a whole file is written. */
  readonly before: string | null
  readonly after: string
}

/** One neutral event of a run. Every run ends with exactly one `end`, and nothing follows it. */
export type EngineEvent =
  /** A piece of the answer, to be shown at once. */
  | { readonly type: 'text'; readonly text: string }
  /** The whole text since the last call, better than the pieces that were shown: it is what is stored. */
  | { readonly type: 'text-settled'; readonly text: string }
  /**
   * A tool started. `arguments` is the JSON text that is both shown and stored. Where the host has a tool that does the same, name
   * and arguments are in its words (`bash`, `read`, `write`, `edit`, `glob`, `grep`, `web_search`, `web_fetch`, `subagent`,
   * `ask_user_question`), so that its own cards show the call.
   */
  | {
      readonly type: 'tool-call'
      readonly id: string
      readonly name: string
      readonly arguments: string
      readonly changes?: readonly FileChange[]
    }
  /** The one result of an announced call. */
  | { readonly type: 'tool-result'; readonly id: string; readonly text: string; readonly isError: boolean }
  /** Tokens to be added to the message under way. */
  | { readonly type: 'usage'; readonly usage: EngineUsage }
  /** Something a person may want to know that is neither answer nor failure. */
  | { readonly type: 'notice'; readonly code: string; readonly message: string }
  | { readonly type: 'end'; readonly outcome: Outcome }

/** Drives one run of a hosted session; a run may span several dsh steps. */
export interface HostedEngine {
  readonly id: EngineId
  /**
   * Start one run.
   *
   * @param request - all that the engine may know.
   * @returns events in the order in which they happened, always ended by exactly one `end`. Returning the iterator
   *   early stops whatever the run started.
   */
  run(request: StepRequest): AsyncGenerator<EngineEvent, void, undefined>
  /**
   * Begin what a likely run needs before it can work. Nothing of it is ever told: a run that gets no use of it is the same.
   *
   * @returns what `StepRequest.ahead` takes; `undefined` if nothing was begun.
   */
  startAhead?(request: LikelyRequest): StartedAhead | undefined
}

/** Marks a switch over a closed union as complete. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}
