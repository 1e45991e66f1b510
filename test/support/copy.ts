/** A copy of the project, to be spoiled and looked at by a checker. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { privateFolder } from './folders.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/**
 * @param parts - of the project: files and folders.
 * @param changes - content of files by their path in the copy.
 * @returns path of the copy, with the project's own dependencies in it.
 */
export function copyOf(parts: readonly string[], changes: Readonly<Record<string, string>>): string {
  const copy = privateFolder()
  for (const part of parts) cpSync(join(ROOT, part), join(copy, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  for (const [file, content] of Object.entries(changes)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), content)
  }
  return copy
}
