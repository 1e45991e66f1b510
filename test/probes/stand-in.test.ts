import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { privateFolder, STAND_IN } from '../support/folders.ts'

const STREAM = ['--input-format', 'stream-json', '--output-format=stream-json']
const message = (text: string) => `${JSON.stringify({ event: 'user', message: { content: text } })}\n`

/** Run the stand-in to its end. */
async function agy(args: readonly string[], input: string | undefined, steer: Record<string, string> = {}) {
  const env = Object.fromEntries(Object.entries(steer).map(([name, value]) => [`AGY_STANDIN_${name}`, value]))
  const { stdout, stderr, exitCode } = await execa(STAND_IN, args, { env, reject: false, input: input ?? '' })
  const frames = stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))
  return { stdout, stderr, exitCode, frames }
}

describe('the stand-in is started like agy', () => {
  test('and replays a recording under an identity of its own', async () => {
    const runs = await Promise.all(
      [1, 2].map(() => agy([...STREAM, '--print='], message('hi'), { PROBE: '01-text-answer' })),
    )
    for (const { exitCode, frames } of runs) {
      expect(exitCode).toBe(0)
      expect(frames.at(-1).result).toMatchObject({ status: 'SUCCESS', response: 'HELLO_AGY\n' })
      expect(
        new Set(
          frames.map(
            frame => frame.conversation_id ?? frame.step_update?.conversation_id ?? frame.result.conversation_id,
          ),
        ).size,
      ).toBe(1)
    }
    expect(runs[0]?.frames[0].conversation_id).not.toBe(runs[1]?.frames[0].conversation_id)
  })

  test('and writes in pieces of any size', async () => {
    const whole = await agy([...STREAM], message('hi'), { PROBE: '02-two-tools' })
    const pieces = await agy([...STREAM], message('hi'), { PROBE: '02-two-tools', CHUNK: '3' })
    expect(pieces.frames.length).toBe(whole.frames.length)
  })

  test('with the exit code and stderr of the recording', async () => {
    const { exitCode, stderr, frames } = await agy([...STREAM], message('hi'), { PROBE: '06-unknown-model' })
    expect(exitCode).toBe(1)
    expect(stderr).toContain('does-not-exist')
    expect(frames).toHaveLength(1)
  })

  test('prints its version and its models', async () => {
    expect((await agy(['--version'], '')).stdout).toBe('1.3.2')
    expect((await agy(['models'], '')).stdout).toContain('gemini-3.8-flash-high\tGemini 3.8 Flash (High)')
  })

  test('writes down what it received', async () => {
    const file = join(privateFolder(), 'echo.jsonl')
    await agy([...STREAM, '--model=m'], message('hi'), { ECHO: file })
    const echo = JSON.parse(readFileSync(file, 'utf8'))
    expect(echo).toMatchObject({ argv: [...STREAM, '--model=m'], stdin: message('hi') })
    expect(echo.env).toContain('AGY_STANDIN_ECHO')
  })
})

describe('the stand-in has the traps of agy', () => {
  test('--print swallows the next token', async () => {
    const { exitCode, stderr, stdout } = await agy(['--print', ...STREAM], message('hi'))
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain('--print took "--input-format" as its prompt')
  })

  test('a bare --print lacks its argument', async () => {
    const { exitCode, stderr } = await agy([...STREAM, '--print'], message('hi'))
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: 'flag needs an argument: -print' })
  })

  test('a prompt that starts with a slash kills the run, unless slash commands are off', async () => {
    const killed = await agy(STREAM, message(' /model x'))
    expect(killed.exitCode).toBe(2)
    expect(killed.frames.at(-1).result.error).toContain('/model is answered by the CLI itself')
    const fine = await agy([...STREAM, '--disable-slash-commands'], message(' /model x'))
    expect(fine.exitCode).toBe(0)
  })

  test('without --add-dir it works in its scratch folder', async () => {
    expect((await agy(STREAM, message('hi'))).frames[0].init.cwd).toMatch(/antigravity-cli.scratch$/)
    expect((await agy([...STREAM, '--add-dir=/ws'], message('hi'))).frames[0].init.cwd).toBe('/ws')
  })

  test('an unknown flag, a stray argument and an ill-formed boolean are errors', async () => {
    expect((await agy([...STREAM, '--yolo'], '')).stderr).toBe('flags provided but not defined: -yolo')
    expect((await agy([...STREAM, 'prompt'], '')).stderr).toContain('would have been ignored')
    expect((await agy([...STREAM, '--sandbox=bogus'], '')).exitCode).toBe(2)
  })

  test('`models` hangs while stdin is open', async () => {
    const child = execa(STAND_IN, ['models'], { reject: false, stdin: 'pipe' })
    let answered = false
    child.stdout.once('data', () => {
      answered = true
    })
    // It says nothing until the pipe is closed, however long it has been running.
    await new Promise<void>(resolve => child.nodeChildProcess.once('spawn', () => resolve()))
    expect(answered).toBe(false)
    child.stdin.end()
    expect((await child).stdout).toContain('Fetching available models...')
  })

  test.each([
    ['plain words\n', 'failed to decode stream input'],
    ['{"message":{}}\n', 'missing the "event" field'],
    ['{"event":"user"}\n', 'missing the "message" field'],
    [
      `${JSON.stringify({ event: 'user', message: { content: [{ type: 'image' }] } })}\n`,
      'block type "image" is not supported',
    ],
  ])('%j on stdin is refused', async (input, words) => {
    const { exitCode, frames } = await agy(STREAM, input)
    expect(exitCode).toBe(1)
    expect(frames.at(-1).result).toMatchObject({ status: 'ERROR', error: expect.stringContaining(words) })
  })

  test('a signal ends it with a result, as the CLI does', async () => {
    const child = execa(STAND_IN, STREAM, {
      reject: false,
      input: message('hi'),
      env: { AGY_STANDIN_PROBE: '02-two-tools', AGY_STANDIN_HOLD: '3' },
    })
    await new Promise<void>(resolve => {
      child.stdout.on('data', chunk => {
        if (String(chunk).includes('"step_index":1')) resolve()
      })
    })
    child.kill('SIGTERM')
    const { exitCode, stdout } = await child
    expect(exitCode).toBe(1)
    expect(stdout).toContain('"error":"interrupted"')
  })
})
