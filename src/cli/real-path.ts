/** A folder by its other name. */
import { realpathSync } from 'node:fs'

/** The path with its links followed; the path itself where nothing is. */
export function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
