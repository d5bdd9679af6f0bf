import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completeWeeks } from '#core/figures/derived-series.ts'
import { performanceFigures } from '#core/figures/performance.ts'
import type { Series } from '#core/figures/series.ts'
import { splitFigures } from '#core/figures/split-figures.ts'
import { dailySeries } from './arbitraries.ts'
import { dailyFrom, figuresOf, ledgers } from './series.ts'

describe('short series', () => {
  test('without a day there is no date, no loss and no ratio, and trades are judged as ever', () => {
    const { values, undefined: reasons } = splitFigures(figuresOf(dailyFrom('2024-01-01', [])))
    expect(values).toMatchObject({
      n_days: 0,
      n_weeks: 0,
      start: null,
      end: null,
      net_return_pct: 0,
      max_drawdown_pct: 0,
      time_underwater: { longest_days: 0, total_days: 0 },
    })
    const { cagr_pct, win_rate_pct, ...others } = reasons
    expect([cagr_pct, win_rate_pct]).toEqual(['less_than_one_year', 'no_trades'])
    expect(others.sharpe_daily_annualized).toBe('too_few_points')
  })

  test('of fewer than two days, every reason is that there are too few, a year aside and trades aside', () => {
    const ofYear = [
      'cagr_pct',
      'fund_dd/risk_adjusted/calmar',
      'fund_dd/risk_adjusted/ulcer_performance_index',
    ]
    fc.assert(
      fc.property(dailySeries(0, 1), daily => {
        const { undefined: reasons } = splitFigures(figuresOf(daily))
        for (const [path, reason] of Object.entries(reasons)) {
          if (ofYear.includes(path)) expect(reason, path).toBe('less_than_one_year')
          else if (reason !== 'no_trades') expect(reason, path).toBe('too_few_points')
        }
      }),
    )
  })

  test('of any length, every figure is a finite number or undefined for a reason', () => {
    fc.assert(
      fc.property(
        dailySeries(0, 40),
        ledgers,
        fc.double({ min: 0.01, max: 20, noNaN: true }),
        (daily, trades, k) => {
          expect(() => splitFigures(figuresOf(daily, k, trades))).not.toThrow()
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('what is refused', () => {
  const daily = dailyFrom('2024-01-01', [0.1, -0.1])

  test('series of the wrong period, or in the wrong order', () => {
    expect(() => performanceFigures(daily, daily, 1)).toThrow(/need a weekly series here, got a daily one/)
    expect(() => performanceFigures(completeWeeks(daily), daily, 1)).toThrow(/need a daily series/)
  })

  test('a return that is not finite, by its date', () => {
    expect(() => figuresOf(dailyFrom('2024-01-01', [0.1]))).not.toThrow()
    const broken: Series = { ...daily, values: Float64Array.of(0.1, Number.NaN) }
    const weekly = completeWeeks(daily)
    expect(() => performanceFigures(broken, weekly, 1)).toThrow(/daily return of 2024-01-02 .* got NaN/)
  })
})
