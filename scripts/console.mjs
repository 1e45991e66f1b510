/** `npm start`: asks one prompt on the real headless dsh, driven by the engine, and shows everything that happens. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { validate } from '../lib/cli/validate.js'
import { chooseAgy, describeAgy, hostEnv, logOf, PRIVATE, prepareHost, readableLogs } from './private-host.mjs'
import { ROOT, run } from './setup.mjs'

const USAGE = `npm start                         ask a default prompt
npm start -- "your prompt"        ask yours
npm start -- --resume "go on"     continue the last session in a new process`

const { values, positionals } = parse()
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const prompt = positionals.join(' ') || 'List the files in this folder and tell me what hello.txt says.'
const lastFile = join(PRIVATE, 'last-session.json')
const resume = values.resume ? lastSession() : undefined

const home = await prepareHost('headless')
const agy = await chooseAgy()
console.log(describeAgy(agy))

const cwd = join(PRIVATE, 'workspace')
mkdirSync(cwd, { recursive: true })
if (!existsSync(join(cwd, 'hello.txt'))) writeFileSync(join(cwd, 'hello.txt'), 'hello from the workspace\n')

const report = join(PRIVATE, 'report.json')
const echo = join(PRIVATE, 'received.jsonl')
for (const file of [report, echo]) rmSync(file, { force: true })
const rows = overlay({ home, report, cwd, prompts: [prompt], resume, agyConfig: agy.config, echo })
const overlayFile = join(PRIVATE, 'overlay.json')
writeFileSync(overlayFile, JSON.stringify(rows, null, 2))

const exit = await run('dsh', ['--profile', 'headless', '--patch', overlayFile], { cwd, env: hostEnv(home) })
process.exitCode = exit
if (existsSync(report)) await conclude()
else process.exitCode = exit || 1

async function conclude() {
  const { sessionId, earlier } = JSON.parse(readFileSync(report, 'utf8'))
  writeFileSync(lastFile, JSON.stringify({ sessionId }))
  if (existsSync(echo)) {
    const { stdin } = JSON.parse(readFileSync(echo, 'utf8').trimEnd().split('\n').at(-1))
    const { text } = JSON.parse(stdin).message.content[0]
    const before = earlier === 0 ? 'a new session' : `${earlier} earlier messages of the session and the new one`
    console.log(`child: was given ${Buffer.byteLength(text)} bytes: ${before}`)
  }
  const log = logOf(home, sessionId)
  if (log === undefined) throw new Error(`no log of ${sessionId} was found under ${home}`)
  console.log(`log: ${log}`)
  const verdict = await validate([log], { out: line => console.log(`log ${line}`), err: line => console.error(line) })
  process.exitCode = exit || verdict
}

function parse() {
  try {
    return parseArgs({
      options: { resume: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
      allowPositionals: true,
    })
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`)
    process.exit(1)
  }
}

function lastSession() {
  if (!existsSync(lastFile)) {
    console.error('There is no session to continue yet: run `npm start` first.')
    process.exit(1)
  }
  return JSON.parse(readFileSync(lastFile, 'utf8')).sessionId
}

/** Rows on top of the profile: readable logs, this terminal as the front end, and the chosen agy. */
function overlay({ home, report, cwd, prompts, resume, agyConfig, echo }) {
  const env = agyConfig.env === undefined ? {} : { env: { ...agyConfig.env, AGY_STANDIN_ECHO: echo } }
  return [
    readableLogs(home),
    // A title would cost a model call of its own.
    { id: 'session-title-llm', disabled: true },
    { id: 'headless-runner', disabled: true },
    { id: 'headless-startup', disabled: true },
    { id: 'agy', config: { ...agyConfig, ...env } },
    {
      insert: [
        {
          id: 'console-driver',
          name: pathToFileURL(join(ROOT, 'scripts', 'console-driver.mjs')).href,
          config: { report, cwd, prompts, ...(resume === undefined ? {} : { resume }) },
        },
      ],
    },
  ]
}
