/**
 * What `agy --print=/hooks --output-format=json` lists, and whether our hook is among it (public captures of agy 1.1.21 to
 * 1.2.16; the command exists since 1.1.12; 2026-12-03). A file that the CLI could not read is simply not listed, with exit 0.
 */
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type Fields, fields } from '../fields.ts'
import { EVERY_TOOL, HOOK_NAME, type HookSpec } from './files.ts'

/** One hook that the CLI would run. */
export interface ListedHook {
  readonly name: string
  readonly enabled: boolean
  /** Absolute path of the file that brings it. */
  readonly source: string
  readonly actions: readonly ListedAction[]
}

interface ListedAction {
  readonly event: string
  readonly matcher?: string
  readonly command?: string
  readonly timeoutSeconds?: number
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * @param stdout - what the CLI printed.
 * @param home - its home folder, which it may write as `~`.
 * @returns `undefined` where the output holds no listing at all.
 */
export function parseListing(stdout: string, home: string | undefined): readonly ListedHook[] | undefined {
  for (const candidate of [stdout, ...stdout.split('\n')]) {
    const { name, data } = fields(fields(parsed(candidate)).command)
    const hooks = fields(data).hooks
    if (name === 'hooks' && Array.isArray(hooks)) return hooks.map(hook => listed(fields(hook), home))
  }
  return undefined
}

function parsed(candidate: string): unknown {
  try {
    return JSON.parse(candidate)
  } catch {
    return undefined
  }
}

function listed(hook: Fields, home: string | undefined): ListedHook {
  return {
    name: text(hook.name),
    enabled: hook.enabled === true,
    source: placeOf(text(hook.source), home),
    actions: list(hook.actions).map(value => {
      const { event, matcher, command, timeout_seconds } = fields(value)
      return {
        event: text(event),
        ...(typeof matcher === 'string' && { matcher }),
        ...(typeof command === 'string' && { command }),
        ...(typeof timeout_seconds === 'number' && { timeoutSeconds: timeout_seconds }),
      }
    }),
  }
}

/** Whether the listing shows our hook as it was written, and nothing else under its name. */
export function listsOurs(hooks: readonly ListedHook[], files: ReadonlySet<string>, spec: HookSpec): boolean {
  const ours = hooks.filter(({ name }) => name === HOOK_NAME)
  const [hook] = ours
  if (hook === undefined || ours.length > 1 || !hook.enabled || !files.has(hook.source)) return false
  return hook.actions.some(
    ({ event, matcher, command, timeoutSeconds }) =>
      event === 'PreToolUse' &&
      matcher === EVERY_TOOL &&
      command === spec.command &&
      (timeoutSeconds === undefined || timeoutSeconds === spec.timeoutSeconds),
  )
}

/** Other people's hooks that are asked about calls. */
export function othersOf(hooks: readonly ListedHook[]): readonly ListedHook[] {
  return hooks.filter(
    ({ name, enabled, actions }) =>
      name !== HOOK_NAME && enabled && actions.some(({ event }) => event === 'PreToolUse'),
  )
}

/** Whether a hook comes from a folder. */
export function comesFrom(hook: ListedHook, folder: string): boolean {
  const inside = relative(folder, hook.source)
  return inside !== '' && inside.split(sep)[0] !== '..' && !isAbsolute(inside)
}

function placeOf(source: string, home: string | undefined): string {
  if (source === '') return source
  return resolve(home !== undefined && /^~(?:$|[/\\])/.test(source) ? join(home, source.slice(1)) : source)
}
