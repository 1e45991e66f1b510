/** The host's own model calls (titles, compaction), answered by one run of the engine that may do nothing but talk. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GenerateOptions, StreamChunk } from '../host/llm.ts'
import { withResultBlock } from '../host/tool-result.ts'
import type { EngineUsage, HostedEngine, Outcome, StepRequest } from './contract.ts'
import type { Transcript } from './transcript.ts'
import type { TranscriptItem } from './transcript-entry.ts'
import { sumOfUsage } from './usage.ts'

/** Longest auxiliary call, in milliseconds; the caller may have a shorter one. */
const LIMIT_MS = 3 * 60_000

/**
 * Answer one call.
 *
 * @param engine - runs it, outside the workspace, with the strictest permissions.
 * @param transcript - frames the messages.
 * @param options - the host's call.
 * @returns one text block with its usage, or the finish of a failure.
 */
export async function* answerAuxiliary(
  engine: HostedEngine,
  transcript: Transcript,
  options: GenerateOptions,
): AsyncGenerator<StreamChunk> {
  const limit = AbortSignal.timeout(LIMIT_MS)
  const cwd = await mkdtemp(join(tmpdir(), 'dsh-agy-auxiliary-'))
  try {
    const request: StepRequest = {
      prompt: transcript.render(itemsOf(options)),
      cwd,
      model: options.model,
      permissions: { confined: true, everythingAllowed: false },
      scope: options.purpose ?? 'auxiliary',
      auxiliary: true,
      signal: options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]),
      ...(options.reasoningEffort !== undefined && { effort: options.reasoningEffort }),
    }
    let text = ''
    let usage: EngineUsage | undefined
    for await (const event of engine.run(request)) {
      if (event.type === 'text') text += event.text
      if (event.type === 'text-settled') text = event.text
      if (event.type === 'usage') usage = sumOfUsage(usage, event.usage)
      if (event.type !== 'end') continue
      if (text !== '') yield* textBlock(text)
      if (usage !== undefined) yield { type: 'usage', usage }
      yield { type: 'finish', reason: finishOf(event.outcome, limit.aborted) }
    }
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

/** System text and messages in order; the last one is what is asked. */
function itemsOf({ system, messages }: GenerateOptions): TranscriptItem[] {
  const instructions =
    system === undefined
      ? []
      : [{ role: 'user', source: { kind: 'plugin', plugin: 'dsh' }, content: [{ type: 'text', text: system }] }]
  const asked = messages.at(-1)
  return [...instructions, ...messages.slice(0, -1), ...(asked ? [{ ...asked, source: { kind: 'user' } }] : [])].map(
    message => ({ message: withResultBlock(message), interrupted: false }),
  )
}

function* textBlock(text: string): Generator<StreamChunk> {
  yield { type: 'block-start', index: 0, blockType: 'text' }
  yield { type: 'text-delta', index: 0, text }
  yield { type: 'block-end', index: 0, block: { type: 'text', text } }
}

type Finish = Extract<StreamChunk, { type: 'finish' }>['reason']

function finishOf(outcome: Outcome, tooLate: boolean): Finish {
  switch (outcome.kind) {
    case 'completed':
      return { kind: 'stop' }
    case 'max-tokens':
      return { kind: 'max-tokens' }
    case 'aborted':
      return tooLate
        ? { kind: 'error', failure: { code: 'ENGINE_AUXILIARY_TIMEOUT', message: 'The call took longer than it may.' } }
        : { kind: 'aborted', failure: { code: 'ABORTED', message: 'The call was stopped.' } }
    case 'failed':
      return { kind: 'error', failure: { code: outcome.code, message: `${outcome.message} ${outcome.hint}` } }
  }
}
