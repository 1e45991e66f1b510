/** The child is killed by somebody else: a real process, at every frame. */
import { once } from 'node:events'
import { watch } from 'node:fs'
import { createUserMessage } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import { describe, expect, test } from 'vitest'
import { privateFolder } from '../support/folders.ts'
import { expectValidLog, lastTurnEnd, readReceived, shownText, startHost } from '../support/host.ts'
import { foldBytes, readProbe } from '../support/probes.ts'

const PROBE = '16-plan-mode-interleaved'
const lines = readProbe(PROBE).frames.toString('utf8').trimEnd().split('\n')
/** Each child has a conversation of its own, which the answer of this recording names. */
const CONVERSATION = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const counts = lines.map((_, frames) => frames)

/** What has reached the log, in numbers that the frames determine. */
const reached = (session: Session) => {
  // Without the results that close what the kill left open.
  const told = session.events.filter(event => event.type === 'tool/result' && event.data.error === undefined)
  return { text: shownText(session).replaceAll(CONVERSATION, 'conversation'), results: told.length }
}

/** What so many frames tell while more may follow. */
const expected = (frames: number) => {
  const bytes = Buffer.from(lines.slice(0, frames).join('\n').concat('\n'))
  const { events, summary } = foldBytes(bytes, bytes.length, false)
  return {
    text: summary.text.replaceAll(CONVERSATION, 'conversation'),
    results: events.filter(event => event.type === 'tool-result').length,
  }
}

/** Resolves when the stand-in was given its n-th prompt; gives its pid. */
async function started(folder: string, echo: string, n: number): Promise<number> {
  const watcher = watch(folder)
  try {
    for (;;) {
      const pid = readReceived(echo)[n - 1]?.pid
      if (pid !== undefined) return pid
      await once(watcher, 'change')
    }
  } finally {
    watcher.close()
  }
}

describe('SIGKILL of the child', () => {
  // The last frame is the result: after it nothing is left to be killed.
  test.each(counts)('after frame %i', async frames => {
    const folder = privateFolder()
    const echo = `${folder}/received.jsonl`
    const host = await startHost({
      env: { AGY_STANDIN_PROBE: PROBE, AGY_STANDIN_HOLD: String(frames), AGY_STANDIN_ECHO: echo },
    })
    const agent = await host.create()
    const { session } = agent
    const then = expected(frames)
    // The second turn shows that the session goes on; its child meets the same end.
    for (const turn of [1, 2]) {
      const text = then.text.repeat(turn)
      const results = reached(session).results + then.results
      const all = new Promise<void>(resolve => {
        const look = () => {
          const now = reached(session)
          if (now.text === text && now.results === results) resolve()
        }
        host.ctx.on('session/event', look)
        look()
      })
      agent.followup(createUserMessage({ content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } }))
      const [pid] = await Promise.all([started(folder, echo, turn), all])
      process.kill(pid, 'SIGKILL')
      await agent.whenIdle()
      expect(lastTurnEnd(session)).toMatchObject({ kind: 'error', error: { code: 'AGY_KILLED' } })
      expect(session.events.filter(event => event.type === 'turn/end')).toHaveLength(turn)
      expect(reached(session).text).toBe(text)
      expectValidLog(session)
    }
  })
})
