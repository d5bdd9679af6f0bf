import { parseIsoInstant, toEpochDay } from '#core/calendar.ts'
import { accountPath, allUndefined } from './account-path.ts'
import { holdingFigures, NO_WEEKS } from './benchmark.ts'
import { undefinedBecause } from './figure.ts'
import { type Series, sliceSeries } from './series.ts'

/** The first version with the history of a strategy; `isNew` if no version before has it. */
export type Publication = { readonly since: string; readonly isNew: boolean }

/**
 * The `since_publication` block: the days up to and including that of the first version with this history, and the later
 * ones, which nobody could know when it was published. All of it is undefined before a version is compared, and the later
 * part in the first version (`not_published`). After a ruin there is no later part (`ruin`).
 */
export function sincePublicationFigures(daily: Series, publication: Publication | null) {
  const day = publication === null ? null : toEpochDay(parseIsoInstant(publication.since)!)
  const before = sliceSeries(daily, null, day)
  const after = sliceSeries(daily, day === null ? null : day + 1, null)
  const early = partFigures(before)
  const late = partFigures(after)
  const none = undefinedBecause('not_published')
  const isRuined = accountPath(before, NO_WEEKS, 1).ruinDay !== null
  return {
    published_since: publication?.since ?? null,
    days_before: publication === null ? none : before.values.length,
    days_after: publication === null ? none : after.values.length,
    before: publication === null ? allUndefined(early, 'not_published') : early,
    after:
      publication === null || publication.isNew
        ? allUndefined(late, 'not_published')
        : isRuined
          ? allUndefined(late, 'ruin')
          : late,
  }
}

function partFigures(daily: Series) {
  const figures = holdingFigures(accountPath(daily, NO_WEEKS, 1))
  if (daily.values.length > 0) return figures
  return { ...allUndefined(figures, 'too_few_points'), cagr_pct: figures.cagr_pct }
}
