import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { type CatalogueSource, ModelCatalogue, parseModels } from '../../src/agy/models.ts'
import { STAND_IN } from '../support/folders.ts'

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

describe('the catalogue', () => {
  test('holds the default entry and what the CLI lists, and tells of a change once', async () => {
    const from = source({ pinned: 'gemini-3.8-flash-low' })
    const catalogue = new ModelCatalogue(from)
    const models = await catalogue.list(30_000)
    expect(models[0]).toEqual({ id: 'default', name: 'Pinned: gemini-3.8-flash-low' })
    expect(models.map(model => model.id)).toContain('claude-sonnet-4-6')
    await catalogue.list(30_000)
    expect(from.onChange).toHaveBeenCalledTimes(1)
    expect(catalogue.entry('claude-sonnet-4-6').name).toBe('Claude Sonnet 4.6 (Thinking)')
    expect(catalogue.entry('not-listed')).toEqual({ id: 'not-listed', name: 'not-listed' })
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
