/** The private folder of one run: nobody else may read it, and nothing of it is left. */
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Bytes at the end of the CLI's log that are read: the cause of a failure stands there. */
const LOG_BYTES = 64 * 1024

/** A private folder below the system's temporary one. */
export class RunFolder {
  /** Absolute path; only this user may enter. */
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Make one; `undefined` where none can be made: a run can do without. */
  static async open(): Promise<RunFolder | undefined> {
    try {
      return new RunFolder(await mkdtemp(join(tmpdir(), 'dsh-agy-run-')))
    } catch {
      return undefined
    }
  }

  /** Where the CLI writes its log to. */
  get logFile(): string {
    return join(this.path, 'agy.log')
  }

  /** The end of the CLI's log; empty if there is none. */
  async readLog(): Promise<string> {
    try {
      const file = await open(this.logFile)
      try {
        const { size } = await file.stat()
        const length = Math.min(size, LOG_BYTES)
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
        return buffer.toString('utf8', 0, bytesRead)
      } finally {
        await file.close()
      }
    } catch {
      return ''
    }
  }

  /** Remove it with all that is in it. */
  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 })
  }
}
