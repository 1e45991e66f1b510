/** Token counts of several calls become one. */
import type { EngineUsage } from './contract.ts'

/** @param a - what was counted so far, if anything was. */
export function sumOfUsage(a: EngineUsage | undefined, b: EngineUsage): EngineUsage {
  if (a === undefined) return b
  const cacheReadTokens = (a.cacheReadTokens ?? 0) + (b.cacheReadTokens ?? 0)
  const reasoningTokens = (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0)
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cacheReadTokens > 0 ? { cacheReadTokens } : {}),
    ...(reasoningTokens > 0 ? { reasoningTokens } : {}),
  }
}
