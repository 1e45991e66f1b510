import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { type CatalogueSource, groupTiers, ModelCatalogue, parseModels } from '../../src/agy/models.ts'
import { privateFolder, STAND_IN } from '../support/folders.ts'

const source = (more: Partial<CatalogueSource> = {}): CatalogueSource => ({
  locate: () => Promise.resolve({ file: STAND_IN, env: { PATH: process.env.PATH ?? '' } }),
  onChange: vi.fn(),
  onFailure: vi.fn(),
  signal: new AbortController().signal,
  ...more,
})

test('the list is read from lines with a tab, and everything else is passed over', () => {
  const output = readFileSync(join(STAND_IN, '..', 'models.txt'), 'utf8')
  expect(parseModels(output)[0]).toEqual({ id: 'gemini-3.8-flash-high', name: 'Gemini 3.8 Flash (High)' })
  expect(parseModels('Fetching available models...\nError: Please sign in\na b\tX\n\tY\nz\t\n')).toEqual([])
})

describe('tiers', () => {
  const model = (id: string, name = id) => ({ id, name })

  test('of one model are its efforts', () => {
    const listed = [
      model('gemini-3.8-flash-high', 'Gemini 3.8 Flash (High)'),
      model('gemini-3.8-flash-low', 'Gemini 3.8 Flash (Low)'),
      model('gemini-3.8-flash-medium', 'Gemini 3.8 Flash (Medium)'),
      model('claude-sonnet-4-6', 'Claude Sonnet 4.6 (Thinking)'),
    ]
    expect(groupTiers(listed)).toEqual([
      {
        id: 'gemini-3.8-flash',
        name: 'Gemini 3.8 Flash',
        efforts: ['low', 'medium', 'high'],
        defaultEffort: 'medium',
      },
      model('claude-sonnet-4-6', 'Claude Sonnet 4.6 (Thinking)'),
    ])
  })

  test.each([
    ['a single one', [model('gpt-oss-120b-medium')]],
    ['a model without a tier beside one with', [model('gemini-4-high'), model('gemini-4')]],
  ])('%s stays as it is listed', (_what, listed) => {
    expect(groupTiers(listed)).toEqual(listed)
  })
})

describe('the catalogue', () => {
  test('holds the default entry and what the CLI lists, and tells of a change once', async () => {
    const from = source({ pinned: 'gemini-3.8-flash-low' })
    const catalogue = new ModelCatalogue(from)
    const models = await catalogue.list(30_000)
    expect(models[0]).toEqual({ id: 'default', name: 'Pinned: gemini-3.8-flash-low' })
    expect(models.map(model => model.id)).toContain('claude-sonnet-4-6')
    await catalogue.list(30_000)
    expect(from.onChange).toHaveBeenCalledTimes(1)
    expect((await catalogue.entry('claude-sonnet-4-6', 0)).name).toBe('Claude Sonnet 4.6 (Thinking)')
    expect(await catalogue.entry('not-listed', 0)).toEqual({ id: 'not-listed', name: 'not-listed' })
  })

  test('waits for the list only where the tiers of a model hang on it', async () => {
    const file = join(privateFolder(), 'models.txt')
    writeFileSync(
      file,
      'gemini-3.8-flash-low\tGemini 3.8 Flash (Low)\ngemini-3.8-flash-high\tGemini 3.8 Flash (High)\n',
    )
    const env = { PATH: process.env.PATH ?? '', AGY_STANDIN_MODELS: file }
    const locate = vi.fn(() => Promise.resolve({ file: STAND_IN, env }))
    const catalogue = new ModelCatalogue(source({ locate }))
    await catalogue.entry('claude-sonnet-4-6', 30_000)
    await catalogue.entry('gemini-3.8-flash-high', 30_000)
    expect(locate).not.toHaveBeenCalled()
    expect(await catalogue.entry('gemini-3.8-flash', 30_000)).toEqual({
      id: 'gemini-3.8-flash',
      name: 'Gemini 3.8 Flash',
      efforts: ['low', 'high'],
      defaultEffort: 'high',
    })
    // One that is not listed may still be asked for, with a tier.
    expect(await catalogue.entry('gemini-9-ultra', 30_000)).toMatchObject({ efforts: ['low', 'medium', 'high'] })
  })

  test('does not wait longer than it is told, and has the list later', async () => {
    let changed = () => {}
    const whenChanged = new Promise<void>(resolve => {
      changed = resolve
    })
    const catalogue = new ModelCatalogue(source({ onChange: () => changed() }))
    expect(await catalogue.list(0)).toHaveLength(1)
    await whenChanged
    expect((await catalogue.list(0)).length).toBeGreaterThan(1)
  })

  test('says why there is no list, once, and still offers the default', async () => {
    const from = source({ locate: () => Promise.reject(new Error('No "agy" was found')) })
    const catalogue = new ModelCatalogue(from)
    expect(await catalogue.list(30_000)).toHaveLength(1)
    expect(await catalogue.list(30_000)).toHaveLength(1)
    expect(from.onFailure).toHaveBeenCalledExactlyOnceWith('No "agy" was found')
  })
})
