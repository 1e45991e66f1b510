/**
 * The user's `/name` gesture for a skill, where the host itself does not put the skill into the conversation: it does so
 * only where its skill tool is composed.
 */
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isRequest, type TranscriptItem } from './transcript-entry.ts'

/** A skill that the user asked for. */
export interface InvokedSkill {
  readonly name: string
  /** Folder that relative paths of the skill start from. */
  readonly folder: string
  /** The skill's file as it is. */
  readonly content: string
}

/** Reads a UTF-8 file; rejects where there is none. */
export type ReadText = (path: string) => Promise<string>

const GESTURE = /^\/([a-z0-9]+(?:-[a-z0-9]+)*)(?:\s|$)/

/** Places of skills in the host's own order of precedence (dsh-skill-filesystem 0.1.0-rc.8). */
function skillRoots(cwd: string): string[] {
  return [
    join(cwd, '.dsh', 'skills'),
    join(cwd, '.agents', 'skills'),
    join(process.env.DSH_HOME ?? join(homedir(), '.dsh'), 'skills'),
    join(process.env.DSH_AGENTS_HOME ?? join(homedir(), '.agents'), 'skills'),
  ]
}

/**
 * The skill that the last request names, if the host has not brought it already.
 *
 * @param items - the session's history.
 * @param cwd - the session's workspace.
 * @param read - reads a file; another one serves tests.
 */
export async function invokedSkill(
  items: readonly TranscriptItem[],
  cwd: string,
  read: ReadText = path => readFile(path, 'utf8'),
): Promise<InvokedSkill | undefined> {
  const request = items.findLast(isRequest)
  if (request?.message.source.kind !== 'user') return undefined
  const text = request.message.content.find(block => block.type === 'text')?.text ?? ''
  const name = GESTURE.exec(text)?.[1]
  if (name === undefined) return undefined
  for (const root of skillRoots(cwd)) {
    for (const [folder, file] of [
      [join(root, name), join(root, name, 'SKILL.md')],
      [root, join(root, `${name}.md`)],
    ] as const) {
      const content = await read(file).catch(() => undefined)
      if (content !== undefined) return { name, folder, content }
    }
  }
  return undefined
}
