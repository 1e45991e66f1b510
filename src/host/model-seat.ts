/** What the page shows as a session's model. */
import type { Context } from '@deepseek-ai/cordis'

/**
 * Tell when a session was routed to a provider for the first time.
 *
 * The page reads a session's model anew when the models of a provider change. A preset routes to a model that nobody has
 * picked, and this is how the page learns what really ran.
 *
 * @param announce - makes the host say that the provider's models have changed.
 */
export function onFirstRoute(ctx: Context, provider: string, announce: () => void): void {
  ctx.on('session/event', (_session, { type, data }) => {
    if (type === 'request/header' && data.reason === 'initial' && data.header.config.provider === provider) announce()
  })
}
