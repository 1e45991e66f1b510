/** The private folder of one run: nobody else may read it, and nothing of it is left. */
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PromptFile } from '../engine/contract.ts'

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

  /** Where the files of our hook lie; nothing else may lie there. */
  get hooksFolder(): string {
    return join(this.path, 'hooks')
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

  /** Where the files of the prompt lie, apart from the log: the model may read all of this folder. */
  get filesFolder(): string {
    return join(this.path, 'files')
  }

  /**
   * Write the files that go with a prompt.
   *
   * @returns absolute path of each file that could be written, by its alias.
   */
  async write(files: readonly PromptFile[]): Promise<Map<string, string>> {
    const places = new Map<string, string>()
    for (const { alias, content } of files) {
      const file = join(this.filesFolder, alias)
      try {
        await mkdir(this.filesFolder, { mode: 0o700 }).catch(ignoreExisting)
        await writeFile(file, await content(), { mode: 0o600 })
        places.set(alias, file)
      } catch {
        // The prompt says of it that it could not be had.
      }
    }
    return places
  }

  /** Remove it with all that is in it. */
  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 })
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
