/** `npm run package`: writes the tarball that `dsh plugin add` takes, and prints its path. */
import { join } from 'node:path'
import { PRIVATE, pack } from './private-host.mjs'

console.log(await pack(join(PRIVATE, 'package')))
