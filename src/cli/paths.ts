/** What lies at a path, without a complaint where it cannot be looked at. */
import { realpathSync, type Stats, statSync } from 'node:fs'
import { CommandRefusal } from './command-line.ts'

/** The path with its links followed; the path itself where nothing is. */
export function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** `undefined` for what is not there, and for what cannot be looked at. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/**
 * The folder that a command works in.
 *
 * @throws CommandRefusal when it has been removed meanwhile.
 */
export function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    throw new CommandRefusal(
      'FOLDER_GONE',
      'The folder that this command was started in is not there any more. Go to another one.',
    )
  }
}
