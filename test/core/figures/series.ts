// Small series and ledgers for the tests of the figures.
import fc from 'fast-check'
import { completeWeeks, type Series } from '#core/figures/series.ts'
import { strategyFigures } from '#core/figures/strategy-figures.ts'
import type { TradeOutcome } from '#core/figures/trade-statistics.ts'
import { dailyFrom } from '#test/support/daily.ts'

export const BASE_RISK = 0.02

/** The same return on every one of `length` days. */
export const constant = (value: number, length: number): number[] => new Array<number>(length).fill(value)

type Input = Parameters<typeof strategyFigures>[0]

/** All figures of a series, its weeks made from it, and of what there is `beside` it. */
export const figuresOf = (
  daily: Series,
  k = 1,
  trades: readonly TradeOutcome[] = [],
  beside: Partial<Input> = {},
) => strategyFigures({ daily, weekly: completeWeeks(daily), trades, k, base_risk_pct: BASE_RISK, ...beside })

export const figuresFrom = (first: string, returns: Iterable<number>, k = 1) =>
  figuresOf(dailyFrom(first, returns), k)

/** A trade of so many hours from an ISO instant on. */
export const trade = (
  entry: string,
  hours: number,
  account_return: number,
  side: 'long' | 'short' = 'long',
) => ({
  side,
  entry_time: Date.parse(entry),
  exit_time: Date.parse(entry) + hours * 3_600_000,
  account_return,
  return_pct: 100 * account_return,
})

/** Ledgers inside the first 300 days after 2020-01-01. */
export const ledgers: fc.Arbitrary<TradeOutcome[]> = fc.array(
  fc
    .record({
      day: fc.nat(280),
      hours: fc.nat(400),
      account_return: fc.oneof(fc.double({ min: -0.1, max: 0.1, noNaN: true }), fc.constant(0)),
      side: fc.constantFrom('long' as const, 'short' as const),
    })
    .map(({ day, hours, account_return, side }) => ({
      side,
      entry_time: Date.UTC(2020, 0, 1 + day),
      exit_time: Date.UTC(2020, 0, 1 + day, hours),
      account_return,
      return_pct: 100 * account_return,
    })),
  { maxLength: 20 },
)
