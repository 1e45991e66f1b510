/** Finds a Chromium for the browser tests, and installs Debian's where that is possible. */
import { existsSync } from 'node:fs'
import { must, progress } from './setup.mjs'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

/** Path of a Chromium on this machine. */
export const findChromium = () =>
  [process.env.CHROMIUM_PATH, ...PLACES].find(path => path !== undefined && existsSync(path))

/**
 * Make sure that there is a Chromium.
 *
 * @returns {Promise<string | undefined>} its path; `undefined` where there is none and none can be installed.
 */
export async function ensureChromium() {
  const found = findChromium()
  if (found !== undefined || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return found
  progress('installing chromium for the browser tests …')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await must('Updating the package list', 'apt-get', ['update', '-qq'], { env })
  await must('Installing chromium', 'apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env })
  return findChromium()
}
