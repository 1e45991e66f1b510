/** The provider of a hosted engine: lists its models for the picker and marks their route as served. */
import { refusal } from '../host/generation.ts'
import {
  type GenerateOptions,
  LlmAdapter,
  LlmError,
  type LlmModelInfo,
  type LlmResolvedModelInfo,
  ReasoningEffortId,
  type StreamChunk,
} from '../host/llm.ts'

/** A model as a catalogue knows it. */
export interface CatalogueModel {
  readonly id: string
  readonly name: string
  /** Efforts that can be picked, weakest first. */
  readonly efforts?: readonly string[]
  readonly defaultEffort?: string
}

/** Where a provider has its models from. */
export interface Catalogue {
  /** What can be picked; the very first list is waited for at most so many milliseconds. */
  list(waitMs: number): Promise<readonly CatalogueModel[]>
  /** The model of one id, also of one that no list holds; the very first list is waited for at most so long. */
  entry(id: string, waitMs: number): Promise<CatalogueModel>
}

/** Answers the host's own calls, such as titles. */
export type AuxiliaryCalls = (options: GenerateOptions) => AsyncIterable<StreamChunk>

/** How long a picker waits for the very first list, in milliseconds. */
const FIRST_LIST_MS = 3_000

/** Adapter of one hosted provider route. */
export class HostedProvider extends LlmAdapter {
  private readonly displayName: string
  private readonly catalogue: Catalogue
  private readonly auxiliary: AuxiliaryCalls | undefined

  /**
   * @param displayName - the provider's name in pickers.
   * @param auxiliary - answers the host's own calls; absent, they are refused.
   */
  constructor(displayName: string, catalogue: Catalogue, auxiliary?: AuxiliaryCalls) {
    super()
    this.displayName = displayName
    this.catalogue = catalogue
    this.auxiliary = auxiliary
  }

  override providerInfo(provider: string) {
    return { id: provider, name: this.displayName }
  }

  override async listModels(provider: string): Promise<readonly LlmModelInfo[]> {
    const models = await this.catalogue.list(FIRST_LIST_MS)
    return models.map(model => info(provider, model))
  }

  override async resolveModel(provider: string, model: string): Promise<LlmResolvedModelInfo> {
    return info(provider, await this.catalogue.entry(model, FIRST_LIST_MS))
  }

  override async *stream(options: GenerateOptions): AsyncIterable<StreamChunk> {
    if (options.purpose !== undefined) {
      if (this.auxiliary !== undefined) return yield* this.auxiliary(options)
      throw new LlmError(
        `${this.displayName} does not serve calls of the purpose "${options.purpose}" in this deployment; name another model for them.`,
        'ENGINE_AUXILIARY_UNSERVED',
      )
    }
    const { code, problem } = refusal('its own loop calls a hosted model itself')
    throw new LlmError(problem, code)
  }
}

const info = (provider: string, model: CatalogueModel): LlmResolvedModelInfo => ({
  provider,
  id: model.id,
  name: model.name,
  inputModalities: ['text', 'image'],
  ...(model.efforts && {
    reasoning: {
      efforts: model.efforts.map(effort => ({ id: ReasoningEffortId(effort), name: titled(effort) })),
      ...(model.defaultEffort !== undefined && { defaultEffort: ReasoningEffortId(model.defaultEffort) }),
    },
  }),
})

const titled = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
