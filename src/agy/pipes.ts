/** Reads the pipes of one child: cuts stdout into lines, keeps the end of stderr, and lets go of what somebody else holds open. */
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { LineSplitter, type Lines } from './lines.ts'
import { within } from './waiting.ts'

/** More than any pipe holds: who writes more after the child and its group are gone is somebody else. */
const LEFT_IN_A_PIPE = 1024 * 1024

/**
 * Wait until a pipe whose writer is gone has been read to its end. One that somebody outside the group holds open is let go
 * when it was once read empty: all that the child wrote stood before that. A reader that is slow, or a host that is busy, loses
 * nothing; one that takes nothing any more of a child that was stopped is not waited for.
 */
export async function drained(
  pipe: Socket,
  end: Promise<void>,
  graceMs: number,
  isHurried: () => boolean,
): Promise<void> {
  const start = pipe.bytesRead
  for (let before = start; ; before = pipe.bytesRead) {
    if (await within(end, graceMs)) return
    const isGivenUp = isHurried() && pipe.readableLength > 0 && pipe.bytesRead === before
    if (isGivenUp || (await isEmpty(pipe)) || pipe.bytesRead - start > LEFT_IN_A_PIPE) {
      pipe.destroy()
      return
    }
  }
}

/** Whether somebody waits for more of a pipe, and nothing comes in a whole turn of the loop, in which it is looked at. */
async function isEmpty(pipe: Socket): Promise<boolean> {
  const before = pipe.bytesRead
  // A reader that asks for more only within this turn may be looked after in the next one.
  const isAwaited = pipe.readableLength === 0
  await turnOfLoop()
  return isAwaited && pipe.readableLength === 0 && pipe.bytesRead === before
}

/** Fulfilled when a stream has been read to its end, or is closed. */
export function ended(stream: Readable): Promise<void> {
  return new Promise(resolve => {
    stream.once('close', resolve)
    stream.once('end', resolve)
  })
}

/**
 * The lines of one child's stdout. Starts to read at once: when a child ends, Node throws away what nobody has begun to read.
 *
 * What nobody wants any more is read all the same: a full pipe would keep the child from leaving, and a broken one would end it
 * in an error of its own.
 */
export class LineReader implements AsyncIterable<readonly Lines[]> {
  private readonly stdout: Readable
  private readonly maxBytes: number
  private readonly chunks: AsyncIterator<Buffer>
  private readonly first: Promise<IteratorResult<Buffer>>
  private isTaken = false

  constructor(stdout: Readable, maxBytes: number) {
    this.stdout = stdout
    this.maxBytes = maxBytes
    this.chunks = stdout.iterator({ destroyOnReturn: false })
    this.first = this.chunks.next()
    // It is awaited later than it may fail.
    this.first.catch(() => {})
  }

  /** No reader is to come. One that is under way reads on, and what it leaves is let go when it returns. */
  close(): void {
    if (!this.isTaken) void this.letGo().catch(() => {})
    this.isTaken = true
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Lines[]> {
    if (this.isTaken) return
    this.isTaken = true
    const splitter = new LineSplitter(this.maxBytes)
    try {
      for (let chunk = await this.first; !chunk.done; chunk = await this.chunks.next()) {
        yield splitter.push(chunk.value)
        // Node reads a pipe that is always full many times in one turn of its loop, and all other sessions wait for that.
        await turnOfLoop()
      }
    } catch (error) {
      // We let go of the pipe because somebody else held it open after the exit.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    } finally {
      await this.letGo()
    }
    yield splitter.end()
  }

  private async letGo(): Promise<void> {
    await this.chunks.return?.()
    // Only now: a stream with an iterator on it does not flow, whoever tells it to.
    this.stdout.resume()
  }
}

/** Reads a stream and keeps its last bytes, at most so many; gives them as text. */
export function keepTail(stream: Readable, maxBytes: number): () => string {
  let tail = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-maxBytes)
  })
  stream.on('error', () => {})
  return () => tail.toString('utf8')
}
