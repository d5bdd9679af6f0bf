// One example by hand for each trap that libraries of performance statistics have fallen into.
import { describe, expect, test } from 'vitest'
import { undefinedBecause } from '#core/figures/figure.ts'
import { constant, figuresFrom } from './series.ts'

describe('traps', () => {
  test('two days of ruin do not multiply to a positive net return', () => {
    // (1 - 1.2) * (1 - 1.5) = +0.1 would be the product.
    const figures = figuresFrom('2024-01-01', [0.5, -0.6, -0.75, 0.2], 2)
    expect(figures).toMatchObject({
      net_return_pct: -100,
      max_drawdown_pct: -100,
      ruined: true,
      ruin_t: '2024-01-02',
    })
    expect(figures.time_underwater).toEqual({ longest_days: 3, total_days: 3 })
  })

  test('a constant series has no Sharpe ratio, and no volatility', () => {
    const figures = figuresFrom('2023-01-01', constant(0.001, 400))
    expect(figures.sharpe_daily_annualized).toEqual(undefinedBecause('zero_variance'))
    expect(figures.sharpe_weekly_annualized).toEqual(undefinedBecause('zero_variance'))
    expect(figures.fund_dd.risk_adjusted.volatility_annualized_pct).toBe(0)
  })

  test('a loss on the first day is a drawdown from the opening equity', () => {
    const { max_drawdown_pct, fund_dd } = figuresFrom('2024-01-01', [-0.25, 0.1, 0.5])
    expect(max_drawdown_pct).toBe(-25)
    expect(fund_dd.drawdowns.worst).toEqual([
      {
        peak_t: '2023-12-31',
        trough_t: '2024-01-01',
        recovery_t: '2024-01-03',
        depth_pct: -25,
        days_to_trough: 1,
        days_to_recovery: 2,
        underwater_days: 2,
      },
    ])
  })

  test('a series that starts under water and never surfaces is one drawdown, open from the first day', () => {
    const { time_underwater, fund_dd } = figuresFrom('2024-01-01', [-0.5, 0.1, 0.1])
    expect(time_underwater).toEqual({ longest_days: 3, total_days: 3 })
    expect(fund_dd.drawdowns).toMatchObject({
      count: 1,
      current_underwater_days: 3,
      pct_time_underwater: 100,
    })
    expect(fund_dd.drawdowns.worst[0]).toMatchObject({ recovery_t: null, days_to_recovery: null })
  })

  test('returns stay returns after a day of +150 %', () => {
    const { net_return_pct, max_drawdown_pct, fund_dd } = figuresFrom('2024-01-01', [1.5, -0.2])
    expect(net_return_pct).toBeCloseTo(100, 12)
    expect(max_drawdown_pct).toBeCloseTo(-20, 12)
    expect(fund_dd.risk_adjusted.best_day_pct).toBe(150)
  })

  test('value at risk and its shortfall are both empirical', () => {
    // -20 ... +20 in steps of 1 %: the 5 % quantile is the third smallest, the tail beyond it the three smallest.
    const { risk_adjusted } = figuresFrom(
      '2024-01-01',
      Array.from({ length: 41 }, (_, i) => (i - 20) / 100),
    ).fund_dd
    expect(risk_adjusted.var_95_daily_pct).toBeCloseTo(-18, 12)
    expect(risk_adjusted.cvar_95_daily_pct).toBeCloseTo(-19, 12)
  })

  test('the ISO week over New Year is one week, though its days are in two years', () => {
    // Monday 2024-12-30 to Sunday 2025-01-12: two complete weeks, where weeks keyed by year would make three.
    const { n_weeks, sharpe_weekly_annualized } = figuresFrom('2024-12-30', [
      ...[0.1, 0, 0, 0, 0, 0, 0],
      ...[0, 0, 0, 0, 0, 0, 0.3],
    ])
    expect(n_weeks).toBe(2)
    expect(sharpe_weekly_annualized).toBeCloseTo((0.2 / Math.sqrt(0.02)) * Math.sqrt(52), 12)
  })

  test('a year is 365 days: of 365 days the CAGR is the net return, of 364 there is none', () => {
    const returns = Array.from({ length: 365 }, (_, i) => (i % 3 === 0 ? -0.01 : 0.01))
    const year = figuresFrom('2023-01-01', returns)
    expect(year.cagr_pct).toBeCloseTo(year.net_return_pct, 12)
    expect(figuresFrom('2023-01-01', returns.slice(1)).cagr_pct).toEqual(
      undefinedBecause('less_than_one_year'),
    )
    const two = figuresFrom('2023-01-01', [...returns, ...returns])
    expect(two.cagr_pct).toBeCloseTo(year.net_return_pct, 11)
  })

  test('daily ratios are annualised by 365 days', () => {
    // mean 0.01, sample deviation 0.02, root mean square of the losses 0.01 / sqrt(3)
    const figures = figuresFrom('2024-01-01', [-0.01, 0.01, 0.03])
    expect(figures.sharpe_daily_annualized).toBeCloseTo(0.5 * Math.sqrt(365), 12)
    expect(figures.sortino_daily_annualized).toBeCloseTo(Math.sqrt(3) * Math.sqrt(365), 12)
  })

  test('numbers are sorted as numbers', () => {
    // As text, 100 % would come before 9 %, and -9 % after -100 %.
    const { risk_adjusted } = figuresFrom('2024-01-01', [1, 0.09, -0.09, 0.5, -0.5]).fund_dd
    expect([risk_adjusted.worst_day_pct, risk_adjusted.best_day_pct]).toEqual([-50, 100])
  })
})
