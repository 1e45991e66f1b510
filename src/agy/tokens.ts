/** Token counts of a run, which are added up while it goes on. */
import type { EngineUsage } from '../engine/contract.ts'
import type { AgyUsage } from './wire.ts'

/** Counts of tokens, none of them left out. */
export type Tokens = Required<AgyUsage>

/** Nothing was counted yet. */
export const NO_TOKENS: Tokens = { input: 0, output: 0, thinking: 0, cacheRead: 0 }

/** The sum of two counts, or their difference. */
export const combine = (a: Tokens, b: Tokens, sign: 1 | -1): Tokens => ({
  input: a.input + sign * b.input,
  output: a.output + sign * b.output,
  thinking: a.thinking + sign * b.thinking,
  cacheRead: a.cacheRead + sign * b.cacheRead,
})

/** dsh counts are disjoint like the CLI's: uncached input and cache reads stand side by side. */
export const engineUsage = (usage: Tokens): EngineUsage => ({
  inputTokens: usage.input,
  outputTokens: usage.output,
  ...(usage.cacheRead > 0 ? { cacheReadTokens: usage.cacheRead } : {}),
  ...(usage.thinking > 0 ? { reasoningTokens: usage.thinking } : {}),
})
