import { expect, test } from 'vitest'
import { type Catalogue, HostedProvider } from '../../src/engine/hosted-provider.ts'
import type { GenerateOptions } from '../../src/host/llm.ts'

const MODELS = [{ id: 'one', name: 'One', efforts: ['low', 'high'], defaultEffort: 'high' }]
const catalogue: Catalogue = {
  list: async () => MODELS,
  entry: async id => ({ id, name: id }),
}
const asked = (more: object) => ({ provider: 'p', model: 'one', messages: [], ...more }) as unknown as GenerateOptions

async function failureOf(provider: HostedProvider, options: GenerateOptions): Promise<unknown> {
  try {
    for await (const _chunk of provider.stream(options));
  } catch (error) {
    return error
  }
  return undefined
}

test('models are listed with their efforts, and any id can be resolved', async () => {
  const provider = new HostedProvider('Vendor', catalogue)
  expect(provider.providerInfo('p')).toEqual({ id: 'p', name: 'Vendor' })
  const [model] = await provider.listModels('p')
  expect(model).toMatchObject({
    provider: 'p',
    id: 'one',
    reasoning: {
      efforts: [
        { id: 'low', name: 'Low' },
        { id: 'high', name: 'High' },
      ],
      defaultEffort: 'high',
    },
  })
  expect(await provider.resolveModel('p', 'other')).toMatchObject({ id: 'other', name: 'other' })
})

test("the host's own calls are refused where nobody answers them, and answered where somebody does", async () => {
  const title = asked({ purpose: 'session-title' })
  expect(await failureOf(new HostedProvider('Vendor', catalogue), title)).toMatchObject({
    code: 'ENGINE_AUXILIARY_UNSERVED',
    message: expect.stringContaining('"session-title"'),
  })
  const heard: GenerateOptions[] = []
  const answering = new HostedProvider('Vendor', catalogue, async function* (options) {
    heard.push(options)
    yield { type: 'text-delta', index: 0, text: 'A title' }
  })
  expect(await failureOf(answering, title)).toBeUndefined()
  expect(heard).toEqual([title])
})

test('a step that the host would take itself is refused by name', async () => {
  expect(await failureOf(new HostedProvider('Vendor', catalogue), asked({}))).toMatchObject({
    code: 'ENGINE_HOST_UNSUPPORTED',
  })
})
