import { toIsoDate } from '#core/calendar.ts'
import { accountPath, unlessRuined } from './account-path.ts'
import { completeWeeks } from './derived-series.ts'
import { daysUnderwater, maxDrawdown } from './drawdown.ts'
import { cagr } from './equity-curve.ts'
import { type Figure, percent, percentFigure } from './figure.ts'
import { longestRun } from './moments.ts'
import { DAYS_PER_YEAR, dayOf, lastDay, type Series, WEEKS_PER_YEAR } from './series.ts'
import { sharpe, sortino } from './sharpe.ts'

/**
 * The performance of a strategy, or of a book, at `k` times its base risk. Net return, CAGR and drawdowns are
 * those of the curve recompounded from `k * r`; the ratios are those of the base returns and do not depend on
 * `k`. A ruined account has net return, CAGR and drawdown -100 and no ratios (`ruin`); a CAGR needs 365 days
 * (`less_than_one_year`), ruined or not.
 *
 * Cost: 0.12 ms for 4 000 days on a core of 2.5 GHz.
 *
 * @param daily base returns, gapless
 * @param weekly the complete weeks of the same base returns
 * @param k `risk_pct / base_risk_pct`
 */
export function performanceFigures(daily: Series, weekly: Series, k: number) {
  const path = accountPath(daily, weekly, k)
  const { curve, depths, ruinDay } = path
  const n = daily.values.length
  return {
    n_days: n,
    n_weeks: weekly.values.length,
    // The first and the last day, ISO dates; null without days.
    start: n === 0 ? null : toIsoDate(daily.first),
    end: n === 0 ? null : toIsoDate(lastDay(daily)),
    ruined: ruinDay !== null,
    // The day of ruin.
    ruin_t: ruinDay === null ? null : toIsoDate(dayOf(daily, ruinDay)),
    net_return_pct: percent(curve[n]! - 1),
    cagr_pct: percentFigure(cagr(curve)),
    max_drawdown_pct: percent(maxDrawdown(depths)),
    ...unlessRuined(path, {
      sharpe_daily_annualized: sharpe(daily.values, DAYS_PER_YEAR),
      sortino_daily_annualized: sortino(daily.values, DAYS_PER_YEAR),
      sharpe_weekly_annualized: sharpe(weekly.values, WEEKS_PER_YEAR),
    }),
    time_underwater: { longest_days: longestRun(depths, -1), total_days: daysUnderwater(depths) },
  }
}

/** The figures by which one history is compared with another. */
export type Headline = Readonly<
  Record<'net_return_pct' | 'cagr_pct' | 'max_drawdown_pct' | 'sharpe_daily_annualized', Figure>
>

/** Those of a daily series at `k` times its risk; null rules as above. */
export function headlineFigures(daily: Series, k: number): Headline {
  const { net_return_pct, cagr_pct, max_drawdown_pct, sharpe_daily_annualized } = performanceFigures(
    daily,
    completeWeeks(daily),
    k,
  )
  return { net_return_pct, cagr_pct, max_drawdown_pct, sharpe_daily_annualized }
}
