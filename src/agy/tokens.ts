/** Token counts of a run, which are added up while it goes on. */
import type { EngineUsage } from '../engine/contract.ts'
import type { AgyUsage } from './wire.ts'

type Tokens = Required<AgyUsage>

const NO_TOKENS: Tokens = { input: 0, output: 0, thinking: 0, cacheRead: 0 }

/** Counts the tokens of one run: told step by step, and at its end once more in all. */
export class TokenCount {
  private told = NO_TOKENS

  /** Count what a step used; returns it in the host's terms. */
  add(usage: AgyUsage): EngineUsage {
    const tokens = { ...NO_TOKENS, ...usage }
    this.told = combine(this.told, tokens, 1)
    return engineUsage(tokens)
  }

  /**
   * Hold the steps against the figures of the result. The conversation is fresh, so these are the run's; one that the result
   * does not tell is what the steps say.
   *
   * @returns what no step told, if anything; `fewer` if the steps told more, which are counted then.
   */
  settle(usage: AgyUsage | undefined): EngineUsage | 'fewer' | undefined {
    const total = { ...this.told, ...usage }
    const rest = combine(total, this.told, -1)
    const figures = Object.values(rest)
    if (figures.every(figure => figure === 0) || Object.values(total).every(figure => figure === 0)) return undefined
    if (figures.some(figure => figure < 0)) return 'fewer'
    this.told = total
    return engineUsage(rest)
  }
}

/** The sum of two counts, or their difference. */
const combine = (a: Tokens, b: Tokens, sign: 1 | -1): Tokens => ({
  input: a.input + sign * b.input,
  output: a.output + sign * b.output,
  thinking: a.thinking + sign * b.thinking,
  cacheRead: a.cacheRead + sign * b.cacheRead,
})

/** dsh counts are disjoint like the CLI's: uncached input and cache reads stand side by side. */
const engineUsage = (usage: Tokens): EngineUsage => ({
  inputTokens: usage.input,
  outputTokens: usage.output,
  ...(usage.cacheRead > 0 ? { cacheReadTokens: usage.cacheRead } : {}),
  ...(usage.thinking > 0 ? { reasoningTokens: usage.thinking } : {}),
})
