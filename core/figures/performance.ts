import { parseIsoInstant, toEpochDay, toIsoDate } from '#core/calendar.ts'
import { type AccountPath, accountPath, allUndefined, cagr, dailyPath, unlessRuined } from './account-path.ts'
import { daysUnderwater, maxDrawdown } from './drawdown.ts'
import { type Figure, percent, percentFigure, type UndefinedReason, undefinedBecause } from './figure.ts'
import { longestRun, sampleDeviation } from './moments.ts'
import { DAYS_PER_YEAR, dayOf, lastDay, type Series, sliceSeries, WEEKS_PER_YEAR } from './series.ts'
import { annualized, sharpe, sortino } from './sharpe.ts'

/**
 * The performance of a strategy, or of a book, at `k` times its base risk. Net return, CAGR and drawdowns are
 * those of the curve recompounded from `k * r`; the ratios are those of the base returns and do not depend on
 * `k`. A ruined account has net return, CAGR and drawdown -100 and no ratios (`ruin`); a CAGR needs 365 days
 * (`less_than_one_year`), ruined or not, and a ratio 90 days or 26 weeks (`too_few_points`).
 *
 * Cost: 0.12 ms for 4 000 days on a core of 2.5 GHz.
 *
 * @param daily base returns, gapless
 * @param weekly the complete weeks of the same base returns
 * @param k `risk_pct / base_risk_pct`
 */
export function performanceFigures(daily: Series, weekly: Series, k: number) {
  const path = accountPath(daily, weekly, k)
  const { depths, ruinDay } = path
  const n = daily.values.length
  return {
    n_days: n,
    n_weeks: weekly.values.length,
    // The first and the last day, ISO dates; null without days.
    start: n === 0 ? null : toIsoDate(daily.first),
    end: n === 0 ? null : toIsoDate(lastDay(daily)),
    ruined: ruinDay !== null,
    ruin_t: ruinDay === null ? null : toIsoDate(dayOf(daily, ruinDay)),
    ...headlineFigures(path),
    ...unlessRuined(path, {
      sortino_daily_annualized: annualized(daily.values, DAYS_PER_YEAR, sortino),
      sharpe_weekly_annualized: annualized(weekly.values, WEEKS_PER_YEAR, sharpe),
    }),
    time_underwater: { longest_days: longestRun(depths, -1), total_days: daysUnderwater(depths) },
  }
}

/** The figures by which one history is compared with another; null rules as above. */
export const headlineFigures = (path: AccountPath) => ({
  net_return_pct: percent(path.curve.at(-1)! - 1),
  cagr_pct: percentFigure(cagr(path.curve)),
  max_drawdown_pct: percent(maxDrawdown(path.depths)),
  ...unlessRuined(path, { sharpe_daily_annualized: annualized(path.daily.values, DAYS_PER_YEAR, sharpe) }),
})

/** Those by which a benchmark and a part of a history are shown; the volatility needs two days (`too_few_points`). */
export function holdingFigures(path: AccountPath) {
  const { values } = path.daily
  const volatility = percent(path.k * sampleDeviation(values) * Math.sqrt(DAYS_PER_YEAR))
  return {
    ...headlineFigures(path),
    ...unlessRuined(path, {
      volatility_annualized_pct: values.length < 2 ? undefinedBecause('too_few_points') : volatility,
    }),
  }
}

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

/** Those of a part of a history; but for the CAGR undefined without a day (`too_few_points`). */
export function partFigures(part: AccountPath) {
  const figures = holdingFigures(part)
  const { cagr_pct: _, ...others } = figures
  return { ...figures, ...unless(part.daily.values.length === 0 ? 'too_few_points' : null, others) }
}
