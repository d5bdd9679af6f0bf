// What a fact sheet shows at one risk level, computed by the functions that make the published figures.
import { type EpochDay, parseIsoInstant, toEpochDay } from '#core/calendar.ts'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import { compounded, type RiskLevel, riskFactor } from '#core/dataset/resources/risk-level.ts'
import { type AccountPath, accountPath, equityFromBaseline } from '#core/figures/account-path.ts'
import { benchmarkOver } from '#core/figures/benchmark.ts'
import { annualFigures, monthlyFigures } from '#core/figures/calendar-periods.ts'
import { worstDrawdowns } from '#core/figures/drawdown-figures.ts'
import { splitFigures } from '#core/figures/figure.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import { stressFigures } from '#core/figures/risk-profile.ts'
import { dayOf, lastDay, type Series, sliceSeries } from '#core/figures/series.ts'
import { yearAheadFigures } from '#core/figures/year-ahead.ts'
import type { SheetFacts, SheetSeries } from './facts.ts'

/** The days that a page shows; null for no bound. */
export type Range = { readonly from: EpochDay | null; readonly to: EpochDay | null }

export type SheetModel = ReturnType<typeof sheetModel>

/**
 * Everything that the sheet shows at a level, of an account that begins with equity 1 on the first day of the range. A range of
 * fewer than two days, or after the ruin at this level, has no account: then it is that of all days. Throws
 * `validation_error` if a figure is too large to be published.
 */
export function sheetModel(
  facts: SheetFacts,
  series: SheetSeries,
  level: RiskLevel | null,
  range: Range = { from: null, to: null },
) {
  const factor = riskFactor(level, facts.base_risk_pct)
  return compounded(facts, level, () => {
    const whole = accountPath(series.daily, series.weekly, factor)
    const path = pathIn(whole, range)
    const { daily, weekly } = path
    const { base_risk_pct: base, refused_above_risk_pct: most } = facts
    const equityOf = (benchmark: Series | null): Float64Array | null => {
      const held = benchmarkOver(daily, benchmark)
      return held === null ? null : equityFromBaseline(held.values)
    }
    return {
      facts,
      /** Null at base risk. */
      level,
      path,
      days: { from: daily.first, to: lastDay(daily) },
      all: { from: whole.daily.first, to: lastDay(whole.daily) },
      /** Whether the strategy itself would have refused entries at this level. */
      isRefused: most !== null && (level?.effective ?? base) > most,
      /** As `/stats` publishes them at this level. */
      figures: publishFigures(splitFigures(performanceFigures(daily, weekly, factor)).values),
      /** As `fund_dd` publishes them at base risk. */
      monthly: monthlyFigures(path),
      annual: annualFigures(path, []), // trades of a year are no part of the sheet
      worst: worstDrawdowns(path),
      /** Of the whole record, because a window of a year may begin before the range. */
      whole,
      benchmarkReturns: series.benchmark,
      trades: series.trades,
      /** As `/risk` publishes them at this level. */
      ahead: publishFigures(splitFigures(yearAheadFigures(daily, factor)).values),
      stress: stressFigures(daily, factor, series.benchmark, facts.stress_periods),
      /** Equities with their baseline over the days of the series: of holding the instrument, and of the book if it is another. */
      benchmark: equityOf(series.benchmark),
      book: facts.has_book ? equityOf(series.book) : null,
      /** Of the first version with this history. */
      publishedDay:
        facts.published_since === null ? null : toEpochDay(parseIsoInstant(facts.published_since)!),
    }
  })
}

/** The account over the days of a range, with the weeks that are wholly in it. */
function pathIn(whole: AccountPath, { from, to }: Range): AccountPath {
  const { weekly, k } = whole
  const daily = sliceSeries(whole.daily, from, to)
  const isPart = daily.values.length > 1 && daily.values.length < whole.daily.values.length
  return isPart && isAliveOn(whole, daily.first)
    ? accountPath(daily, sliceSeries(weekly, daily.first + 6, lastDay(daily)), k)
    : whole
}

/** Whether the account is not yet ruined before this day. */
export const isAliveOn = ({ daily, ruinDay }: AccountPath, day: EpochDay): boolean =>
  ruinDay === null || day <= dayOf(daily, ruinDay)

export const percentOf = (fraction: number): number => Number((100 * fraction).toFixed(6))

export const noteOf = ({ base_risk_pct }: SheetFacts, level: RiskLevel | null): string =>
  level === null
    ? `Every return is multiplied by the level / ${percentOf(base_risk_pct)} %; what is “at base risk” stays.`
    : `Every return is multiplied by ${Number((level.effective / base_risk_pct).toPrecision(6))}; no replay at this level.${
        level.effective < level.requested ? ` ${percentOf(level.requested)} % is above the cap.` : ''
      }`
