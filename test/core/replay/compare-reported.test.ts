// Reported returns beside a ledger: where no trade is open, both must have grown alike.
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { compareReported } from '#core/replay/compare-reported.ts'
import type { ResolvedTrade } from '#core/replay/resolve-trade.ts'
import { casesOf } from '#test/support/cases-of.ts'

const FIRST = 19_723
const BP = 1e-4

/** A trade between two instants, in days from the first on. */
const trade = (entry: number, exit: number | null, result: number, given: Partial<ResolvedTrade> = {}) => ({
  ...{ side: 'long' as const, entry_time: (FIRST + entry) * DAY_MS, entry_price: 100 },
  exit_time: exit === null ? null : (FIRST + exit) * DAY_MS,
  ...{ exit_price: 101, exit_reason: 'signal' as const, leverage: 1, stop: null },
  account_return: exit === null ? null : result,
  ...{ return_per_notional: result, fees: null, funding: null },
  ...given,
})

const TERMS = {
  ...{ feeRate: 0, baseRisk: 0.02, maxLeverage: 15 },
  funding: { t: new Float64Array(0), paid: new Float64Array(0) },
}

const compare = (returns: readonly number[], ...trades: ResolvedTrade[]) =>
  compareReported({ period: 'daily', first: FIRST, values: Float64Array.from(returns) }, trades, TERMS, BP)

/** Days from the first on, over which `returned` was reported and `ledger` is what the trades make. */
const span = (from: number, to: number, returned: number, ledger: number) => ({
  ...{ from: FIRST + from, to: FIRST + to, returned: expect.closeTo(returned, 12) },
  ledger: Number.isNaN(ledger) ? ledger : expect.closeTo(ledger, 12),
})

/** Reported days of 1 %, and what is found if a position at every midnight hides so many. */
const days = (n: number) => Array<number>(n).fill(0.01)
const hidden = (from: number, n: number) => [span(from, from, 1.01 ** n - 1, Number.NaN)]

const OWN = [trade(1.5, 2.5, 0.03)]
const TURNS = [trade(1.5, 2.5, 0), trade(2.5, 20.5, 0), trade(20.5, null, 0)]
const BOOKED = [trade(0.5, 1.5, 0.02), trade(1.5, 2.5, -0.01), trade(2.5, null, 0)]
const BESIDE = [trade(0.25, 0.75, 0.5), trade(0.5, 0.75, 0.1, { entry_price: 150 })]
const SEVERAL = [trade(0.25, 1.5, 0.02), trade(0.5, 0.75, 0, { entry_price: 0.001 })]
const REST = Array<number>(20).fill(0)
const ONE = [expect.anything()]

test.each(casesOf<[string, number[], ResolvedTrade[], unknown[]]>`
that its trade makes, marked on any day in between -> ${[0, 0.02, 0.01 / 1.02, 0]} -> ${OWN} -> ${[]}
that its trades of a day each make -> ${[0.01, -0.02, 0]} -> ${[trade(0.25, 0.5, 0.01), trade(1.25, 1.5, -0.02)]} -> ${[]}
with a day that it does not make, found with both returns -> ${[0, 0.02, 0.01 / 1.02, 0.0002]} -> ${OWN} -> ${[span(3, 3, 0.0002, 0)]}
within the tolerance of a day -> ${[0.00009, 0.02, 0.01 / 1.02, 0]} -> ${OWN} -> ${[]}
with a trade that it does not make, found over the days of the trade -> ${[0, 0.02, 0.0101, 0]} -> ${OWN} -> ${[span(1, 2, 1.02 * 1.0101 - 1, 0.03)]}
of days with an open trade at the start, which are not compared -> ${[0.5, 0, 0]} -> ${[trade(-1.5, 0.5, 0.03)]} -> ${[]}
of days with an open trade at the end, which are not compared -> ${[0, 0.5, 0.5]} -> ${[trade(1.5, null, 0)]} -> ${[]}
of 19 days with a position at every midnight -> ${[0, ...days(19)]} -> ${TURNS} -> ${[]}
of 20 such days, found at the first of them -> ${[0, ...days(20)]} -> ${TURNS} -> ${hidden(1, 20)}
of 30 such days, found at the same one -> ${[0, ...days(30)]} -> ${TURNS} -> ${hidden(1, 30)}
of 20 such days from the first on -> ${days(20)} -> ${[trade(0.5, null, 0)]} -> ${hidden(0, 20)}
of 20 days of one trade that does not end -> ${[0, ...days(20)]} -> ${[trade(1.5, null, 0)]} -> ${[]}
of 20 days that the trades at their midnights make -> ${[0, ...days(20), 0]} -> ${[trade(0.5, 19.5, 0.01), trade(19.5, 20.5, 1.01 ** 19 - 1)]} -> ${[]}
of 20 days after a trade from before them -> ${[...days(20), 0]} -> ${[trade(-1.5, 1, 0), trade(1, 19.5, 0)]} -> ${[]}
that book each trade at its exit -> ${[0, 0.02, -0.01, ...REST]} -> ${BOOKED} -> ${[]}
that book each trade at its exit, and one otherwise -> ${[0, 0.02, 0.03, ...REST]} -> ${BOOKED} -> ${ONE}
of idle days without a trade -> ${[0, 0]} -> ${[]} -> ${[]}
of idle days before the first trade -> ${[0, 0]} -> ${[trade(4.5, 5.5, 0.1)]} -> ${[]}
of a trade beside another, sized on what is realised -> ${[0.6]} -> ${BESIDE} -> ${[]}
of a trade beside another, sized on what that is worth -> ${[0.65]} -> ${BESIDE} -> ${[]}
of a trade beside another, sized on neither -> ${[0.62]} -> ${BESIDE} -> ${ONE}
of instruments whose prices value no other one, by what is realised -> ${[0, 0.02]} -> ${SEVERAL} -> ${[]}
of instruments whose prices value no other one, by something else -> ${[0.07, 0]} -> ${SEVERAL} -> ${ONE}`)(
  'a ledger is compared with reported returns %s',
  (_, returns, trades, expected) => {
    expect(compare(returns, ...trades)).toEqual(expected)
  },
)
