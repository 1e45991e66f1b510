/**
 * The only writer to the log: turns the events of a run into the log of one dsh step, and closes it validly whatever
 * happened.
 *
 * Order is message, call, result. A step has one message, so whatever would need a second one belongs to the next step.
 * What streams live is what is stored: the message is assembled from the very chunks that were shown.
 */
import {
  appendCall,
  appendMessage,
  appendResult,
  BlockAssembler,
  callId,
  closeOpenCalls,
  type LiveAnswer,
  type RequestFacts,
  type Session,
  type StepPlace,
  type StreamChunk,
} from '../host/session-log.ts'
import type { EngineEvent, EngineUsage, FileChange } from './contract.ts'
import { sumOfUsage } from './usage.ts'

type Content = Extract<EngineEvent, { type: 'text' | 'text-settled' | 'tool-call' | 'tool-result' | 'usage' }>

/**
 * Pieces that arrive within this many milliseconds of the last one written are written as one: each is a durable row,
 * and nobody reads faster. The first piece is never held back.
 */
const COALESCE_MS = 6

interface OpenCall {
  /** Position of its event in the log. */
  readonly seq: number
  readonly changes: readonly FileChange[]
}

/** Writes one step. */
export class StepRecorder {
  private readonly session: Session
  private readonly place: StepPlace
  private readonly request: RequestFacts
  private readonly answer: LiveAnswer
  private readonly assembler = new BlockAssembler()
  private readonly openCalls = new Map<string, OpenCall>()
  private nextBlock = 0
  private openText: { index: number; text: string } | undefined
  private pendingText = ''
  private textWrittenAt = Number.NEGATIVE_INFINITY
  private flushTimer: NodeJS.Timeout | undefined
  private flushError: unknown
  private usage: EngineUsage | undefined
  private usageShown = false
  private messageWritten = false

  constructor(session: Session, place: StepPlace, request: RequestFacts, answer: LiveAnswer) {
    this.session = session
    this.place = place
    this.request = request
    this.answer = answer
  }

  /** Whether the event can only be told in a step of its own. */
  belongsToNextStep(event: EngineEvent): boolean {
    if (!this.messageWritten) return false
    switch (event.type) {
      case 'text':
      case 'text-settled':
      case 'tool-call':
      case 'usage':
        return true
      default:
        return false
    }
  }

  /** Whether a call of this step has no result yet. */
  get hasOpenCall(): boolean {
    return this.openCalls.size > 0
  }

  /** Write one event of this step. */
  record(event: Content): void {
    if (this.flushError !== undefined) throw this.flushError
    switch (event.type) {
      case 'text':
        this.text(event.text)
        return
      case 'text-settled':
        this.closeText(event.text)
        return
      case 'usage':
        this.usage = sumOfUsage(this.usage, event.usage)
        return
      case 'tool-call':
        this.call(event)
        return
      case 'tool-result':
        this.result(event)
    }
  }

  /** The step ended well: write what is still to be written, and close calls that never ended. */
  complete(): void {
    if (this.hasUnwritten) this.message({ kind: 'stop' }, false)
    if (this.hasOpenCall) this.closeCalls()
  }

  /** The step was cut short: keep the text that was shown, and close calls that never ended. */
  interrupt(): void {
    clearTimeout(this.flushTimer)
    try {
      this.closeInterrupted()
    } catch {
      // The host takes what it refused inside another append, and nothing else would close this step before its end.
      this.closeInterrupted()
    }
  }

  private get hasUnwritten(): boolean {
    return !this.messageWritten && (this.nextBlock > 0 || this.pendingText !== '' || this.usage !== undefined)
  }

  private closeInterrupted(): void {
    if (this.hasUnwritten) this.message(undefined, true)
    this.closeCalls()
  }

  private closeCalls(): void {
    closeOpenCalls(this.session)
    this.openCalls.clear()
  }

  private chunk(chunk: StreamChunk): void {
    this.answer.push(chunk)
    this.assembler.push(chunk)
  }

  private text(text: string): void {
    this.pendingText += text
    const wait = this.textWrittenAt + COALESCE_MS - performance.now()
    if (wait <= 0) this.flushText()
    else this.flushTimer ??= setTimeout(() => this.flushFromTimer(), wait)
  }

  private flushFromTimer(): void {
    try {
      this.flushText()
    } catch (error) {
      // Nobody awaits a timer: the next event of the step throws it.
      this.flushError = error
    }
  }

  // In what follows each append stands before what it changes here: one that the host refuses has changed nothing.

  private flushText(): void {
    clearTimeout(this.flushTimer)
    this.flushTimer = undefined
    const text = this.pendingText
    if (text === '') return
    if (this.openText === undefined) {
      this.chunk({ type: 'block-start', index: this.nextBlock, blockType: 'text' })
      this.openText = { index: this.nextBlock, text: '' }
      this.nextBlock += 1
    }
    this.chunk({ type: 'text-delta', index: this.openText.index, text })
    this.pendingText = ''
    this.openText.text += text
    this.textWrittenAt = performance.now()
  }

  /** Close the open text with the words that are stored: the shown ones, unless better ones are given. */
  private closeText(settled?: string): void {
    this.flushText()
    if (this.openText === undefined) {
      if (settled === undefined || settled === '') return
      this.text(settled)
      this.closeText()
      return
    }
    const { index, text } = this.openText
    this.chunk({ type: 'block-end', index, block: { type: 'text', text: settled ?? text } })
    this.openText = undefined
  }

  private call(call: Extract<EngineEvent, { type: 'tool-call' }>): void {
    this.closeText()
    const index = this.nextBlock
    this.nextBlock += 1
    const id = callId(call.id)
    this.chunk({ type: 'block-start', index, blockType: 'tool-call' })
    this.chunk({ type: 'tool-call-delta', index, id, name: call.name, argumentsDelta: call.arguments })
    this.chunk({
      type: 'block-end',
      index,
      block: { type: 'tool-call', id, name: call.name, arguments: call.arguments },
    })
    this.message({ kind: 'tool-calls' }, false)
    this.openCalls.set(call.id, { seq: appendCall(this.session, this.place, call), changes: call.changes ?? [] })
  }

  private result(result: Extract<EngineEvent, { type: 'tool-result' }>): void {
    const call = this.openCalls.get(result.id)
    if (call === undefined) return
    this.openCalls.delete(result.id)
    appendResult(this.session, this.place, { ...result, changes: result.isError ? [] : call.changes }, call.seq)
  }

  private message(finish: { kind: 'stop' } | { kind: 'tool-calls' } | undefined, interrupted: boolean): void {
    if (interrupted) this.flushText()
    else this.closeText()
    const { usage } = this
    if (usage !== undefined && !this.usageShown) {
      this.chunk({ type: 'usage', usage })
      this.usageShown = true
    }
    if (finish !== undefined) this.chunk({ type: 'finish', reason: finish })
    const content = interrupted ? this.assembler.interruptedBlocks() : this.assembler.blocks()
    if (interrupted && content.length === 0 && usage === undefined) {
      this.answer.drop()
      return
    }
    appendMessage(this.answer, {
      content,
      config: this.request.config,
      interrupted,
      ...(usage === undefined ? {} : { usage }),
    })
    // Only now: a message that the host refused is tried again as an interrupted one.
    this.messageWritten = true
  }
}
