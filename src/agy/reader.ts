/** Reads one child to its result: lines become frames, frames become events; in a gated run what the CLI asks stands among them. */
import { PassThrough } from 'node:stream'
import type { EngineEvent } from '../engine/contract.ts'
import type { Fold } from './fold.ts'
import { FrameParser } from './frames.ts'
import { deny } from './hooks/ask.ts'
import type { Breach } from './hooks/gated-calls.ts'
import type { GateInput, RunGate } from './hooks/run-gate.ts'
import type { Lines } from './lines.ts'
import { isHopeless } from './outcome.ts'
import type { AgyChild } from './process.ts'
import type { RunClock } from './run-clock.ts'
import { decodeFrame } from './wire.ts'

/** What a reading needs. */
export interface Reading {
  readonly child: AgyChild
  readonly fold: Fold
  readonly clock: RunClock
  /** Absent where nobody is asked about the calls. */
  readonly gate?: RunGate
  /** Takes up lines that hold no frame. */
  problem(line: string): void
  /** No further try of the CLI can succeed. */
  giveUp(): void
  /** The gate does not hold: the child must not go on. */
  breached(breach: Breach): void
}

/** Yields what the child tells, until its result or a breach. */
export async function* readChild(reading: Reading): AsyncGenerator<EngineEvent> {
  const { child, gate, fold } = reading
  const parser = new FrameParser()
  if (gate === undefined) {
    for await (const lines of child.lines) if (yield* take(reading, parser, lines)) return
    return
  }
  for await (const input of inOneLine(child.lines, gate)) {
    let hasSettled = false
    const taken = 'lines' in input ? take(reading, parser, input.lines) : takeAsked(reading, input)
    let next = taken.next()
    for (; !next.done; next = taken.next()) {
      hasSettled ||= next.value.type === 'tool-result'
      yield next.value
    }
    for (const place of fold.takeUndecided()) gate.withdraw(place)
    const breach = fold.breach ?? (hasSettled ? await gate.tampering() : undefined)
    if (breach !== undefined) reading.breached(breach)
    if (breach !== undefined || next.value) return
  }
}

/**
 * What has arrived at once. Pieces of text that follow each other are told as one: each event takes its whole way through the
 * engine before the host looks after anything else, and a busy child writes hundreds at once.
 *
 * @returns whether the run is over.
 */
function* take(
  { fold, clock, child, problem, giveUp }: Reading,
  parser: FrameParser,
  lines: readonly Lines[],
): Generator<EngineEvent, boolean> {
  let words = ''
  const told = function* (events: readonly EngineEvent[]): Generator<EngineEvent> {
    for (const event of events) {
      if (event.type === 'text') {
        words += event.text
        continue
      }
      yield* rest()
      yield event
    }
  }
  const rest = function* (): Generator<EngineEvent> {
    if (words !== '') yield { type: 'text', text: words }
    words = ''
  }
  for (const frame of parser.parse(lines)) {
    if ('problem' in frame) {
      problem(frame.problem)
      continue
    }
    const events = fold.push(decodeFrame(frame.value))
    yield* told(events)
    if (fold.isOver || fold.breach !== undefined) {
      yield* rest()
      return fold.isOver
    }
    if (events.some(isFailedModelCall) && isHopeless(child.stderr())) giveUp()
  }
  yield* rest()
  if (lines.length > 0) clock.heard(fold.isToolOpen)
  return false
}

/** @returns whether the run is over. */
function* takeAsked({ fold, clock, breached }: Reading, input: GateInput): Generator<EngineEvent, boolean> {
  switch (input.kind) {
    case 'breached':
      breached(input.breach)
      return true
    case 'decided':
      yield* fold.decide(input.ask, input.decision)
      clock.resume()
      input.tell()
      return false
    case 'asked': {
      const { events, id, refusal } = fold.ask(input.ask)
      yield* events
      if (refusal !== undefined) {
        input.answer(deny(refusal))
      } else if (input.refusal !== undefined) {
        yield* fold.decide(input.ask, { kind: 'denied', reason: input.refusal })
        input.answer(deny(input.refusal))
      } else {
        clock.pause()
        input.consider(id)
      }
      return false
    }
  }
}

type Input = { readonly lines: readonly Lines[] } | GateInput

/** What the child says and what the CLI asks, as it comes. Who stops early leaves a child whose output is still drained. */
function inOneLine(lines: AsyncIterable<readonly Lines[]>, gate: RunGate): AsyncIterable<Input> {
  const line = new PassThrough({ objectMode: true })
  let goOn: () => void = () => {}
  for (const event of ['drain', 'close']) line.on(event, () => goOn())
  const pump = async (): Promise<void> => {
    for await (const batch of lines) {
      if (line.destroyed || line.write({ lines: batch })) continue
      await new Promise<void>(resolve => {
        goOn = resolve
      })
    }
    line.end()
  }
  pump().catch(error => line.destroy(error))
  gate.feed(input => line.writable && line.write(input))
  return line
}

const isFailedModelCall = (event: EngineEvent): boolean =>
  event.type === 'notice' && event.code === 'AGY_MODEL_CALL_FAILED'
