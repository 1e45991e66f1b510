/** The host's registry of the commands that people type into the composer, where one is composed. */
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'

/** The part of the registry that is used (as of @deepseek-ai/dsh-commands 0.1.0-rc.8). */
interface CommandRegistry {
  register(definition: {
    readonly name: string
    readonly description: string
    readonly input: { readonly hint: string }
    readonly handler: (invocation: Invocation) => Promise<CommandAnswer>
  }): () => void
}
interface Invocation {
  readonly agent: Agent
  readonly rawInput: string
  readonly signal: AbortSignal
}

/** What a command answers; it is shown to the person and not to the model. */
export interface CommandAnswer {
  readonly kind: 'success' | 'error'
  readonly text: string
}

/** A command. */
export interface Command {
  /** Without the slash. */
  readonly name: string
  readonly description: string
  /** What may follow the name. */
  readonly hint: string
  /** @param words - what followed the name. */
  run(agent: Agent, words: readonly string[], signal: AbortSignal): Promise<CommandAnswer>
}

/** Offer a command for as long as the plugin is mounted. */
export function offerCommand(ctx: Context, { name, description, hint, run }: Command): void {
  ctx.inject(['commands'], scope => {
    const registry = scope.get('commands') as CommandRegistry
    try {
      registry.register({
        name,
        description,
        input: { hint },
        handler: ({ agent, rawInput, signal }) => run(agent, rawInput.split(/\s+/).filter(Boolean), signal),
      })
    } catch (error) {
      ctx.logger.warn(`AGY_COMMAND_TAKEN: "/${name}" is not offered: ${error}`)
    }
  })
}
