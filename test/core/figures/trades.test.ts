import fc from 'fast-check'
import { expect, test } from 'vitest'
import { undefinedBecause } from '#core/figures/figure.ts'
import { completeWeeks } from '#core/figures/series.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import {
  exposureFigures,
  positionTime,
  profitFactor,
  tradeFigures,
  tradeStatistics,
  winRatePct,
} from '#core/figures/trade-statistics.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { dailyFrom } from '#test/support/daily.ts'
import { forAll } from '#test/support/for-all.ts'
import { near } from '#test/support/near.ts'
import { BASE_RISK, constant, trade } from './series.ts'

const NO_TRADES = undefinedBecause('no_trades')
const NO_WINS = undefinedBecause('no_wins')
const NO_LOSSES = undefinedBecause('no_losses')

const statistics = (outcomes: readonly number[], k = 1) =>
  tradeStatistics(
    outcomes.map((outcome, i) => trade(`2024-01-${String(i + 1).padStart(2, '0')}T00:00:00Z`, 12, outcome)),
    365,
    k,
    BASE_RISK,
  )

test('a trade of exactly 0 counts in the win rate and in no profit factor, which is 0 without a win', () => {
  expect(winRatePct([0.02, 0, -0.01, 0.02])).toBe(50)
  expect([profitFactor([0.02, 0, -0.01, 0.02]), profitFactor([-0.01, 0])]).toEqual([4, 0])
  expect(profitFactor([0.01, 0])).toEqual(NO_LOSSES)
  const factors = { profit_factor: NO_TRADES, profit_factor_notional: NO_TRADES }
  expect(tradeFigures([])).toEqual({ trade_count: 0, win_rate_pct: NO_TRADES, ...factors })
})

test('the notional profit factor weighs trades by their published returns, whatever they did to the account', () => {
  const [won, lost] = [trade('2024-01-01T00:00:00Z', 1, 0.09), trade('2024-01-02T00:00:00Z', 1, -0.01)]
  const trades = [
    { ...won, return_pct: 3 },
    { ...lost, return_pct: -2 },
  ]
  expect(tradeFigures(trades)).toMatchObject({ profit_factor: 9, profit_factor_notional: 1.5 })
  const none = { profit_factor: NO_LOSSES, profit_factor_notional: 0 }
  expect(tradeFigures([{ ...won, return_pct: -1 }])).toMatchObject(none)
})

const TOO_FEW = undefinedBecause('too_few_points')
const FLAT = undefinedBecause('zero_variance')
const UNTRADED = {
  ...{ expectancy_pct: NO_TRADES, std_trade_pct: NO_TRADES, sqn: NO_TRADES, largest_loss_r: NO_TRADES },
  ...{ payoff_ratio: NO_TRADES, trades_per_year: NO_TRADES, average_holding_hours: NO_TRADES },
  long: { count: 0, win_rate_pct: NO_TRADES },
}
const UNMOVED = {
  ...{ average_win_pct: NO_WINS, average_loss_pct: NO_LOSSES, payoff_ratio: NO_WINS },
  ...{ kelly_fraction: NO_WINS, std_trade_pct: TOO_FEW },
}

test.each(casesOf<[string, number[], number, object]>`
trades of exactly 0 apart from wins and losses -> ${[0.02, 0, -0.01, 0.02]} -> ${1} -> ${{ count: 4, wins: 2, losses: 1, breakeven: 1 }}
the mean and the largest loss in units of the base risk at any level -> ${[0.04, -0.02, 0.02, -0.01, 0.03, 0]} -> ${2} -> ${{ expectancy_r: 0.5, largest_loss_r: -1 }}
runs of wins and losses, both of which a trade of 0 ends -> ${[0.01, 0.01, -0.01, 0.01, 0, 0.01]} -> ${1} -> ${{ max_consecutive_wins: 2, max_consecutive_losses: 1 }}
nothing without a trade -> ${[]} -> ${1} -> ${UNTRADED}
no wins, losses or deviation with a trade of 0 alone -> ${[0]} -> ${1} -> ${UNMOVED}
no losses and no variance with two equal wins -> ${[0.01, 0.01]} -> ${1} -> ${{ payoff_ratio: NO_LOSSES, largest_loss_r: NO_LOSSES, sqn: FLAT }}`)(
  'the statistics of trades have %s',
  (_, outcomes, k, expected) => {
    expect(statistics(outcomes, k)).toMatchObject(near(expected, 1e-12) as object)
  },
)

