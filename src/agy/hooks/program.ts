/**
 * The hook: the CLI starts it before each call, it asks the host, and it prints the host's word.
 *
 * It stands alone, with nothing but Node. It must never print nothing, since the CLI takes silence for consent (measured on
 * 1.2.16 by two public drivers; 2026-12-03): whatever goes wrong is a denial in words, and an exit code other than 0 where not
 * even that can be written.
 */
import { writeSync } from 'node:fs'
import { request } from 'node:http'

/** @param {string} reason - reaches the model. */
const denial = (reason: string): string =>
  JSON.stringify({ decision: 'deny', reason: `dsh could not be asked: ${reason}` })

function ask(url: URL, token: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const asking = request(
      url,
      {
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      },
      response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
      },
    )
    asking.on('error', reject)
    asking.end(body)
  })
}

/** Only these two shapes are let through. */
function checked(answer: string): string {
  const { decision, reason } = JSON.parse(answer)
  if (decision === 'allow') return JSON.stringify({ decision })
  if (decision === 'deny' && typeof reason === 'string') return JSON.stringify({ decision, reason })
  throw new Error('its answer is neither a permission nor a denial')
}

async function decide(): Promise<string> {
  const { DSH_AGY_HOOK_URL: url, DSH_AGY_HOOK_TOKEN: token } = process.env
  if (!url || !token) return denial('this process does not belong to a run of it')
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return checked(await ask(new URL(url), token, Buffer.concat(chunks)))
}

let word: string
try {
  word = await decide()
} catch (error) {
  word = denial(error instanceof Error ? error.message : String(error))
}
try {
  for (let rest = Buffer.from(`${word}\n`); rest.length > 0; ) rest = rest.subarray(writeSync(1, rest))
} catch {
  process.exitCode = 2
}
