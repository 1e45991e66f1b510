/**
 * The `apply` of a row that drives a headless dsh and ends it with the driver's exit code.
 *
 * @param {(ctx: any, config: any) => Promise<number>} drive
 */
export const drivenBy = drive =>
  function apply(ctx, config) {
    const exit = ctx.get('appExit')
    drive(ctx, config).then(exit, error => {
      process.stderr.write(`${error?.stack ?? error}\n`)
      exit(1)
    })
  }
