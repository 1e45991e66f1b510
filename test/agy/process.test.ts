import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause, setImmediate as turnOfLoop } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Launch } from '../../src/agy/launch.ts'
import {
  type AgyChild,
  type AgyProcess,
  type ChildLimits,
  DEFAULT_CHILD_LIMITS,
  spawnAgy,
} from '../../src/agy/process.ts'
import { privateFolder } from '../support/folders.ts'
import { isRunning } from '../support/processes.ts'

const LIMITS = { ...DEFAULT_CHILD_LIMITS, exitGraceMs: 300, killGraceMs: 300 }

/** A child that runs a shell script in place of the CLI. */
async function start(
  script: string,
  more: Partial<Launch> = {},
  limits: Partial<ChildLimits> = {},
): Promise<{ child: AgyProcess; folder: string }> {
  const folder = privateFolder()
  const file = join(folder, 'agy')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  const launch = { file, args: [], cwd: folder, env: { PATH: process.env.PATH ?? '' }, stdin: 'hello\n', ...more }
  return { child: await spawnAgy(launch, { ...LIMITS, ...limits }), folder }
}

async function read(child: AgyChild): Promise<string[]> {
  const lines: string[] = []
  for await (const batch of child.lines) {
    lines.push(...batch.map(line => ('text' in line ? line.text : `dropped ${line.droppedBytes}`)))
  }
  return lines
}

test('stdin arrives and is closed, both streams are read, the exit is told', async () => {
  const { child } = await start('cat; echo oops >&2; exit 3')
  expect(await read(child)).toEqual(['hello'])
  expect(await child.left).toEqual({ code: 3 })
  expect(child.stderr()).toBe('oops\n')
})

test('what a child wrote is read although it has left by then', async () => {
  const { child } = await start('echo one; echo two; exit 0')
  await child.left
  expect(await read(child)).toEqual(['one', 'two'])
})

test('a reader that is slower than the child and its grace loses nothing', async () => {
  const { child } = await start('head -c 100000 /dev/zero | tr "\\0" "x"; echo; echo last', {}, { killGraceMs: 1 })
  const lines: string[] = []
  for await (const batch of child.lines) {
    lines.push(...batch.map(line => ('text' in line ? line.text : 'dropped')))
    // The slow reader: the child has left and its grace is over many times before the next piece is asked for.
    await pause(200)
  }
  expect(lines.map(line => line.length)).toEqual([100_000, 4])
})

test('a child that dies before it reads a large prompt is no error of ours', async () => {
  const { child } = await start('exit 0', { stdin: `${'x'.repeat(5_000_000)}\n` })
  expect(await read(child)).toEqual([])
  expect(await child.left).toEqual({ code: 0 })
})

test('only the end of a long stderr is kept', async () => {
  const { child } = await start('head -c 200000 /dev/zero | tr "\\0" "x" >&2; echo END >&2')
  await child.left
  expect(child.stderr().length).toBe(16 * 1024)
  expect(child.stderr()).toMatch(/END\n$/)
})

test('what cannot be started is refused with the system code', async () => {
  await expect(start('', { cwd: '/nowhere/at/all' })).rejects.toMatchObject({ name: 'SpawnFailure', code: 'ENOENT' })
})

describe('everything the child started is gone when it is settled', () => {
  test('a child that leaves by itself is given the time to', async () => {
    const { child } = await start('cat >/dev/null; echo done; exit 0')
    expect(await read(child)).toEqual(['done'])
    await child.settle()
    expect(await child.left).toEqual({ code: 0 })
  })

  test('one that stays is ended', async () => {
    const { child } = await start('echo ready; exec sleep 600')
    for await (const _batch of child.lines) break
    await child.settle()
    expect(await child.left).toEqual({ signal: 'SIGTERM', endedByUs: true })
  })

  test('one that ignores SIGTERM is killed', async () => {
    const { child } = await start("trap '' TERM; echo ready; while :; do sleep 0.05; done")
    for await (const _batch of child.lines) break
    await child.stop()
    expect(await child.left).toEqual({ signal: 'SIGKILL', endedByUs: true })
  })

  test('so is a grandchild that holds the pipes', async () => {
    const { child, folder } = await start('sleep 600 & echo $! > grandchild; echo ready; exit 0')
    expect(await read(child)).toEqual(['ready'])
    const pid = Number(readFileSync(join(folder, 'grandchild'), 'utf8'))
    await child.left
    expect(isRunning(pid)).toBe(false)
  })

  test('and one that writes for ever', async () => {
    const { child } = await start('yes')
    for await (const _batch of child.lines) break
    await child.settle()
    expect(await child.left).toMatchObject({ signal: expect.stringMatching(/SIG(TERM|PIPE)/) })
  })

  describe.each(['yes', 'yes | head -c 1000000', 'yes | head -c 90000'])(
    '%s: whoever has read how much of it',
    script => {
      test('nobody', async () => {
        const { child } = await start(script)
        await child.stop()
        expect(isRunning(child.pid)).toBe(false)
      })

      test('a reader that leaves, and then it is stopped', async () => {
        const { child } = await start(script)
        for await (const _batch of child.lines) break
        await child.stop()
        expect(isRunning(child.pid)).toBe(false)
      })

      test('a reader that leaves when it is stopped already', async () => {
        const { child } = await start(script)
        let stopped: Promise<void> | undefined
        for await (const _batch of child.lines) {
          stopped = child.stop()
          await pause(50)
          break
        }
        await stopped
        expect(isRunning(child.pid)).toBe(false)
      })
    },
  )
})

test('a reader that asks for more at any moment after the exit loses nothing', async () => {
  const script = 'head -c 300000 /dev/zero | tr "\\0" "x"; echo; echo last'
  for (let turns = 0; turns < 12; turns += 1) {
    const { child } = await start(script, {}, { killGraceMs: 1 })
    let length = 0
    for await (const batch of child.lines) {
      for (const line of batch) length += 'text' in line ? line.text.length : 0
      await pause(2)
      for (let at = 0; at < turns; at += 1) await turnOfLoop()
    }
    expect(length, `${turns} turns`).toBe(300_004)
  }
})
