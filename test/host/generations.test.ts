/**
 * What differs between dsh's generations, each difference on both. The first is the installed one; the later one is made
 * of plain objects, see `later-host.ts`, since it cannot be installed.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createUserMessage, LlmError } from '@deepseek-ai/dsh-llm'
import { describe, expect, test } from 'vitest'
import { checkLog, type LogEvent } from '../../src/cli/log-rules.ts'
import { StepRecorder } from '../../src/engine/step-recorder.ts'
import { renderItem } from '../../src/engine/transcript-entry.ts'
import { openAgent } from '../../src/host/agent-loop.ts'
import { callId } from '../../src/host/call-id.ts'
import { generationOf, type HostApi, INSTALLED } from '../../src/host/generation.ts'
import { openAnswer } from '../../src/host/live-answer.ts'
import { refuseSteps } from '../../src/host/own-loop.ts'
import { definitionsIn, offerPresets, type PresetDefinition } from '../../src/host/preset-roots.ts'
import { eventsOf } from '../../src/host/session-events.ts'
import { historyOf } from '../../src/host/session-log.ts'
import { admitStep } from '../../src/host/step-admission.ts'
import { eventsOfRow } from '../../src/host/stored-rows.ts'
import { withResultBlock } from '../../src/host/tool-result.ts'
import { privateFolder } from '../support/folders.ts'
import { say, startHost } from '../support/host.ts'
import { frameSource, LATER, laterSession } from '../support/later-host.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const AT = { turn: 1, step: 1 }
const REQUEST = { config: { provider: 'agy', model: 'default' }, adapterDefaults: {} }
const hello = createUserMessage({ content: [{ type: 'text', text: 'hello' }], source: { kind: 'user' } })
const types = (log: readonly LogEvent[]): string[] => log.map(({ type }) => type)
const ended = (log: readonly LogEvent[]): LogEvent[] =>
  [...log, { type: 'step/end', data: AT }, { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } }].map(
    (event, seq) => ({ ...event, seq }),
  )

describe('a generation', () => {
  const without = (part: keyof HostApi, name: string): HostApi => ({
    ...LATER,
    [part]: { ...LATER[part], [name]: undefined },
  })

  test('is known by its format and by what hosting needs of it', () => {
    expect(generationOf(INSTALLED)).toBe('first')
    expect(generationOf(LATER)).toBe('later')
  })

  test.each<[string, HostApi, string]>([
    ['of another format', { ...LATER, session: { ...LATER.session, SESSION_FORMAT_VERSION: 3 } }, 'session format 3'],
    ['of no format', without('session', 'SESSION_FORMAT_VERSION'), 'session format unknown'],
    ['without its brand of ids', without('llm', 'ToolCallId'), 'dsh-llm has no ToolCallId'],
    ['without its streams', without('llm', 'AssistantStreamAccumulator'), 'no AssistantStreamAccumulator'],
    ['without its system prompt', without('llm', 'createSystemMessage'), 'no createSystemMessage'],
    ['without its repair', without('session', 'interruptedTurnClosers'), 'dsh-session has no interruptedTurnClosers'],
    ['of the first, with later names', { ...INSTALLED, llm: LATER.llm }, 'dsh-llm has no CallId'],
  ])('%s is refused by name, with what was found and the way out', (_, host, found) => {
    expect(generationOf(host)).toEqual({
      code: 'ENGINE_HOST_UNSUPPORTED',
      problem: expect.stringMatching(new RegExp(`${found}.*Pick a model of another provider`)),
    })
  })
})

describe('a refused step', () => {
  const routed = (host: HostApi, provider: string): Promise<unknown> => {
    let answer: Promise<unknown> = Promise.resolve()
    const on = (_event: string, route: (payload: object, next: () => unknown) => Promise<unknown>) => {
      answer = route({}, async () => ({ provider, model: 'm' }))
    }
    refuseSteps({ on } as never, 'agy', { code: 'ENGINE_HOST_UNSUPPORTED', problem: 'So it is.' }, host)
    return answer
  }

  test('ends with the code, also where the host has no error to carry it', async () => {
    await expect(routed(INSTALLED, 'agy')).rejects.toMatchObject({
      code: 'ENGINE_HOST_UNSUPPORTED',
      message: 'So it is.',
    })
    await expect(routed({ ...LATER, llm: {} }, 'agy')).rejects.toThrow('ENGINE_HOST_UNSUPPORTED: So it is.')
  })

  test('is never one of another provider', async () => {
    expect(await routed(INSTALLED, 'echo')).toEqual({ provider: 'echo', model: 'm' })
  })
})

describe('the id of a call', () => {
  test.each([
    ['first', INSTALLED],
    ['later', LATER],
  ])('is branded in the %s generation', (_, host) => {
    expect(callId('call-1', host)).toBe('call-1')
  })
})

describe('the result of a call', () => {
  const content = [{ type: 'text', text: 'no such file' }]
  const first = {
    role: 'user',
    source: { kind: 'tool', callId: 'a' },
    content: [{ type: 'tool-result', toolCallId: 'a', isError: true, content }],
  }
  const later = { role: 'tool', source: { kind: 'tool', callId: 'a' }, toolCallId: 'a', isError: true, content }

  test('is one entry of the prompt, whichever generation wrote it', () => {
    const bounds = { maxTextBytes: 1_000, maxToolResultBytes: 1_000 }
    for (const message of [first, later]) {
      const item = { message: withResultBlock(message), interrupted: false }
      expect(renderItem(item, bounds).text).toBe('\n# tool failed\n| no such file\n')
    }
  })

  test('is read once', () => {
    expect(withResultBlock(later)).toBe(withResultBlock(later))
    expect(withResultBlock(first)).toBe(first)
  })
})

describe('the history', () => {
  test('of the later generation leaves out what is about dsh alone', () => {
    const { session } = laterSession()
    const append = session.append.bind(session) as unknown as (type: string, data: object, intent: object) => void
    const message = { role: 'system', content: [{ type: 'text', text: 'You are dsh.' }], source: { kind: 'x' } }
    append('system/message', { ...AT, message }, { surfaceOp: 'append' })
    append('developer/message', { ...AT, message }, { surfaceOp: 'append' })
    append('user/message', hello, { surfaceOp: 'append' })
    append('assistant/attempt', { ...AT, stream: [] }, {})
    expect(historyOf(session)).toEqual([{ message: hello, interrupted: false }])
  })

  test('knows the summary of a compaction in the later generation', () => {
    const message = {
      role: 'user',
      content: [{ type: 'text', text: 'before' }],
      source: { kind: 'compact-checkpoint' },
    }
    const bounds = { maxTextBytes: 1_000, maxToolResultBytes: 1_000 }
    expect(renderItem({ message, interrupted: false }, bounds).text).toBe(
      '\n# summary of the log up to here\n| before\n',
    )
  })

  test('is read from the events that each generation holds', async () => {
    const { session, log } = laterSession()
    expect(eventsOf(session)).toEqual(log())
    const host = await startHost({ env: { AGY_STANDIN_PROBE: '01-text-answer' } })
    const agent = await host.create()
    await say(agent, 'hello')
    expect(eventsOf(agent.session)).toBe(agent.session.events)
  })
})

describe('the messages of a step', () => {
  test('are written by the later generation behind an empty system prompt, once', () => {
    const { session, log } = laterSession()
    admitStep(session, AT, { kind: 'enter', messages: [hello] }, LlmError, LATER)
    admitStep(session, AT, { kind: 'enter', messages: [] }, LlmError, LATER)
    expect(log().slice(2)).toMatchObject([
      { type: 'system/message', data: { ...AT, message: { role: 'system', content: [] } }, surfaceOp: 'append' },
      { type: 'user/message', data: hello, surfaceOp: 'append' },
    ])
    expect(checkLog(ended(log()), { complete: true })).toEqual([])
  })

  test.each([
    ['a step that is given something else', { sections: [] }],
    ['a step that is given nothing', undefined],
  ])('%s is refused there by name', (_, given) => {
    const { session, log } = laterSession()
    expect(() => admitStep(session, AT, given, LlmError, LATER)).toThrow(
      expect.objectContaining({ code: 'ENGINE_HOST_UNSUPPORTED' }),
    )
    expect(log()).toHaveLength(2)
  })

  test('are left to the turn machine in the first generation', () => {
    const { session, log } = laterSession()
    admitStep(session, AT, { sections: [] }, LlmError, INSTALLED)
    expect(log()).toHaveLength(2)
  })
})

describe('an answer', () => {
  const record = (host: HostApi) => {
    const { session, log, refuseNext } = laterSession()
    const frames = frameSource()
    const recorder = new StepRecorder(session, AT, REQUEST, openAnswer(session, AT, frames, host))
    return { recorder, log, frames: frames.told, refuseNext }
  }

  test('of the first generation is durable pieces, which the message cites', () => {
    const { recorder, log, frames } = record(INSTALLED)
    recorder.record({ type: 'text', text: 'Hi' })
    recorder.complete()
    const pieces = log().filter(({ type }) => type === 'assistant/chunk')
    expect(pieces.length).toBeGreaterThan(2)
    expect(log().at(-1)).toMatchObject({ type: 'assistant/message', sourceEventSeqs: pieces.map(({ seq }) => seq) })
    expect(log().at(-1)?.data).not.toHaveProperty('stream')
    expect(frames).toEqual([])
    expect(checkLog(ended(log()), { complete: true })).toEqual([])
  })

  test('of the later generation is frames beside the log, and the message carries its stream', () => {
    const { recorder, log, frames } = record(LATER)
    recorder.record({ type: 'text', text: 'Hi' })
    recorder.complete()
    expect(types(log())).toEqual(['turn/start', 'step/start', 'assistant/message'])
    expect(log().at(-1)).not.toHaveProperty('sourceEventSeqs')
    const chunks = frames.filter(({ type }) => type === 'chunk')
    expect(log().at(-1)?.data).toMatchObject({
      ...AT,
      message: { content: [{ type: 'text', text: 'Hi' }] },
      stream: chunks.map(({ time, chunk }) => ({ time, chunk })),
    })
    expect(frames.map(({ attemptId }) => attemptId)).toEqual(frames.map(() => 'session-1:1'))
    expect(frames.map(({ revision }) => revision)).toEqual(frames.map((_, index) => index + 1))
    expect(chunks.map(({ index }) => index)).toEqual(chunks.map((_, index) => index))
    expect(frames[0]).toMatchObject({ type: 'start', ...AT })
    const outcome = { kind: 'committed', eventType: 'assistant/message', seq: 2 }
    expect(frames.at(-1)).toMatchObject({ type: 'end', index: chunks.length, outcome })
    expect(checkLog(ended(log()), { complete: true })).toEqual([])
  })

  test('that was cut short keeps its text in both', () => {
    for (const host of [INSTALLED, LATER]) {
      const { recorder, log } = record(host)
      recorder.record({ type: 'text', text: 'Half a' })
      recorder.interrupt()
      expect(log().at(-1)?.data).toMatchObject({
        message: { content: [{ type: 'text', text: 'Half a' }] },
        interrupted: true,
      })
      expect(checkLog(ended(log()), { complete: true })).toEqual([])
    }
  })

  test('that came to no message is an attempt in the later generation', () => {
    const { session, log } = laterSession()
    const frames = frameSource()
    const answer = openAnswer(session, AT, frames, LATER)
    answer.drop()
    expect(log()).toHaveLength(2)
    answer.push({ type: 'block-start', index: 0, blockType: 'text' })
    answer.drop()
    answer.drop()
    expect(log().slice(2)).toMatchObject([{ type: 'assistant/attempt', data: { ...AT, stream: [{ type: 'chunk' }] } }])
    expect(frames.told.at(-1)).toMatchObject({ type: 'end', outcome: { eventType: 'assistant/attempt' } })
    expect(checkLog(ended(log()), { complete: true })).toEqual([])
  })

  test('whose message is refused once is told to have ended once', () => {
    const { recorder, log, frames, refuseNext } = record(LATER)
    recorder.record({ type: 'text', text: 'Hi' })
    refuseNext()
    expect(() => recorder.complete()).toThrow('refused')
    recorder.interrupt()
    expect(types(log()).slice(2)).toEqual(['assistant/message'])
    expect(frames.filter(({ type }) => type === 'end')).toHaveLength(1)
  })
})

describe('an agent', () => {
  /** The private members that both generations have. */
  const machine = () => ({
    session: laterSession().session,
    options: { provider: 'agy', model: 'default' },
    phase: { kind: 'running', turn: 1, step: 1, abort: new AbortController() },
    step: async () => null,
    requestHeaderLogged: false,
    told: [] as unknown[],
    dispatch: {
      waterfall: (_event: string, _payload: object, last: () => unknown) => last(),
      emit(this: { told?: unknown[] }, event: string, payload: object) {
        told.push([event, payload])
      },
    },
  })
  const told: unknown[] = []

  test('of the later generation numbers its frames by the counters of its own loop', () => {
    const agent = { ...machine(), assistantAttemptCounter: 4, assistantStreamRevision: 9 }
    const frames = openAgent(agent as unknown as Agent, LATER)?.frames
    expect([frames?.nextAttempt(), frames?.nextRevision(), frames?.nextRevision()]).toEqual([5, 10, 11])
    expect(agent).toMatchObject({ assistantAttemptCounter: 5, assistantStreamRevision: 11 })
    frames?.emit({ type: 'start' })
    expect(told).toEqual([['agent/assistant-stream', { frame: { type: 'start' } }]])
  })

  test('of the first generation has no frames', () => {
    const open = openAgent(machine() as unknown as Agent, INSTALLED)
    expect(open).toBeDefined()
    expect(open?.frames).toBeUndefined()
  })

  test('that is built differently is not opened: its steps go to its own loop', () => {
    expect(openAgent(machine() as unknown as Agent, LATER)).toBeUndefined()
    const { requestHeaderLogged: _, ...strange } = machine()
    expect(openAgent(strange as unknown as Agent, INSTALLED)).toBeUndefined()
  })
})

