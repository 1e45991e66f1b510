/** A row for dsh's headless profile that waits until everything is mounted, and ends. */
export const name = 'boot-driver'
export const inject = ['agents', 'sessions']

export function apply(ctx) {
  const exit = ctx.get('appExit')
  Promise.resolve(ctx.get('loader')?.await()).then(() => exit(0), exit)
}
