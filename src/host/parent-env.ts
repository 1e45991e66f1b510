/** The host's own idea of an environment that may be handed to a child: no credentials, nothing of dsh's. */
export { scrubbedParentEnv } from '@deepseek-ai/dsh-subprocess'