describe('presets', () => {
  /** A context with a roster, and a log. */
  const offer = async (roster: object, folder = join(ROOT, 'presets')) => {
    const warnings: string[] = []
    const undo: (() => unknown)[] = []
    const scope = {
      get: () => roster,
      effect: (run: () => () => unknown) => void undo.push(run()),
    }
    const ctx = {
      logger: { warn: (line: string) => void warnings.push(line) },
      inject: (_: string[], run: (scope: object) => void) => run(scope),
    }
    offerPresets(ctx as never, folder)
    return { warnings, unload: () => Promise.all(undo.map(run => run())) }
  }

  test('are a folder among the roots in the first generation', async () => {
    const roots: object[] = []
    const { unload } = await offer({ roots })
    expect(roots).toEqual([{ path: join(ROOT, 'presets'), trust: 'system' }])
    await unload()
    expect(roots).toEqual([])
  })

  test('are definitions in the later generation, of the same rows', async () => {
    const registered = new Map<string, PresetDefinition>()
    const offered = Promise.withResolvers<void>()
    const { warnings, unload } = await offer({
      async register(definition: PresetDefinition) {
        registered.set(definition.id, definition)
        offered.resolve()
        return async () => void registered.delete(definition.id)
      },
    })
    const rows = [
      { id: 'agy-engine', name: 'dsh-loop-engine-agy/preset', config: { provider: 'agy', model: 'default' } },
    ]
    await offered.promise
    expect(registered.get('agy')).toMatchObject({ name: 'Antigravity', order: 50 })
    expect(registered.get('agy')?.plugins.slice(0, 1)).toEqual(rows)
    await unload()
    expect([registered.size, warnings]).toEqual([0, []])
  })

  test('that a host refuses or keeps in another way are told, and nothing else happens', async () => {
    const refused = await offer({ register: () => Promise.reject(new Error('Duplicate agent preset: agy')) })
    await refused.unload()
    const strange = await offer({ roots: Object.freeze([]) })
    expect([...refused.warnings, ...strange.warnings]).toEqual([
      expect.stringMatching(/^AGY_PRESET_UNOFFERED: .*Duplicate agent preset: agy/),
      expect.stringMatching(/^AGY_PRESET_UNOFFERED: this dsh keeps its presets differently/),
    ])
  })

  test('of any folder become definitions', async () => {
    const folder = privateFolder()
    cpSync(join(ROOT, 'presets', 'agy'), join(folder, 'other'), { recursive: true })
    expect((await definitionsIn(folder)).map(({ id }) => id)).toEqual(['other'])
  })
})

test('a stored row is unpacked where a generation packs, and is an event where it does not', () => {
  const event = { type: 'turn/start', seq: 0, time: 1, data: { turn: 1 } }
  expect(eventsOfRow(event, INSTALLED)).toEqual([event])
  expect(eventsOfRow(event, LATER)).toEqual([event])
})
