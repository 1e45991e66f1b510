/** `dsh-agy replay`: runs a recording through the real engine and the real session store. */
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import type { EngineEvent, Outcome } from '../engine/contract.ts'
import { generationOf, refusal } from '../host/generation.ts'
import { CommandRefusal, type Io, readCommandLine, tellRefusals } from './command-line.ts'
import { readLog } from './log-file.ts'
import { checkLog } from './log-rules.ts'
import { Narrator } from './narrator.ts'
import { LONG_BYTES, Progress } from './progress.ts'
import { playingChild, readRecording } from './recording.ts'
import { openReplayHost, type Playback } from './replay-host.ts'

const USAGE = `dsh-agy replay <frames.ndjson or probe folder> [--json]

  --json   one JSON object: outcome, text, segments, tools, usage, notices, log, valid, violations

Exit codes: 0 the run completed, 2 it ended with a named failure, 3 the log is invalid, 1 not readable or wrong usage.`

/** A playback in sum. */
export interface Told {
  readonly outcome: Outcome
  readonly text: string
  readonly segments: readonly string[]
  readonly tools: readonly {
    id: string
    name: string
    arguments: string
    result: string | null
    isError: boolean | null
  }[]
  readonly usage: Narrator['tokens']
  readonly notices: readonly { code: string; message: string }[]
  readonly log: string
  readonly valid: boolean
  readonly violations: readonly { rule: string; seq: number; message: string }[]
}

const textOf = (event: SessionEvent<'assistant/message'>): string =>
  event.data.message.content.map(block => (block.type === 'text' ? block.text : '')).join('')

/** Sum a playback up, with the verdict over its durable log. */
export async function summarize({ session, events }: Playback, log: string): Promise<Told> {
  const narrator = new Narrator(() => {})
  for (const event of session.events) narrator.tell(event)
  const messages = session.events.filter(event => event.type === 'assistant/message')
  const results = new Map(
    session.events.flatMap(event => {
      if (event.type !== 'tool/result') return []
      const [block] = event.data.message.content
      const text = block.content.map(part => (part.type === 'text' ? part.text : '')).join('')
      return [[String(block.toolCallId), { text, isError: block.isError ?? false }] as const]
    }),
  )
  const violations = checkLog((await readLog(log)).events, { complete: true })
  const end = events.find(event => event.type === 'end')
  if (end === undefined) throw new Error(`the engine did not say how the run ended; its log is ${log}`)
  return {
    outcome: end.outcome,
    text: messages.map(textOf).join(''),
    segments: messages.map(textOf).filter(text => text !== ''),
    tools: session.events.flatMap(event => {
      if (event.type !== 'tool/call') return []
      const { callId, name, arguments: args } = event.data
      const result = results.get(callId)
      return [{ id: callId, name, arguments: args, result: result?.text ?? null, isError: result?.isError ?? null }]
    }),
    usage: narrator.tokens,
    notices: events
      .filter(event => event.type === 'notice')
      .map(({ code, message }: Extract<EngineEvent, { type: 'notice' }>) => ({ code, message })),
    log,
    valid: violations.length === 0,
    violations,
  }
}

function tell(told: Told, playback: Playback, io: Io): void {
  let text = ''
  const narrator = new Narrator(piece => {
    text += piece
  })
  for (const event of playback.session.events) narrator.tell(event)
  for (const line of text.trimEnd().split('\n')) io.out(line)
  io.out('')
  for (const { code, message } of told.notices) io.out(`notice ${code}: ${message}`)
  const { outcome } = told
  io.out(`usage: ${narrator.usage()}`)
  io.out(
    outcome.kind === 'failed' ? `ended: ${outcome.code}: ${outcome.message} ${outcome.hint}` : `ended: ${outcome.kind}`,
  )
  io.out(`log: ${told.log}`)
  for (const { rule, seq, message } of told.violations) io.out(`${rule} at seq ${seq}: ${message}`)
  io.out(`log ${told.valid ? 'valid' : 'invalid'}`)
}

/** 0 completed, 2 a named failure, 3 an invalid log. */
export function exitCode({ valid, outcome }: Pick<Told, 'valid' | 'outcome'>): number {
  if (!valid) return 3
  return outcome.kind === 'completed' || outcome.kind === 'max-tokens' ? 0 : 2
}

/**
 * Run the command.
 *
 * @param args - what follows the command's name.
 * @param io - where the story and the complaints go.
 * @returns the exit code: 0 completed, 2 a named failure, 3 an invalid log, 1 not readable or wrong usage.
 */
export async function replay(args: readonly string[], io: Io): Promise<number> {
  const line = readCommandLine(args, { usage: USAGE, operand: 'recording', switches: ['json'] }, io)
  if (typeof line === 'number') return line
  return tellRefusals(io, async () => {
    const generation = generationOf()
    if (generation !== 'first') {
      // The small host that plays a recording is put together as the first generation is.
      const { code, problem } = typeof generation === 'object' ? generation : refusal('it writes session format 4')
      throw new CommandRefusal(code, problem)
    }
    const recording = readRecording(line.operand)
    const progress = new Progress(io)
    progress.at('replaying the recording', recording.frames.length > LONG_BYTES)
    const host = await openReplayHost()
    try {
      const playback = await host.play(() => playingChild(recording))
      const told = await summarize(playback, host.logOf(playback.session))
      if (line.given.has('json')) io.out(JSON.stringify(told))
      else tell(told, playback, io)
      return exitCode(told)
    } finally {
      progress.done()
      await host.close()
    }
  })
}
