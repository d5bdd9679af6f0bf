// What a fact sheet shows at one risk level, computed by the functions that make the published figures.
import { parseIsoInstant, toEpochDay } from '#core/calendar.ts'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import { compounded, type RiskLevel, riskFactor } from '#core/dataset/resources/risk-level.ts'
import { accountPath, equityCurve } from '#core/figures/account-path.ts'
import { benchmarkOver } from '#core/figures/benchmark.ts'
import { annualFigures, monthlyFigures } from '#core/figures/calendar-periods.ts'
import { worstDrawdowns } from '#core/figures/drawdown-figures.ts'
import { splitFigures } from '#core/figures/figure.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import { rollingFigures } from '#core/figures/rolling.ts'
import type { Series } from '#core/figures/series.ts'

/** What the sheet of a strategy needs beside its series: the same at every risk level, and plain JSON. */
export type SheetFacts = {
  readonly id: string
  readonly name: string
  readonly instrument: string
  readonly base_risk_pct: number
  readonly max_modelled_risk_pct: number
  readonly published_since: string | null
  /** What its pictures say of the data, too; null if they are of a market. */
  readonly caveat: string | null
  /** Whether another strategy is alive on any of its days: the equal-weight book is another line then. */
  readonly has_book: boolean
  /** Figures of the closed trades, which no risk level changes. */
  readonly trades: {
    readonly trade_count: number | null
    readonly win_rate_pct: number | null
    readonly profit_factor: number | null
  }
}

/** The published series of a strategy, and of its benchmarks over at least the same days; null without one. */
export type SheetSeries = {
  readonly daily: Series
  readonly weekly: Series
  readonly benchmark: Series | null
  /** The equal-weight book at base risk. */
  readonly book: Series | null
}

export type SheetModel = ReturnType<typeof sheetModel>

/** Everything that the sheet shows at a level. Throws `validation_error` if a figure is too large to be published. */
export function sheetModel(facts: SheetFacts, series: SheetSeries, level: RiskLevel | null) {
  const { daily, weekly } = series
  const factor = riskFactor(level, facts.base_risk_pct)
  return compounded(facts, level, () => {
    const path = accountPath(daily, weekly, factor)
    const equityOf = (benchmark: Series | null): Float64Array | null => {
      const held = benchmarkOver(daily, benchmark)
      return held === null ? null : equityCurve(held.values)
    }
    return {
      facts,
      /** Null at base risk. */
      level,
      path,
      /** As `/stats` publishes them at this level. */
      figures: publishFigures(splitFigures(performanceFigures(daily, weekly, factor)).values),
      /** As `fund_dd` publishes them at base risk. */
      monthly: monthlyFigures(path),
      annual: annualFigures(path, []), // trades of a year are no part of the sheet
      worst: worstDrawdowns(path),
      rolling: rollingFigures(path, series.benchmark),
      /** Equities over the days of the series: of holding the instrument, and of the book if it is another. */
      benchmark: equityOf(series.benchmark),
      book: facts.has_book ? equityOf(series.book) : null,
      /** Of the first version with this history. */
      publishedDay:
        facts.published_since === null ? null : toEpochDay(parseIsoInstant(facts.published_since)!),
    }
  })
}

/** A risk level in percent. */
export const percentOf = (fraction: number): number => Number((100 * fraction).toFixed(6))

/** What a level other than the base means. */
export const noteOf = ({ base_risk_pct }: SheetFacts, level: RiskLevel | null): string =>
  level === null
    ? `Every daily return is multiplied by the chosen level / ${percentOf(base_risk_pct)} %; figures marked “at base risk” do not change.`
    : `Every return is multiplied by ${Number((level.effective / base_risk_pct).toPrecision(6))}; no replay at this level.${
        level.effective < level.requested ? ` ${percentOf(level.requested)} % is above the cap.` : ''
      }`
