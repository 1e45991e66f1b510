/** The host's roster of agent presets, where one is composed: only the web has one. */
import type { Context } from '@deepseek-ai/cordis'

/** The part of the roster that is used (as of @deepseek-ai/dsh-agent-presets 0.1.0-rc.8): it reads its roots anew each time. */
interface Roster {
  readonly roots: { path: string; trust: 'system' | 'user' }[]
}

/**
 * Offer the presets of a folder for as long as the plugin is mounted: nothing is written into the user's files.
 *
 * @param folder - absolute path of a folder of presets.
 */
export function offerPresets(ctx: Context, folder: string): void {
  ctx.inject(['agentPresets'], scope => {
    const { roots } = scope.get('agentPresets') as Roster
    if (!Array.isArray(roots) || Object.isFrozen(roots)) {
      ctx.logger.warn(
        'AGY_PRESET_UNOFFERED: this dsh keeps its presets differently; pick a model of Antigravity instead.',
      )
      return
    }
    const root = { path: folder, trust: 'system' as const }
    scope.effect(() => {
      roots.push(root)
      return () => void roots.splice(roots.indexOf(root), 1)
    }, 'agy.presets()')
  })
}
