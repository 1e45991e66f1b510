/** A row that kills its own dsh, as SIGKILL does it, at the n-th event of a session. */
export const name = 'kill-host'
export const inject = ['sessions']

export function apply(ctx, { at }) {
  let seen = 0
  ctx.on('session/event', () => {
    seen += 1
    if (seen === at) process.kill(process.pid, 'SIGKILL')
  })
}
