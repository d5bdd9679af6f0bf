// What costs took of trades, and the account at twice the costs: against a hand, against the engine, and by laws.
import { expect, test } from 'vitest'
import { costFigures } from '#core/figures/execution.ts'
import { isUndefined } from '#core/figures/figure.ts'
import type { Funding } from '#core/replay/bars.ts'
import { costData } from '#core/replay/execution.ts'
import { compareMarks, markLedger } from '#core/replay/marks.ts'
import { type ReplayInput, replay } from '#core/replay/replay.ts'
import type { Costs, Trade } from '#core/replay/trade.ts'
import { forAll } from '#test/support/for-all.ts'
import { arbitraryBars, arbitraryCosts, arbitraryFunding, arbitraryInput } from './arbitraries.ts'
import { COSTLY, DAY_0, FREE, flatDay, handBars, handFunding, scripted, slot, still, trade } from './hand.ts'

const BASE_RISK = 0.02

/** The ledger of a replay, marked, with what the costs took of it. */
function costsOf(input: ReplayInput) {
  const { trades } = replay(input)
  const market = { ...input, id: input.strategy.id, baseRisk: input.strategy.baseRisk }
  const marks = markLedger({ ...market, trades })
  return { marks, data: costData({ ...market, trades: marks.trades })! }
}

const twice = (funding: Funding | null): Funding | null =>
  funding && { ...funding, rate: funding.rate.map(rate => 2 * rate) }

const twiceTheCosts = (costs: Costs): Costs => ({
  ...costs,
  commission_bps_per_side: 2 * costs.commission_bps_per_side,
  slippage_ticks: 2 * costs.slippage_ticks,
})

// Half the account long at 100: 0.005 units, out in the last millisecond of the day. Then a quarter of it short at 110, out at 99. The slippage of a fill is 1.
const long = trade({ leverage: 0.5, exit_time: slot(6) - 1, exit_price: 110, account_return: 0.04 })
const short = trade({
  ...{ side: 'short', entry_time: slot(7), entry_price: 110, exit_time: slot(9), exit_price: 99 },
  ...{ leverage: 0.25, account_return: 0.02 },
})
const bars = handBars([...flatDay(100), ...flatDay(110), still(100)])
const funding = handFunding([slot(2), 0.001], [slot(8), 0.002])
const market = { id: 'alder', bars, funding, costs: COSTLY, baseRisk: BASE_RISK }
const { trades } = markLedger({ ...market, trades: [long, short] })
const data = costData({ ...market, trades })!

test('each cost of a trade is quantity x what one unit paid; a short receives what longs pay', () => {
  const expected = [
    { result: 0.04, fees: 0.005 * 0.001 * 210, slippage: 0.005 * 2, funding: 0.005 * 0.001 * 100 },
    {
      result: 0.02,
      fees: (0.25 / 110) * 0.001 * 209,
      slippage: (0.25 / 110) * 2,
      funding: (-0.25 / 110) * 0.002 * 110,
    },
  ]
  const close = expected.map(part =>
    Object.fromEntries(Object.entries(part).map(([name, value]) => [name, expect.closeTo(value, 14)])),
  )
  expect(data.trades).toEqual(close)
})

test('each result at twice the costs is lower by the costs, and each day by those so far', () => {
  const [first, second] = data.trades.map(
    ({ result, fees, slippage, funding }) => result - fees - slippage - funding,
  )
  // Both trades end within their day, at the start of which the account is flat.
  expect([...data.doubled.values]).toEqual([expect.closeTo(first!, 12), expect.closeTo(second!, 12), 0])
  // Open at a close of 100, bought at 101 with twice the commission: 0.005 x (100 - 101 - 2 x 0.001 x 101 - 2 x 0.1).
  const still = [{ ...long, exit_time: slot(7), account_return: 0.04 }]
  const open = costData({ ...market, trades: markLedger({ ...market, trades: still }).trades })!
  expect(open.doubled.values[0]).toBeCloseTo(0.005 * (-1 - 0.202 - 0.2), 12)
})

test('the shares of the costs are of the gains before costs', () => {
  const gross = data.trades.map(({ result, fees, slippage, funding }) => result + fees + slippage + funding)
  const { fees_pct_of_gross_profit, funding_pct_of_gross_profit } = costFigures(data, 1)
  const sum = gross[0]! + gross[1]!
  expect(fees_pct_of_gross_profit).toBeCloseTo((100 * (0.00105 + (0.25 / 110) * 0.209)) / sum, 9)
  expect(funding_pct_of_gross_profit).toBeCloseTo(0, 9) // 0.0005 paid and 0.0005 received
})

