/**
 * Brings a fresh clone to where its commands can run: dependencies, a Node that dsh accepts, and the build.
 *
 * Runs on a bare Node 20 with nothing but npm, so it imports nothing but Node. What is up to date is left alone.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..')
const BIN = join(ROOT, 'node_modules', '.bin')
const PNPM = 'pnpm@10.34.9'
const WINDOWS = process.platform === 'win32'

/** Environment in which the project's own programs are found first. */
export const projectEnv = () => ({ ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ''}` })

/** Tell what is being done; the line stands on stderr so that output can be piped. */
export function progress(message) {
  process.stderr.write(`· ${message}\n`)
}

/**
 * Run a program to its end.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions & { quiet?: boolean }} [options] quiet: output is shown only if it fails.
 * @returns {Promise<number>} exit code
 */
export function run(file, args, { quiet = false, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: ROOT,
      env: quiet ? { ...projectEnv(), NO_COLOR: '1' } : projectEnv(),
      shell: WINDOWS,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
      ...options,
    })
    const output = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => output.push(chunk))
    // Ctrl-C reaches the child too, which may have something to put away: one leaves after it, not before.
    const waitForIt = () => {}
    const passOn = () => child.kill('SIGTERM')
    process.on('SIGINT', waitForIt).on('SIGTERM', passOn)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      process.off('SIGINT', waitForIt).off('SIGTERM', passOn)
      const exit = code ?? (signal === 'SIGINT' ? 130 : 1)
      if (exit !== 0) for (const chunk of output) process.stderr.write(chunk)
      resolve(exit)
    })
  })
}

/** Run a program that must succeed. */
export async function must(what, file, args, options) {
  const exit = await run(file, args, { quiet: true, ...options })
  if (exit !== 0) throw new Error(`${what} failed: ${file} ${args.join(' ')} ended with exit code ${exit}`)
}

/** A digest over files; a missing one counts as empty. */
export function digest(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(file).update(existsSync(file) ? readFileSync(file) : '')
  return hash.digest('hex').slice(0, 16)
}

/** All files under a folder, sorted. */
export const filesUnder = folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()

/** Do a piece of work once for each state of its inputs. */
export async function once(stampFile, state, what, work) {
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === state) return
  progress(what)
  await work()
  writeFileSync(stampFile, state)
}

const supported = version => {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major >= 24 || (major === 22 && minor >= 19)
}

async function install() {
  const inputs = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map(name => join(ROOT, name))
  await once(
    join(ROOT, 'node_modules', '.set-up'),
    digest(inputs),
    'installing dependencies (a minute on the first run) …',
    async () => {
      await must('The installation', 'npx', ['-y', PNPM, 'install', '--frozen-lockfile'], {
        env: { ...process.env, CI: 'true' },
      })
      // The package that carries Node 24 holds a program for linux-x64 alone.
      if (process.platform !== 'linux' || process.arch !== 'x64') rmSync(join(BIN, 'node'), { force: true })
    },
  )
}

/** The Node that dsh can run on: the one among the dependencies, or the system's if it is new enough. */
function projectNode() {
  const own = join(BIN, 'node')
  if (existsSync(own)) return own
  if (supported(process.version)) return process.execPath
  throw new Error(
    `dsh needs Node 22.19 or later (and 24 on the odd side of 22), this is ${process.version}. ` +
      'On linux-x64 the right one is installed with the dependencies; here, install it yourself and run the command again.',
  )
}

async function build() {
  const inputs = [...filesUnder(join(ROOT, 'src')), join(ROOT, 'tsconfig.json'), join(ROOT, 'tsconfig.build.json')]
  await once(join(ROOT, 'node_modules', '.built'), digest(inputs), 'building …', async () => {
    rmSync(join(ROOT, 'lib'), { recursive: true, force: true })
    await must('The build', 'tsc', ['-p', 'tsconfig.build.json'])
  })
}

/** Install and build what is not up to date; returns the Node to go on with. */
export async function setUp() {
  await install()
  const node = projectNode()
  if (!existsSync(join(ROOT, 'lib', 'index.js'))) rmSync(join(ROOT, 'node_modules', '.built'), { force: true })
  await build()
  return node
}

/** Set up, then hand over to a script of this folder that needs the right Node. */
export async function handOver(script) {
  try {
    const node = await setUp()
    process.exitCode = await run(node, [join(ROOT, 'scripts', script), ...process.argv.slice(2)], { shell: false })
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
