/** What surrounds the CLI on a machine, as far as it can be seen without starting the CLI. */
import { listOrphans } from './child-records.ts'
import type { Finding } from './finding.ts'
import { RunFolder } from './run-folder.ts'

type Env = Readonly<Record<string, string>>

/** The system and this Node. */
export function platform(): Finding {
  const words = `${process.platform}-${process.arch}, Node ${process.version}`
  if (process.platform === 'linux') return { what: 'platform', verdict: 'ok', words }
  return {
    what: 'platform',
    verdict: 'warning',
    words: `${words}: the engine was written for it, but never run on it.`,
  }
}

const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'] as const

/** An address without what opens it. */
function addressOf(value: string): string {
  try {
    const [, scheme = 'http://', opening, place = ''] = /^([a-z0-9]+:\/\/)?(.*@)?(.*)$/is.exec(value) ?? []
    const { protocol, host } = new URL(`${scheme}${place}`)
    if (host === '') return 'set, but no address'
    return `${protocol}//${host}${opening === undefined ? '' : ' (with credentials, which are not shown)'}`
  } catch {
    return 'set, but no address'
  }
}

/**
 * The proxy settings of the child's environment. Sign-in obeys HTTPS_PROXY; model calls of 1.1.21 on Windows went past it
 * (google-antigravity/antigravity-cli#875, as read 2026-12-01).
 */
export function proxies(env: Env): Finding {
  const what = 'proxy'
  const told = PROXIES.flatMap(name => {
    const value = env[name] || env[name.toLowerCase()]
    // A list of hosts may tell of an internal network.
    return value ? [`${name} ${name === 'NO_PROXY' ? 'is set' : addressOf(value)}`] : []
  })
  if (told.length === 0) return { what, verdict: 'ok', words: 'none is set' }
  const broken = told.some(words => words.endsWith('no address'))
  return {
    what,
    verdict: broken ? 'warning' : 'ok',
    words: `${told.join('; ')}. ${broken ? 'Write it as http://host:port.' : 'Not every version sends its model calls through it.'}`,
  }
}

/** Children that a killed host left behind. */
export async function orphans(): Promise<Finding> {
  const what = 'orphans'
  const pids = await listOrphans()
  if (pids.length === 0) return { what, verdict: 'ok', words: 'no child of a dsh that is gone runs' }
  return {
    what,
    verdict: 'warning',
    words: `children of a dsh that is gone still run (process ${pids.join(', ')}). The next start of dsh ends them.`,
  }
}

/** Whether there is a place for the private files of a run. */
export async function temporaryFolder(): Promise<Finding> {
  const folder = await RunFolder.open()
  await folder?.remove()
  if (folder !== undefined) return { what: 'temporary folder', verdict: 'ok', words: 'can be written' }
  return {
    what: 'temporary folder',
    verdict: 'warning',
    words: 'Nothing can be written below it: images and logs beyond the bound cannot be handed over. Set TMPDIR.',
  }
}

/** Said each time, since nothing else tells of it. */
export const UPDATES: Finding = {
  what: 'updates',
  verdict: 'ok',
  words:
    'the CLI does not update itself while dsh drives it; `agy update` does, and `dsh-agy probes check` says what became new',
}

/** A fact with its source, and no advice. */
export const TERMS: Finding = {
  what: 'terms',
  verdict: 'ok',
  words:
    "Google's terms for Antigravity call the use of third-party software with an Antigravity sign-in a breach that can lead to suspension of the account (https://antigravity.google/terms, as quoted by littlebearapps/untether, 2026). This plugin is third-party software; it starts Google's own unmodified program and never touches its credentials. The CLI has two other ways in: an API key (GEMINI_API_KEY with modelProvider gemini, its changelog of 1.1.13) and an enterprise sign-in with a Google Cloud project (google-antigravity/antigravity-cli#78, 2026-07-01). Choice and risk are yours",
}
