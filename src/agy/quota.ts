/**
 * What the CLI says of its quota. `agy --output-format json --print /usage` answers without a model call, as three public
 * drivers say (1.1.18 to 1.2.14; 2026-12-01); no recording of it lies in `probes/`, so it is asked on request alone, and an
 * answer of another shape is told as such and not shown.
 */
import { fields } from './fields.ts'
import type { Finding } from './finding.ts'
import { runToEnd } from './process.ts'

/** It took about 6 s; an old version would take `/usage` for a prompt, so it is not waited for long. */
const LIMIT_MS = 30_000

/** One bucket of the quota. */
export interface QuotaBucket {
  readonly id: string
  /** From 0 to 1. */
  readonly remaining: number
  /** ISO 8601, as the CLI words it. */
  readonly resets?: string
}

/**
 * Read what `/usage` printed.
 *
 * @returns `undefined` where the output holds nothing of the known shape.
 */
function parseQuota(stdout: string): readonly QuotaBucket[] | undefined {
  for (const candidate of [stdout, ...stdout.split('\n')]) {
    const { groups } = fields(fields(fields(parsed(candidate)).command).data)
    if (!Array.isArray(groups)) continue
    const buckets = groups.flatMap(group => {
      const list = fields(group).buckets
      return Array.isArray(list) ? list.flatMap(bucket => bucketOf(fields(group).name, bucket)) : []
    })
    return buckets.length > 0 ? buckets : undefined
  }
  return undefined
}

function bucketOf(group: unknown, value: unknown): QuotaBucket[] {
  const { id, window, remaining_fraction: remaining, reset_time } = fields(value)
  const name = typeof id === 'string' ? id : `${group}, ${window}`
  if (!/^[\w ,.-]{1,60}$/.test(name) || typeof remaining !== 'number' || !(remaining >= 0 && remaining <= 1)) return []
  const isTime = typeof reset_time === 'string' && /^[\d:TZ.+-]{10,35}$/.test(reset_time)
  return [{ id: name, remaining, ...(isTime && { resets: reset_time }) }]
}

function parsed(candidate: string): unknown {
  try {
    return JSON.parse(candidate)
  } catch {
    return undefined
  }
}

/** Ask the CLI. */
export async function quota(file: string, env: Readonly<Record<string, string>>, cwd: string): Promise<Finding> {
  const what = 'quota'
  const args = ['--output-format=json', '--print=/usage']
  const { stdout, exitCode, timedOut } = await runToEnd(file, args, env, LIMIT_MS, undefined, cwd)
  const buckets = parseQuota(stdout)
  if (buckets === undefined) {
    const why = timedOut ? 'no answer in time' : `exit code ${exitCode ?? 'unknown'}`
    return {
      what,
      verdict: 'warning',
      words: `the CLI did not tell it in the known shape (${why}). Ask it in a terminal: \`agy\`, then \`/usage\`.`,
    }
  }
  const told = buckets.map(({ id, remaining, resets }) => {
    const left = `${id} ${Math.floor(remaining * 100)} % left`
    return resets === undefined ? left : `${left} until ${resets}`
  })
  const isUsedUp = buckets.some(({ remaining }) => remaining === 0)
  return {
    what,
    verdict: isUsedUp ? 'warning' : 'ok',
    words: `${told.join('; ')}${isUsedUp ? '. Pick a model of another group, or wait for the reset.' : ''}`,
  }
}
