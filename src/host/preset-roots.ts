/**
 * The host's roster of agent presets, where one is composed: only the web has one.
 *
 * The first generation reads folders of presets, its roots, anew each time (@deepseek-ai/dsh-agent-presets 0.1.0-rc.8). The
 * later one has definitions in place of folders: rows of `@deepseek-ai/dsh-agent-preset` in a patch, each of which calls
 * the roster's `register` (`packages/preset/agent-preset/src/index.ts`). A row of our patch could not name that package
 * where it does not exist, so what the row would call is called here.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'

/** The part of the first generation's roster that is used. */
interface FolderRoster {
  readonly roots: { path: string; trust: 'system' | 'user' }[]
}

/** A preset as the later generation takes it. */
export interface PresetDefinition {
  readonly id: string
  readonly plugins: readonly object[]
  readonly name?: string
  readonly description?: string
  readonly order?: number
}

/** The part of the later generation's roster that is used. */
interface DefinitionRoster {
  register(definition: PresetDefinition): Promise<() => Promise<void>>
}

const hasFolders = (roster: object): roster is FolderRoster =>
  Array.isArray((roster as Partial<FolderRoster>).roots) && !Object.isFrozen((roster as FolderRoster).roots)

const takesDefinitions = (roster: object): roster is DefinitionRoster =>
  typeof (roster as Partial<DefinitionRoster>).register === 'function'

/** The presets of a folder, each in a folder of its own, as definitions. */
export async function definitionsIn(folder: string): Promise<PresetDefinition[]> {
  // The first generation's start need not wait for what only the later one uses.
  const { parse } = await import('yaml')
  const read = (...names: string[]): unknown => parse(readFileSync(join(folder, ...names), 'utf8'))
  return readdirSync(folder).map(id => ({
    id,
    ...(read(id, 'preset.yml') as object),
    plugins: read(id, 'agent.cordis.yml') as object[],
  }))
}

/**
 * Offer the presets of a folder for as long as the plugin is mounted: nothing is written into the user's files.
 *
 * @param folder - absolute path of a folder of presets.
 */
export function offerPresets(ctx: Context, folder: string): void {
  ctx.inject(['agentPresets'], scope => {
    const unoffered = (why: string): void =>
      ctx.logger.warn(`AGY_PRESET_UNOFFERED: ${why}; pick a model of Antigravity instead.`)
    const roster = scope.get('agentPresets') as object
    if (hasFolders(roster)) {
      const { roots } = roster
      const root = { path: folder, trust: 'system' as const }
      scope.effect(() => {
        roots.push(root)
        return () => void roots.splice(roots.indexOf(root), 1)
      }, 'agy.presets()')
    } else if (takesDefinitions(roster)) {
      const registered = definitionsIn(folder).then(all => Promise.all(all.map(each => roster.register(each))))
      registered.catch((error: unknown) => unoffered(String(error)))
      scope.effect(
        () => async () => {
          for (const withdraw of await registered.catch(() => [])) await withdraw()
        },
        'agy.presets()',
      )
    } else {
      unoffered('this dsh keeps its presets differently')
    }
  })
}