test('the runs of wins and losses of trades are by exit time, not by the given order', () => {
  const late = trade('2024-01-01T00:00:00Z', 24 * 20, -0.01) // enters first, exits last
  const trades = [late, trade('2024-01-02T00:00:00Z', 1, 0.01), trade('2024-01-03T00:00:00Z', 1, -0.01)]
  expect(tradeStatistics(trades, 30, 1, BASE_RISK)).toMatchObject({ max_consecutive_losses: 2 })
})

const tenDays = dailyFrom('2024-01-01', [0.01, 0, 0, 0.01, ...constant(0, 6)])

test('the exposure of two overlapping longs and a short is what a hand computes', () => {
  const trades = [
    trade('2024-01-02T00:00:00Z', 48, 0.01),
    trade('2024-01-03T00:00:00Z', 48, 0.01),
    trade('2024-01-10T12:00:00Z', 48, 0.01, 'short'), // half a day of it is outside the window
  ]
  expect(exposureFigures(tenDays, trades, [])).toEqual({
    ...{ active_days_pct: 20, time_in_market_pct: 35, long_time_pct: 30, short_time_pct: 5 },
    ...{ average_concurrent_positions: 0.45, max_concurrent_positions: 2, open_since: null },
  })
})

test('an open position counts to the end of the window in the exposure', () => {
  const daily = tenDays
  const open = [{ side: 'short' as const, entry_time: Date.parse('2024-01-09T00:00:00Z') }]
  const input = { daily, weekly: completeWeeks(daily), base_risk_pct: BASE_RISK }
  const only = strategyFigures({ ...input, trades: [], open })
  expect(only.fund_dd.exposure).toEqual({
    ...{ active_days_pct: 20, time_in_market_pct: 20, long_time_pct: 0, short_time_pct: 20 },
    ...{ average_concurrent_positions: 0.2, max_concurrent_positions: 1, open_since: '2024-01-09' },
  })
  expect(only.trade_count).toBe(0)
  const closed = [trade('2024-01-02T00:00:00Z', 24, 0.01)]
  const both = strategyFigures({ ...input, trades: closed, open })
  expect(both.fund_dd.exposure).toMatchObject({ time_in_market_pct: 30, long_time_pct: 10 })
  expect(both.fund_dd.trades).toEqual(strategyFigures({ ...input, trades: closed }).fund_dd.trades)
})

test('the exposure without trades has the active days alone', () => {
  const { active_days_pct, open_since, ...others } = exposureFigures(tenDays, [], [])
  expect([active_days_pct, open_since]).toEqual([20, null])
  for (const figure of Object.values(others)) expect(figure).toEqual(NO_TRADES)
})

test('position time is a count of the milliseconds of the window: overlapping positions count once in the union, each in the total', () => {
  const interval = fc.tuple(fc.integer({ min: -5, max: 35 }), fc.nat(15)).map(([entry, length]) => ({
    entry_time: entry,
    exit_time: entry + length,
  }))
  forAll(fc.array(interval, { maxLength: 8 }), all => {
    const open = Array.from(
      { length: 30 },
      (_, t) => all.filter(({ entry_time, exit_time }) => entry_time <= t && t < exit_time).length,
    )
    expect(positionTime(all, 0, 30)).toEqual({
      unionMs: open.filter(count => count > 0).length,
      totalMs: open.reduce((sum, count) => sum + count, 0),
      maxConcurrent: Math.max(...open),
    })
  })
})
