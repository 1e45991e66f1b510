/** The package admits the versions of dsh that were run, and no other. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import semver from 'semver'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const json = (...path: string[]) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'))
const { peerDependencies } = json('package.json') as { peerDependencies: Record<string, string> }
const PEERS = Object.entries(peerDependencies)
const OF_DSH = PEERS.filter(([name]) => name.startsWith('@deepseek-ai/dsh-'))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const COMPATIBILITY = readFileSync(join(ROOT, 'docs', 'compatibility.md'), 'utf8')

/** Neighbours that nobody ran: later candidates, the release, later generations. */
const NEVER_RUN = ['0.1.0-rc.6', '0.1.0-rc.7', '0.1.0-rc.9', '0.1.0', '0.1.1-rc.2', '0.1.5-rc.2', '0.1.7', '0.2.0']

test('there are peers', () => {
  expect(OF_DSH.length).toBeGreaterThan(5)
})

describe.each(PEERS)('%s %s', (name, range) => {
  const { version } = json('node_modules', name, 'package.json') as { version: string }

  test('admits what is installed, which the tests run with', () => {
    expect(semver.satisfies(version, range)).toBe(true)
  })

  test('is named in the README and the page on versions, as the version that was run', () => {
    const named = COMPATIBILITY.match(/^- \*\*dsh\*\* (\S+) with .*$/m)?.[1]
    expect(name.startsWith('@deepseek-ai/dsh-') ? named : version).toBe(version)
    expect(README).toContain(`You need dsh ${named} on Node`)
  })
})

test.each(OF_DSH)('%s %s admits nothing that was not run', (_, range) => {
  const admitted = (candidates: string): string[] => NEVER_RUN.filter(version => semver.satisfies(version, candidates))
  expect(admitted(range)).toEqual([])
  // A caret would let later generations in.
  expect(admitted('^0.1.0-rc.8')).toEqual(['0.1.0-rc.9', '0.1.0', '0.1.7'])
})
