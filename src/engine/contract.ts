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
  /** Distinct within the session, e.g. `t3s1`: names the run's calls when the CLI tells no conversation id. */
  readonly scope: string
  /** A call of the host's own, such as a title: it waits for no other run, and no setting may widen its permissions. */
  readonly auxiliary?: true
  /** Aborting it is the user's stop: the run ends with an `aborted` outcome. */
  readonly signal: AbortSignal
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

/** One neutral event of a run. Every run ends with exactly one `end`, and nothing follows it. */
export type EngineEvent =
  /** A piece of the answer, to be shown at once. */
  | { readonly type: 'text'; readonly text: string }
  /** The whole text since the last call, better than the pieces that were shown: it is what is stored. */
  | { readonly type: 'text-settled'; readonly text: string }
  /** A tool started. `arguments` is the JSON text that is both shown and stored. */
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly arguments: string }
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
}

/** Marks a switch over a closed union as complete. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}
