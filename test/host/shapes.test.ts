/** What differs between dsh's generations is known in one room alone. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SRC = join(import.meta.dirname, '..', '..', 'src')
const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))
const textOf = (file: string): string => readFileSync(join(SRC, file), 'utf8')

/** Names of what differs between the generations, of which only src/host may know. */
const DIFFERENT =
  /\b(?:CallId|ToolCallId|createToolResultMessage|snapshotEvents|decodeStorageRecord|agentPresets|AssistantStreamAccumulator)\b|'assistant\/chunk'|session\.events\b/

/** Files outside src/host that know: `dsh-agy replay` with its own small host of the first generation, and the checker of both formats. */
const KNOWING = ['cli/narrator.ts', 'cli/replay.ts', 'cli/log-file.ts', 'cli/log-rules.ts']

const knows = (line: string): boolean => DIFFERENT.test(line) && !/^\s*(?:\*|\/\/|\/\*)/.test(line)

test('nothing outside src/host knows a shape that differs', () => {
  expect(knows("session.append('assistant/chunk', {})")).toBe(true)
  const knowing = FILES.filter(file => !file.startsWith('host/')).filter(file => textOf(file).split('\n').some(knows))
  expect(knowing.filter(file => !KNOWING.includes(file))).toEqual([])
})

/** How the generations publish an agent, and how the later one stores a new session. */
const OF_THE_HOST = /\b(?:agents|sessions)\.announce\(|\bsessionPersistence\b/

test('how an agent is published and where a session is stored is left to the host', () => {
  expect(OF_THE_HOST.test('ctx.agents.announce(agent)')).toBe(true)
  expect(FILES.filter(file => OF_THE_HOST.test(textOf(file)))).toEqual([])
})
