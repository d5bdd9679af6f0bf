// What a change of the risk level does to the figures, and what it leaves alone.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pick } from '#core/dataset/resources/resource.ts'
import { isUndefined } from '#core/figures/figure.ts'
import { forAll } from '#test/support/for-all.ts'
import { dailySeries } from './arbitraries.ts'
import { figuresOf, ledgers } from './series.ts'

const factors = fc.double({ min: 0.05, max: 5, noNaN: true })

test('rescaling without ruin changes no bit of a ratio that does not depend on the level', () => {
  forAll(80, dailySeries(1, 400), ledgers, factors, (daily, trades, k) => {
    const base = figuresOf(daily, 1, trades)
    const scaled = figuresOf(daily, k, trades)
    fc.pre(!scaled.ruined)
    expect(unscaled(scaled)).toEqual(unscaled(base))
  })
})

const LINEAR = [
  ...(['volatility_annualized_pct', 'downside_deviation_annualized_pct'] as const),
  ...(['var_95_daily_pct', 'cvar_99_daily_pct', 'best_day_pct'] as const),
]

test('rescaling multiplies what is linear in the returns and divides the Kelly leverage', () => {
  forAll(50, dailySeries(100, 400), factors, (daily, k) => {
    const base = figuresOf(daily).fund_dd.risk_adjusted
    const scaled = figuresOf(daily, k)
    fc.pre(!scaled.ruined)
    const risk = scaled.fund_dd.risk_adjusted
    for (const name of LINEAR) expectRatio(risk[name], base[name], k)
    expectRatio(risk.kelly_leverage, base.kelly_leverage, 1 / k)
  })
})

test('rescaling equals a computation on multiplied returns, except for the weeks', () => {
  forAll(50, dailySeries(1, 300), factors, (daily, k) => {
    const multiplied = { ...daily, values: daily.values.map(value => k * value) }
    const direct = figuresOf(multiplied)
    const scaled = figuresOf(daily, k)
    expect(scaled.net_return_pct).toBe(direct.net_return_pct)
    expect(scaled.cagr_pct).toEqual(direct.cagr_pct)
    expect(scaled.time_underwater).toEqual(direct.time_underwater)
    expect(scaled.fund_dd.drawdowns).toEqual(direct.fund_dd.drawdowns)
    expect(scaled.fund_dd.monthly).toEqual(direct.fund_dd.monthly)
  })
})

test('rescaling by a factor that is not a positive number is refused', () => {
  const daily = { period: 'daily', first: 0, values: Float64Array.of(0.1) } as const
  for (const k of [0, -1, Number.NaN, Infinity]) expect(() => figuresOf(daily, k)).toThrow(/risk factor k/)
})

/** The figures that no unruined level moves. */
const unscaled = (figures: ReturnType<typeof figuresOf>) => ({
  ...pick(figures, 'sharpe_daily_annualized', 'sortino_daily_annualized', 'sharpe_weekly_annualized'),
  ...pick(figures, 'trade_count', 'win_rate_pct', 'profit_factor'),
  ...pick(figures.fund_dd.risk_adjusted, 'sortino_weekly_annualized', 'omega', 'tail_ratio'),
  ...pick(figures.fund_dd.risk_adjusted, 'skewness_daily', 'kurtosis_excess_daily', 'positive_days_pct'),
  ...pick(figures.fund_dd.risk_adjusted, 'probabilistic_sharpe_ratio', 'sharpe_std_error'),
  ...pick(figures.fund_dd.risk_adjusted, 'min_track_record_days', 'autocorrelation_lag1_daily'),
  ...pick(figures.fund_dd.trades, 'payoff_ratio', 'kelly_fraction', 'sqn', 'expectancy_r', 'largest_loss_r'),
  exposure: figures.fund_dd.exposure,
})

function expectRatio(scaled: unknown, base: unknown, k: number): void {
  if (isUndefined(base)) expect(scaled).toEqual(base)
  else if (typeof base === 'number' && typeof scaled === 'number') {
    expect(Math.abs(scaled - k * base)).toBeLessThanOrEqual(1e-12 * Math.abs(k * base))
  } else throw new Error(`two figures must be compared, got ${scaled} and ${base}`)
}
