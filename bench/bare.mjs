/** The CLI without us: the stand-in spawned as the engine spawns it, its lines read and parsed, and nothing else. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { STAND_IN } from './host.mjs'

const ARGS = ['--input-format=stream-json', '--output-format=stream-json', '--disable-slash-commands', '--print=']

/**
 * Run one child to its end.
 *
 * @param {Record<string, string>} env that steers the stand-in.
 * @param {string} prompt
 * @param {(frame: object) => void} onFrame
 */
export async function runBare(env, prompt, onFrame = () => {}) {
  const child = spawn(STAND_IN, ARGS, { env: { ...process.env, ...env } })
  const left = new Promise(resolve => child.once('close', resolve))
  child.stderr.resume()
  const message = { role: 'user', content: [{ type: 'text', text: prompt }] }
  child.stdin.end(`${JSON.stringify({ event: 'user', message })}\n`)
  for await (const line of createInterface({ input: child.stdout })) onFrame(JSON.parse(line))
  const code = await left
  if (code !== 0) throw new Error(`the bare child ended with ${code}`)
}
