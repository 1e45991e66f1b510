/**
 * What `agy models` lists, kept for a while.
 *
 * The command is a network call of 2 to 14 s that hangs while its stdin is open and fails when nobody is signed in, so
 * nobody waits for it long: until the list is there the catalogue holds the default entry alone.
 */
import { TIERS } from './launch.ts'
import { runToEnd } from './process.ts'
import { within } from './waiting.ts'

/** One entry of the catalogue. */
export interface AgyModel {
  /**
   * What `--model` takes, without its tier where the model comes in several; `default` stands for the deployment's pin or
   * the CLI's own choice.
   */
  readonly id: string
  readonly name: string
  /** The tiers that the model comes in, weakest first. */
  readonly efforts?: readonly string[]
  /** The tier of a session that picked none. */
  readonly defaultEffort?: string
}

/** The entry that is always there: no `--model` unless the deployment pins one. */
export const DEFAULT_MODEL_ID = 'default'

const LIMIT_MS = 45_000
const FRESH_MS = 10 * 60_000

/**
 * Read the output of `agy models`: lines of `slug<TAB>Label`, after a progress line that has no tab.
 *
 * @param output - what the command printed.
 */
export function parseModels(output: string): AgyModel[] {
  const models = new Map<string, AgyModel>()
  for (const line of output.split('\n')) {
    const [id, label] = line.split('\t').map(part => part.trim())
    if (id && label && /^[\w.:/@+-]+$/.test(id)) models.set(id, { id, name: label })
  }
  return [...models.values()]
}

/** `gemini-3.8-flash-high` and `Gemini 3.8 Flash (High)` without what names the tier. */
const untiered = (text: string): string => text.replace(/(?:-(?:low|medium|high)| \((?:Low|Medium|High)\))$/, '')

const tierOf = (id: string): string | undefined => TIERS.find(tier => id.endsWith(`-${tier}`))

/** Models that differ in their tier alone become one, with the tiers as its efforts. */
export function groupTiers(models: readonly AgyModel[]): AgyModel[] {
  const families = Map.groupBy(models, ({ id }) => untiered(id))
  return [...families].flatMap(([id, members]) => {
    const efforts = TIERS.filter(tier => members.some(member => tierOf(member.id) === tier))
    const [first] = members
    if (first === undefined || members.length < 2 || efforts.length < members.length) return members
    const defaultEffort = efforts.includes('medium') ? 'medium' : (efforts.at(-1) as string)
    return [{ id, name: untiered(first.name), efforts, defaultEffort }]
  })
}

/** How the list is fetched, and who wants to hear of a new one. */
export interface CatalogueSource {
  /** The program and its environment; rejects when there is none. */
  locate(): Promise<{ file: string; env: Readonly<Record<string, string>> }>
  /** The deployment's pinned model. */
  readonly pinned?: string
  /** Told when a fetched list differs from the one before. */
  onChange(): void
  /** Told why a list could not be had. */
  onFailure(reason: string): void
  /** Aborted when nobody needs the list any more. */
  readonly signal: AbortSignal
}

/** The models that a session may pick. */
export class ModelCatalogue {
  private readonly source: CatalogueSource
  private models: readonly AgyModel[] = []
  private fetchedAt = Number.NEGATIVE_INFINITY
  private fetching: Promise<void> | undefined
  private failure: string | undefined

  constructor(source: CatalogueSource) {
    this.source = source
  }

  /** What was listed last, and why it was not listed again, if so. Asks nobody. */
  get known(): { readonly models: readonly AgyModel[]; readonly failure?: string } {
    const { models, failure } = this
    return { models, ...(failure !== undefined && { failure }) }
  }

  /**
   * List what can be picked now; a stale list is renewed behind the caller's back.
   *
   * @param waitMs - how long the very first list is waited for.
   */
  async list(waitMs: number): Promise<readonly AgyModel[]> {
    if (Date.now() - this.fetchedAt > FRESH_MS) {
      this.fetching ??= this.fetch().finally(() => {
        this.fetching = undefined
      })
      if (this.models.length === 0) await within(this.fetching, waitMs)
    }
    return [this.defaultEntry(), ...this.models]
  }

  /**
   * The entry of one id, also of one that no list holds: the CLI may know more than it lists.
   *
   * @param waitMs - how long the very first list is waited for, if the entry's tiers hang on it.
   */
  async entry(id: string, waitMs: number): Promise<AgyModel> {
    if (id === DEFAULT_MODEL_ID) return this.defaultEntry()
    // Only Gemini families come in tiers (stated by two drivers, 2026).
    const tiered = id.startsWith('gemini-') && tierOf(id) === undefined
    const known = (tiered ? await this.list(waitMs) : this.models).find(model => model.id === id)
    // Which tiers there are, the CLI says when it is asked for one.
    return known ?? { id, name: id, ...(tiered && { efforts: TIERS }) }
  }

  private defaultEntry(): AgyModel {
    const { pinned } = this.source
    return { id: DEFAULT_MODEL_ID, name: pinned === undefined ? "Antigravity's own choice" : `Pinned: ${pinned}` }
  }

  private async fetch(): Promise<void> {
    try {
      const { file, env } = await this.source.locate()
      const { stdout, stderr, exitCode, timedOut } = await runToEnd(file, ['models'], env, LIMIT_MS, this.source.signal)
      if (this.source.signal.aborted) return
      const models = groupTiers(parseModels(stdout))
      if (models.length === 0) {
        const why = timedOut
          ? `no answer in ${LIMIT_MS / 1000} s`
          : stderr.trim().slice(0, 300) || `exit code ${exitCode}`
        this.fail(`\`agy models\` listed nothing: ${why}`)
        return
      }
      this.failure = undefined
      const changed = JSON.stringify(models) !== JSON.stringify(this.models)
      this.models = models
      if (changed) this.source.onChange()
    } catch (error) {
      this.fail(error instanceof Error ? error.message : String(error))
    } finally {
      // A failure is remembered as well: the next picker must not wait again at once.
      this.fetchedAt = Date.now()
    }
  }

  private fail(reason: string): void {
    this.failure = reason
    this.source.onFailure(reason)
  }
}
