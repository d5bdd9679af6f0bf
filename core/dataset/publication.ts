import type { Changes } from '#core/contract/payloads/changes.ts'
import { type Publication, sincePublicationFigures } from '#core/figures/since-publication.ts'
import { type FigureBlock, type FigureValue, splitFigures } from '#core/figures/split-figures.ts'
import { effectiveInstant, enteredOf } from './entered.ts'
import { type Ancestor, toAncestor } from './lineage.ts'
import { isRestated } from './restated.ts'
import type { Snapshot, StrategyData } from './snapshot.ts'

/**
 * The snapshot as it is published after `before`, the version that was served until then (null if there is none): since
 * when the history of each strategy is published, its figures before and after, and what each version changed. A version
 * that did not record it counts itself as the first. `loggedAt` is when the pointer log first named each earlier version.
 */
export function withPublications(
  snapshot: Snapshot,
  before: Snapshot | null,
  changes: Changes,
  loggedAt: ReadonlyMap<string, string> = new Map(),
): Snapshot {
  const ancestors = (before?.dataset.lineage ?? []).map(
    (ancestor): Ancestor => ({ ...ancestor, entered: enteredOf(ancestor, loggedAt.get(ancestor.version)) }),
  )
  /** An older release recorded the name of a version; this one, the instant from which it is known. */
  const borneOut = (since: string): string => {
    const entered = ancestors.find(({ version }) => version === since)?.entered ?? null
    return effectiveInstant({ version: since, entered }, loggedAt.get(since))
  }
  const old = new Map(before?.strategies.map(strategy => [strategy.id, strategy]))
  const isKept = (id: string): boolean => {
    const change = changes.strategies.find(each => each.id === id)
    return (
      change !== undefined &&
      !isRestated(change) &&
      !change.catalogue.some(({ field }) => field === 'module_version')
    )
  }
  const strategies = snapshot.strategies.map(strategy => {
    const was = old.get(strategy.id)
    const kept = was !== undefined && isKept(strategy.id) ? was : undefined
    const since = kept && (kept.published_since ?? before?.dataset.version)
    return published(strategy, {
      since: since === undefined ? effectiveInstant(snapshot.dataset) : borneOut(since),
      isNew: since === undefined,
    })
  })
  const lineage = [...ancestors, toAncestor(changes, snapshot.dataset.entered)]
  return { ...snapshot, strategies, dataset: { ...snapshot.dataset, lineage } }
}

function published(strategy: StrategyData, publication: Publication): StrategyData {
  const block = splitFigures({
    fund_dd: { since_publication: sincePublicationFigures(strategy.daily, publication) },
  })
  return {
    ...strategy,
    published_since: publication.since,
    figures: merged(strategy.figures, block),
  }
}

function merged({ values, undefined: reasons }: FigureBlock, block: FigureBlock): FigureBlock {
  const others = Object.entries(reasons).filter(([path]) => !path.startsWith('fund_dd/since_publication/'))
  return {
    values: { ...values, fund_dd: { ...toGroup(values.fund_dd), ...toGroup(block.values.fund_dd) } },
    undefined: { ...Object.fromEntries(others), ...block.undefined },
  }
}

const toGroup = (value: FigureValue | undefined): object => (typeof value === 'object' ? (value ?? {}) : {})
