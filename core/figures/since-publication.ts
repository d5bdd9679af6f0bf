import { parseIsoInstant, toEpochDay } from '#core/calendar.ts'
import { type AccountPath, allUndefined, dailyPath } from './account-path.ts'
import type { Figure, UndefinedReason } from './figure.ts'
import { holdingFigures } from './performance.ts'
import { lastDay, type Series, sliceSeries } from './series.ts'

/** The instant since when the history of a strategy is published; `isNew` if no version before has it. */
export type Publication = { readonly since: string; readonly isNew: boolean }

/**
 * The `since_publication` block: the days up to and including that of the first version with this history, and the later
 * ones, which nobody could know when it was published. All of it is undefined before a version is compared, and the later
 * part in the first version (`not_published`). After a ruin there is no later part (`ruin`).
 */
export function sincePublicationFigures(daily: Series, publication: Publication | null) {
  const day = publication === null ? lastDay(daily) : toEpochDay(parseIsoInstant(publication.since)!)
  const before = dailyPath(sliceSeries(daily, null, day))
  const after = dailyPath(sliceSeries(daily, day + 1, null))
  const unknown = publication === null ? 'not_published' : null
  const noLater = publication?.isNew ? 'not_published' : before.ruinDay === null ? null : 'ruin'
  return {
    published_since: publication?.since ?? null,
    ...unless(unknown, { days_before: before.daily.values.length, days_after: after.daily.values.length }),
    before: unless(unknown, partFigures(before)),
    after: unless(unknown ?? noLater, partFigures(after)),
  }
}

const unless = <Field extends string>(reason: UndefinedReason | null, block: Record<Field, Figure>) =>
  reason === null ? block : allUndefined(block, reason)

function partFigures(part: AccountPath) {
  const figures = holdingFigures(part)
  const { cagr_pct: _, ...others } = figures
  return { ...figures, ...unless(part.daily.values.length === 0 ? 'too_few_points' : null, others) }
}
