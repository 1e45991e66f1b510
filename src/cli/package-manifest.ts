/** What this package says of itself. */
import { readFileSync } from 'node:fs'

/** The parts of the manifest that are read. */
export interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** It lies two folders up, in the sources as in the build. */
export const packageManifest = (): PackageManifest =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as PackageManifest
