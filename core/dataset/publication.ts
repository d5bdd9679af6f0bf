import type { Change, Changes, Declaration } from '#core/contract/payloads/changes.ts'
import type { RemovedStrategy } from '#core/contract/payloads/strategy.ts'
import { type FigureValue, splitFigures } from '#core/figures/figure.ts'
import { type Publication, sincePublicationFigures } from '#core/figures/performance.ts'
import { effectiveInstant, enteredOf } from './entered.ts'
import { type Ancestor, restatedIn, toAncestor } from './lineage.ts'
import type { Snapshot, StrategyData } from './snapshot.ts'

export type Compared = {
  readonly changes: Changes
  /** What was served; null without one, and if it cannot be read any more. */
  readonly before: Snapshot | null
  /** The same, or the newest that can be read: its lists of versions and of removed strategies are carried on. */
  readonly record: Pick<PublishedRecord, 'dataset'> | null
  readonly gone: PublishedRecord['strategies']
}

/** What users have seen of a snapshot, as far as it can be read. */
export type PublishedRecord = {
  readonly strategies: readonly (Pick<StrategyData, 'id' | 'name' | 'published_since'> & {
    readonly daily: { readonly values: { readonly length: number } }
  })[]
  readonly dataset: Pick<Snapshot['dataset'], 'lineage' | 'removed'>
}

/**
 * The snapshot as it is published after the version that was served until then: since when the history and the rules of
 * each strategy are published, its figures before and after, what each version changed, and which strategies were removed.
 * A version that did not record it counts itself as the first. `loggedAt` is when the pointer log first named each earlier
 * version.
 */
export function withPublications(
  snapshot: Snapshot,
  { changes, before, record, gone }: Compared,
  loggedAt: ReadonlyMap<string, string> = new Map(),
): Snapshot {
  const now = effectiveInstant(snapshot.dataset)
  const ancestors = (record?.dataset.lineage ?? []).map(
    (ancestor): Ancestor => ({ ...ancestor, entered: enteredOf(ancestor, loggedAt.get(ancestor.version)) }),
  )
  /** An older release recorded the name of a version; this one, the instant from which it is known. */
  const borneOut = (since: string): string => {
    const entered = ancestors.find(({ version }) => version === since)?.entered ?? null
    return effectiveInstant({ version: since, entered }, loggedAt.get(since))
  }
  const old = new Map(before?.strategies.map(strategy => [strategy.id, strategy]))
  const kept = keptIn(changes)
  const strategies = snapshot.strategies.map(strategy => {
    const was = old.get(strategy.id)
    const sinceBefore = was && borneOut(was.published_since ?? before!.dataset.version)
    const since = kept.has(strategy.id) ? sinceBefore : undefined
    // Other files under the same version of a module are published only if they are declared to be the same rules.
    const rules =
      was?.module_version === strategy.module_version ? (was?.rules_since ?? sinceBefore) : undefined
    return {
      ...published(strategy, { since: since ?? now, isNew: since === undefined }),
      rules_since: strategy.module_version === null ? null : (rules ?? now),
    }
  })
  const lineage = [...ancestors, toAncestor(changes, snapshot.dataset.entered)]
  const removed = gone.map(strategy => toRemoved(strategy, now, changes.declared ?? []))
  const dataset = { ...snapshot.dataset, lineage, removed: [...(record?.dataset.removed ?? []), ...removed] }
  return { ...snapshot, strategies, dataset }
}

function keptIn(changes: Changes): ReadonlySet<string> {
  if (changes.not_compared !== undefined) return new Set()
  const restated = new Set(restatedIn(changes).map(({ id }) => id))
  const isOther = ({ field, old }: Change): boolean =>
    field === 'module_version' || (field === 'ended' && old !== null)
  const kept = changes.strategies.filter(({ id, catalogue }) => !restated.has(id) && !catalogue.some(isOther))
  return new Set(kept.map(({ id }) => id))
}

const toRemoved = (
  { id, name, published_since, daily }: Compared['gone'][number],
  now: string,
  declared: readonly Declaration[],
): RemovedStrategy => ({
  ...{ id, name, on: now.slice(0, 10) },
  reason: declared.find(({ what, of }) => what === 'remove' && of === id)?.reason ?? '',
  ...{ published_since, days: daily.values.length },
})

function published(strategy: StrategyData, publication: Publication): StrategyData {
  const { values, undefined: reasons } = strategy.figures
  const since_publication = sincePublicationFigures(strategy.daily, publication)
  const block = splitFigures({ fund_dd: { since_publication } })
  const others = Object.entries(reasons).filter(([path]) => !path.startsWith('fund_dd/since_publication/'))
  const figures = {
    values: { ...values, fund_dd: { ...toGroup(values.fund_dd), ...toGroup(block.values.fund_dd) } },
    undefined: { ...Object.fromEntries(others), ...block.undefined },
  }
  return { ...strategy, published_since: publication.since, figures }
}

const toGroup = (value: FigureValue | undefined): object => (typeof value === 'object' ? (value ?? {}) : {})
