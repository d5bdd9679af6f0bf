// What a fact sheet shows at one risk level, computed by the functions that make the published figures.
import { parseIsoInstant, toEpochDay } from '#core/calendar.ts'
import { equalWeightBookOf } from '#core/dataset/equal-weight-book.ts'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import { compounded, type RiskLevel, riskFactor } from '#core/dataset/resources/risk-level.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { accountPath, equityCurve } from '#core/figures/account-path.ts'
import { benchmarkOver } from '#core/figures/benchmark.ts'
import { annualFigures, monthlyFigures } from '#core/figures/calendar-periods.ts'
import { worstDrawdowns } from '#core/figures/drawdown-figures.ts'
import { splitFigures } from '#core/figures/figure.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import { rollingFigures } from '#core/figures/rolling.ts'
import type { Series } from '#core/figures/series.ts'
import { caveatOf, publishedNumber } from '../format.ts'

export type SheetFacts = ReturnType<typeof sheetFacts>

/** What the sheet of a strategy needs beside its series: the same at every risk level, and plain JSON. */
export function sheetFacts(snapshot: Snapshot, strategy: StrategyData) {
  const { dataset } = snapshot
  const { id, name, instrument, base_risk_pct, published_since } = strategy
  const { trade_count, win_rate_pct, profit_factor } = strategy.figures.values
  return {
    id,
    name,
    instrument,
    base_risk_pct,
    max_modelled_risk_pct: dataset.max_modelled_risk_pct,
    published_since,
    caveat: caveatOf(dataset), // what pictures say of made-up data
    has_book: hasOthers(snapshot, strategy),
    /** Figures of the closed trades, which no risk level changes. */
    trades: {
      trade_count: publishedNumber(trade_count),
      win_rate_pct: publishedNumber(win_rate_pct),
      profit_factor: publishedNumber(profit_factor),
    },
  }
}

/** Whether another strategy is alive on any day of this one: the equal-weight book is another line then. */
function hasOthers(snapshot: Snapshot, { daily }: StrategyData): boolean {
  const { daily: book, alive } = equalWeightBookOf(snapshot)
  const start = daily.first - book.first
  return alive.subarray(start, start + daily.values.length).some(count => count > 1)
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
