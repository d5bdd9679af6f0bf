import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { MOST_LISTED, type SeriesChanges } from '#core/contract/payloads/changes.ts'
import { toSignificant } from '#core/contract/rounding.ts'
import { dayOf, lastDay, type Series, STEP_DAYS } from '#core/figures/series.ts'

/**
 * What `after` adds to `before` and what it alters, at the precision that was published. Appended is what lies after
 * the old end; a value that comes before the old beginning alters history too, because the equity begins there.
 */
export function compareSeries(before: Series, after: Series): SeriesChanges {
  const restated: SeriesChanges['restated'] = []
  let count = 0
  const end = before.values.length === 0 ? dayOf(after, -1) : lastDay(before)
  for (const day of daysUpTo(before, after, end)) {
    const [old, now] = [publishedOn(before, day), publishedOn(after, day)]
    if (old === now) continue
    count++
    if (restated.length < MOST_LISTED) restated.push({ t: toIsoDate(day), old, new: now })
  }
  return { appended: appendedAfter(after, end), restated_count: count, restated }
}

/** The days of both series up to the old end, ascending: they step alike, so the earlier beginning gives the grid. */
function* daysUpTo(before: Series, after: Series, end: EpochDay): Generator<EpochDay> {
  if (before.values.length === 0) return
  const first = after.values.length === 0 ? before.first : Math.min(before.first, after.first)
  for (let day = first; day <= end; day += STEP_DAYS[before.period]) yield day
}

function publishedOn(series: Series, day: EpochDay): number | null {
  const value = series.values[(day - series.first) / STEP_DAYS[series.period]]
  return value === undefined ? null : toSignificant(value)
}

function appendedAfter(after: Series, end: EpochDay): SeriesChanges['appended'] {
  const { length } = after.values
  const known = Math.max(0, (end - after.first) / STEP_DAYS[after.period] + 1)
  if (known >= length) return null
  return { from: toIsoDate(dayOf(after, known)), to: toIsoDate(lastDay(after)), n: length - known }
}
