/** Packs the package and installs it into both profiles of a template home, once for all tests that boot the real dsh. */
import { join } from 'node:path'
import { installInto, PRIVATE, pack } from '../../scripts/private-host.mjs'
import { setUp } from '../../scripts/setup.mjs'

export const TEMPLATE_HOME = join(PRIVATE, 'test-home')

export async function setup(): Promise<void> {
  await setUp()
  const tarball = await pack(join(PRIVATE, 'package'))
  for (const profile of ['headless', 'web']) await installInto(TEMPLATE_HOME, profile, tarball)
}
