/**
 * Reads a profile of dsh from disk, without starting dsh, which would write the profile's files anew: which bundles it has,
 * and which rows their patches and the user's leave in force.
 *
 * Read from dsh's public source (0.1.0-rc.8): `packages/boot/app-boot/src/profile.ts`, `vendor/include/src/index.ts`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Fields, fields } from '../agy/fields.ts'
import { list } from './log-file.ts'

/** An expression that dsh works out when it starts. */
export class Expression {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

/** A row of the composed tree. */
export type Row = Readonly<Record<string, unknown>>

/** A profile as it lies on disk. */
export interface Profile {
  /** Absolute path. */
  readonly folder: string
  /** Packages whose patches make the tree, in order. */
  readonly bundles: readonly string[]
  /** Version of each bundle that is installed. */
  readonly installed: ReadonlyMap<string, string>
  /** Rows in force, by id. */
  readonly rows: ReadonlyMap<string, Row>
}

/** A profile that cannot be read. */
export class ProfileUnreadable extends Error {}

const EXPRESSION = { tag: 'tag:yaml.org,2002:js', resolve: (source: string) => new Expression(source) }

/**
 * Read a profile.
 *
 * @param dshHome - absolute path of `$DSH_HOME`.
 * @returns `undefined` where there is no profile of that name.
 * @throws ProfileUnreadable that names the file and what is wrong with it.
 */
export function readProfile(dshHome: string, name: string): Profile | undefined {
  const folder = join(dshHome, 'profiles', name)
  const manifest = manifestOf(folder)
  if (manifest === undefined) return undefined
  const { bundles: named } = fields(fields(manifest.dsh).profile)
  const bundles = list(named).filter(bundle => typeof bundle === 'string')
  const installed = new Map<string, string>()
  const patches: unknown[] = []
  for (const bundle of bundles) {
    // The installation's own packages are linked beside the profiles.
    const place = [folder, join(dshHome, 'profiles')].map(at => join(at, 'node_modules', bundle)).find(existsSync)
    const own = place === undefined ? undefined : manifestOf(place)
    if (place === undefined || own === undefined) continue
    installed.set(bundle, String(own.version))
    const { patch } = fields(fields(own.dsh).bundle)
    if (typeof patch === 'string') patches.push(...patchesIn(join(place, patch)))
  }
  patches.push(...patchesIn(join(folder, 'cordis.patch.yml')), ...patchesIn(join(dshHome, 'cordis.patch.yml')))
  return { folder, bundles, installed, rows: compose(patches) }
}

function manifestOf(folder: string): Fields | undefined {
  const file = join(folder, 'package.json')
  return existsSync(file) ? fields(readable(file, JSON.parse)) : undefined
}

function patchesIn(file: string): readonly unknown[] {
  if (!existsSync(file)) return []
  const value = readable(file, text => {
    const parsed: unknown = parse(text, { customTags: [EXPRESSION], logLevel: 'error' })
    // Refuses an anchor that holds itself.
    JSON.stringify(parsed)
    return parsed
  })
  if (!Array.isArray(value)) throw new ProfileUnreadable(`${file} is no list of patches. Correct the file.`)
  return value
}

function readable(file: string, read: (text: string) => unknown): unknown {
  try {
    return read(readFileSync(file, 'utf8'))
  } catch (error) {
    // Its words quote the file, which may hold secrets: the code and the place are told alone.
    const { code, linePos } = error as { code?: string; linePos?: readonly { readonly line: number }[] }
    const place = linePos?.[0] === undefined ? '' : ` at line ${linePos[0].line}`
    throw new ProfileUnreadable(
      `${file} cannot be read (${code ?? 'it is not well-formed'}${place}). Correct the file.`,
    )
  }
}

/** Apply patches in order, as dsh does: rows are inserted or have members replaced as a whole. */
function compose(patches: readonly unknown[]): ReadonlyMap<string, Row> {
  const rows = new Map<string, Record<string, unknown>>()
  const add = (inserted: readonly unknown[]): void => {
    for (const value of inserted) {
      const row = { ...fields(value) }
      if (typeof row.id === 'string') rows.set(row.id, row)
      if (row.group && Array.isArray(row.config)) add(row.config)
    }
  }
  for (const patch of patches) {
    const { id, insert, name, ...overrides } = fields(patch)
    if (Array.isArray(insert)) {
      add(insert)
      continue
    }
    const target = typeof id === 'string' ? rows.get(id) : undefined
    if (target === undefined || (name !== undefined && name !== target.name)) continue
    Object.assign(target, overrides)
  }
  return rows
}
