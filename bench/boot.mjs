/** What the plugin adds to the start of the real headless dsh, and whether it starts a child by then. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { hostEnv, PRIVATE, prepareHost, STAND_IN } from '../scripts/private-host.mjs'
import { must } from '../scripts/setup.mjs'
import { median, pairs } from './ratio.mjs'

export async function boot({ scale }) {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-agy-boot-'))
  const echo = join(folder, 'started.jsonl')
  const driver = { id: 'boot-driver', name: pathToFileURL(join(import.meta.dirname, 'boot-driver.mjs')).href }
  const rows = [
    { id: 'headless-runner', disabled: true },
    { id: 'headless-startup', disabled: true },
    { insert: [driver] },
  ]
  const overlay = join(folder, 'overlay.json')
  const bare = join(folder, 'bare.json')
  writeFileSync(
    overlay,
    JSON.stringify([...rows, { id: 'agy', config: { bin: STAND_IN, env: { AGY_STANDIN_ECHO: echo } } }]),
  )
  writeFileSync(bare, JSON.stringify(rows))
  const home = await prepareHost('headless')
  const start = (where, patch) =>
    must('The start', 'dsh', ['--profile', 'headless', '--patch', patch], { cwd: folder, env: hostEnv(where) })
  try {
    const times = await pairs(
      Math.max(1, Math.round(11 * scale)),
      () => start(home, overlay),
      () => start(join(PRIVATE, 'bare-home'), bare),
    )
    const value = median(times.ours) / median(times.baseline)
    const started = existsSync(echo)
    return [
      {
        name: "dsh's start with the plugin, to without it",
        times,
        value,
        goal: 'at most 1.10, no child',
        met: value <= 1.1 && !started,
        note: started ? 'a child was started' : 'no child was started',
      },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
