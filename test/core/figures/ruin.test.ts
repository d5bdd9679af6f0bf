import { describe, expect, test } from 'vitest'
import { undefinedBecause } from '#core/figures/figure.ts'
import { splitFigures } from '#core/figures/split-figures.ts'
import { constant, dailyFrom, figuresFrom, figuresOf, trade } from './series.ts'

const RUIN = undefinedBecause('ruin')

/** 2024-01-01 to 2024-03-10; at k = 2, half of it is lost on 2024-02-15 and the rest with it. */
const returns = [...constant(0.01, 45), -0.5, ...constant(0.01, 24)]

describe('a ruined account', () => {
  const figures = figuresFrom('2024-01-01', returns, 2)

  test('is ruined by a day of exactly -100 %, and only at that risk', () => {
    expect(figures).toMatchObject({
      ruined: true,
      ruin_t: '2024-02-15',
      net_return_pct: -100,
      max_drawdown_pct: -100,
    })
    expect(figuresFrom('2024-01-01', returns, 1.999)).toMatchObject({ ruined: false, ruin_t: null })
  })

  test('has no ratio at all, and a CAGR of -100 only where a year is long enough for one', () => {
    expect(figures.cagr_pct).toEqual(undefinedBecause('less_than_one_year'))
    expect(figures.sharpe_weekly_annualized).toEqual(RUIN)
    for (const figure of Object.values(figures.fund_dd.risk_adjusted)) expect(figure).toEqual(RUIN)
    expect(figuresFrom('2023-01-01', [...constant(0, 365), -1]).cagr_pct).toBe(-100)
  })

  test('is under water from then on, and its drawdown stays open', () => {
    const { drawdowns } = figures.fund_dd
    expect(figures.time_underwater).toEqual({ longest_days: 25, total_days: 25 })
    expect(drawdowns).toMatchObject({ count: 1, current_drawdown_pct: -100, current_underwater_days: 25 })
    expect(drawdowns.worst[0]).toMatchObject({ trough_t: '2024-02-15', recovery_t: null, depth_pct: -100 })
    expect([drawdowns.average_depth_pct, drawdowns.cdar_95_pct, drawdowns.worst_7d_return_pct]).toEqual([
      RUIN,
      RUIN,
      RUIN,
    ])
  })

  test('has tables up to the period of its ruin, and no statistics of them', () => {
    const { monthly, annual } = figures.fund_dd
    expect(monthly.table.map(({ month, return_pct }) => [month, Math.round(return_pct)])).toEqual([
      [1, 85],
      [2, -100],
    ])
    expect(annual.table).toMatchObject([
      { year: 2024, return_pct: -100, max_drawdown_pct: -100, sharpe: null },
    ])
    expect([monthly.best_month_pct, annual.ytd_pct, annual.trailing_30d_return_pct]).toEqual([
      RUIN,
      RUIN,
      RUIN,
    ])
  })

  test('on the first day of a year has that year, and that month, as the last', () => {
    const { monthly, annual } = figuresFrom('2023-12-31', [0.1, -1, 0.1, 0.1]).fund_dd
    expect(monthly.table).toMatchObject([{ month: 12 }, { month: 1, return_pct: -100 }])
    expect(annual.table).toMatchObject([{ year: 2023 }, { year: 2024, return_pct: -100, days: 3 }])
  })

  test('keeps the figures of its ledger', () => {
    const { fund_dd, win_rate_pct } = figuresOf(dailyFrom('2024-01-01', returns), 2, [
      trade('2024-01-05T00:00:00Z', 168, 0.07),
    ])
    expect(win_rate_pct).toBe(100)
    expect(fund_dd.exposure.time_in_market_pct).toBeCloseTo(10, 12)
    expect(fund_dd.trades.expectancy_pct).toBeCloseTo(14, 12)
  })

  test('publishes no number that is not finite', () => {
    expect(() => splitFigures(figures)).not.toThrow()
    expect(() => splitFigures(figuresFrom('2024-01-01', [-1, -5, 3]))).not.toThrow()
  })
})