/** Leaves and enters by turns, never from one side to the other: the size of a reversal depends on its exit. */
const turns = scripted(
  {},
  {
    onBar: (_, bar, position) => {
      const i = Math.round((bar.t - slot(0)) / (slot(1) - slot(0)))
      if (position !== null) return i % 5 === 4 ? { act: 'flat', why: 'signal' } : null
      if (i % 5 === 1) return { act: 'long', stop: bar.c * 0.93 }
      return i % 5 === 3 ? { act: 'short', stop: bar.c * 1.06 } : null
    },
  },
)

test('the marks at twice the costs are those of a replay at twice the costs', () => {
  let moved = 0
  forAll(200, arbitraryBars, arbitraryFunding, arbitraryCosts, (bars, funding, costs) => {
    const input = { strategy: turns, bars, funding, costs }
    const { data, marks } = costsOf(input)
    const again = replay({ ...input, funding: twice(funding), costs: twiceTheCosts(costs) })
    if (!compareMarks(marks.daily, again.daily).agree) moved++
    expect(compareMarks(data.doubled, again.daily)).toMatchObject({ agree: true })
  })
  expect(moved).toBeGreaterThan(100)
})

test('zero costs, twice, change nothing to the last bit', () => {
  forAll(100, arbitraryInput, ({ costs, ...input }) => {
    const free = { ...FREE, max_leverage: costs.max_leverage }
    const { data, marks } = costsOf({ ...input, costs: free, funding: null })
    expect(data.doubled).toEqual(marks.daily)
  })
})

test('the shares of the costs sum to what was lost between the results before and after costs', () => {
  forAll(200, arbitraryInput, input => {
    const { data } = costsOf(input)
    const costs = costFigures(data, 1)
    const { fees_pct_of_gross_profit, slippage_pct_of_gross_profit, funding_pct_of_gross_profit } = costs
    const shares = [fees_pct_of_gross_profit, slippage_pct_of_gross_profit, funding_pct_of_gross_profit]
    const gross = data.trades.map(each => each.result + each.fees + each.slippage + each.funding)
    const profit = gross.reduce((sum, g) => sum + Math.max(g, 0), 0)
    const reason = data.trades.length === 0 ? 'no_trades' : 'no_wins'
    if (profit <= 1e-12) expect(shares).toEqual(Array(3).fill({ undefinedBecause: reason }))
    else {
      const lost = data.trades.reduce((sum, { result }, i) => sum + gross[i]! - result, 0)
      const total = shares.reduce<number>((sum, each) => sum + (isUndefined(each) ? Number.NaN : each), 0)
      expect(total).toBeCloseTo((100 * lost) / profit, 6)
    }
  })
})

const markedCosts = (ledger: readonly Trade[], costs = COSTLY) => {
  const flat = { ...market, costs, bars: handBars([...flatDay(100), still(100)]), funding: null }
  return costData({ ...flat, trades: markLedger({ ...flat, trades: ledger }).trades, from: DAY_0 })
}

const SHORT = trade({ side: 'short', leverage: 1, account_return: 0.1 })
const STATED = trade({ fees: 0.0008, funding: -0.001, leverage: 0.5, account_return: 0.04 })
const half = (account_return: number, from: number, to: number) =>
  trade({ leverage: 0.5, account_return, entry_time: slot(from), exit_time: slot(to) })

test('the costs of a ledger are those that its trades state, times their leverage, whether they overlap, and unknown if one leverage is', () => {
  expect(markedCosts([STATED])!.trades).toMatchObject([{ fees: 0.0004, funding: 0.0005 }])
  const overlapping = markedCosts([half(0.01, 1, 3), half(0.02, 2, 4)])!
  expect(overlapping.trades.map(({ result }) => result)).toEqual([0.01, 0.02])
  const unknown = trade({ account_return: 0.0001, exit_price: 100 })
  expect(markedCosts([trade({ leverage: 1, account_return: 0.1 }), unknown])).toBeNull()
})

const because = (undefinedBecause: string) => ({ undefinedBecause })
const RUINED = { net_return_pct: -100, max_drawdown_pct: -100, sharpe_daily_annualized: because('ruin') }

test.each([
  ['that has no trades is as it was', [], COSTLY, { net_return_pct: 0, max_drawdown_pct: 0 }],
  [
    'that survives its costs once alone is ruined',
    [trade({ leverage: 15, account_return: -0.75 })],
    COSTLY,
    RUINED,
  ],
  ['with a slippage of more than the price is ruined', [SHORT], { ...COSTLY, tick_size: 1000 }, RUINED],
])('at twice the costs an account %s', (_, ledger, costs, at_twice_the_costs) => {
  const figures = costFigures(markedCosts(ledger, costs), 1)
  expect(figures).toMatchObject({ at_twice_the_costs })
  if (ledger.length === 0) expect(figures.fees_pct_of_gross_profit).toEqual(because('no_trades'))
})
