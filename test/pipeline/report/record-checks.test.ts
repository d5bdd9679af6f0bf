// What is implausible in a record as a whole, and that a finding stays in its place while the record grows.
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { ClosedTrade } from '#core/replay/resolve-trade.ts'
import { checkRecord } from '#pipeline/report/record-checks.ts'
import { casesOf } from '#test/support/cases-of.ts'

const FIRST = 19_723
const NOTHING = {
  daily: { period: 'daily' as const, first: FIRST, values: new Float64Array(0) },
  ...{ closed: [], stops: [], bars: null, differing: [] },
  costs: { commission_bps_per_side: 0, slippage_ticks: 0, tick_size: 0.1, max_leverage: 15 },
}

const findings = (given: Partial<Parameters<typeof checkRecord>[0]>) => checkRecord({ ...NOTHING, ...given })
const codes = (given: Parameters<typeof findings>[0]) => findings(given).map(({ code }) => code)
const dailyOf = (values: readonly number[]) => ({ ...NOTHING.daily, values: Float64Array.from(values) })
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** A trade of a day and a half, from noon on. */
const trade = (i: number, change: Partial<ClosedTrade> = {}): ClosedTrade => ({
  ...{ side: 'long', entry_time: (FIRST + 2 * i) * DAY_MS, entry_price: 100, stop: null, leverage: null },
  ...{ exit_time: (FIRST + 2 * i + 1) * DAY_MS, exit_price: 101, exit_reason: 'signal' },
  ...{ account_return: 0.01, return_per_notional: 0.01 },
  ...{ fees: null, funding: null, ...change },
})
const lost = (i: number) => trade(i, { account_return: -0.01, return_per_notional: -0.01 })

/** Days of which every second one moves the account up, and the last one by `last`. */
const rising = (moving: number, last: number) =>
  dailyOf([...times(2 * moving - 1, i => (i % 2) * 0.001), last])
/** A mean of 0.22 deviations a day is a Sharpe ratio of 4.2, one of 0.2 of 3.8. */
const steady = (count: number, mean: number) =>
  dailyOf(times(count, i => ((i % 2 === 0 ? 1 : -1) + mean) * 0.01))

/** Days from 90 to 110. */
const BARS: Bars = {
  timeframeMs: DAY_MS,
  t: Float64Array.from(times(60, i => (FIRST + i) * DAY_MS)),
  ...{ o: new Float64Array(60).fill(100), c: new Float64Array(60).fill(100), v: new Float64Array(60) },
  ...{ h: new Float64Array(60).fill(110), l: new Float64Array(60).fill(90) },
}
const filled = (entry_price: number, exit_price: number, side: 'long' | 'short' = 'long') =>
  times(20, i => (i < 9 ? lost(i) : trade(i, { side, entry_price, exit_price })))

const FIRST_LOST = [lost(0), ...filled(90, 110).slice(1, 19), lost(19)]
const SLIPPING = { ...NOTHING.costs, slippage_ticks: 5 }
const COARSE = { ...NOTHING.costs, tick_size: 10 }
const stops = (...losses: number[]) => losses.map((loss, i) => ({ trade: lost(i), loss }))

test.each(casesOf<[string, Parameters<typeof findings>[0], string[]]>`
nineteen trades without a loss -> ${{ closed: times(19, trade) }} -> ${[]}
twenty-five trades without a loss -> ${{ closed: times(25, trade) }} -> ${['no_losses']}
twenty-four trades without a loss and one with -> ${{ closed: [...times(24, trade), lost(24)] }} -> ${[]}
nineteen days that move the account and never down -> ${{ daily: rising(19, 0) }} -> ${[]}
twenty days that move the account and never down, however many rest -> ${{ daily: rising(20, 0.001) }} -> ${['no_drawdown']}
twenty days that move the account, of which one down -> ${{ daily: rising(20, -0.001) }} -> ${[]}
days that never move the account -> ${{ daily: dailyOf(Array(400).fill(0)) }} -> ${[]}
88 days with a Sharpe ratio above 4 -> ${{ daily: steady(88, 0.22) }} -> ${[]}
400 days with a Sharpe ratio above 4 -> ${{ daily: steady(400, 0.22) }} -> ${['high_sharpe']}
400 days with a Sharpe ratio below 4 -> ${{ daily: steady(400, 0.2) }} -> ${[]}
fills at the low and the high of their bars in more than half of twenty trades -> ${{ bars: BARS, closed: filled(90.1, 109.9) }} -> ${['perfect_fills']}
such fills of shorts -> ${{ bars: BARS, closed: filled(109.9, 90.1, 'short') }} -> ${['perfect_fills']}
such fills in half of the trades -> ${{ bars: BARS, closed: FIRST_LOST }} -> ${[]}
fills above the low -> ${{ bars: BARS, closed: filled(90.3, 110) }} -> ${[]}
fills below the high -> ${{ bars: BARS, closed: filled(90, 109.7) }} -> ${[]}
fills at the wrong extremes -> ${{ bars: BARS, closed: filled(110, 90) }} -> ${[]}
fills at unknown extremes -> ${{ bars: null, closed: filled(90.1, 109.9) }} -> ${[]}
fills at the extremes but for the declared slippage -> ${{ bars: BARS, costs: SLIPPING, closed: filled(90.5, 109.5) }} -> ${['perfect_fills']}
fills in bars of a few ticks -> ${{ bars: BARS, costs: COARSE, closed: filled(93, 107) }} -> ${[]}
a loss at the stop of 0.8 times the base risk -> ${{ stops: stops(0.8) }} -> ${[]}
a loss at the stop of 1.25 times the base risk -> ${{ stops: stops(1.25) }} -> ${[]}
a median loss at the stops within them -> ${{ stops: stops(1, 1.1, 4) }} -> ${[]}
a median loss at the stops below them -> ${{ stops: stops(0.7) }} -> ${['base_risk']}
a median loss at the stops above them -> ${{ stops: stops(1, 1.3, 1.4) }} -> ${['base_risk']}
a gain of the account beside prices that stay -> ${{ closed: [trade(0, { return_per_notional: 0 })] }} -> ${[]}`)(
  'a record has the findings that belong to it: %s',
  (_, given, expected) => {
    expect(codes(given)).toEqual(expected)
  },
)

test('a finding of a record says where it is, how often, and what it is', () => {
  expect(findings({ closed: times(25, trade) })).toEqual([
    {
      ...{ code: 'no_losses', severity: 'serious', at: [], fix: 'add the trades that lost' },
      ...{ from: FIRST * DAY_MS, to: (FIRST + 39) * DAY_MS, count: 20, what: 'none of 25 trades lost' },
    },
  ])
  const high = { count: 90, from: FIRST * DAY_MS, what: 'the Sharpe ratio is 4.20 over 400 days, above 4' }
  expect(findings({ daily: steady(400, 0.22) })).toMatchObject([high])
  const perfect = expect.stringContaining('11 of 20 trades enter at the low and leave at the high')
  expect(findings({ bars: BARS, closed: filled(90.1, 109.9) })).toMatchObject([{ what: perfect }])
  expect(findings({ stops: stops(1, 1.3, 1.4) })).toMatchObject([
    { count: 1, from: lost(1).entry_time, what: expect.stringContaining('lost 1.30 times the base risk') },
  ])
})

test('a finding of a record keeps its place and its count while the record grows, so that its acceptance lasts', () => {
  const placeOf = (count: number) =>
    findings({ closed: times(count, trade) }).map(({ what: _, ...place }) => place)
  expect(placeOf(40)).toEqual(placeOf(20))
})

test('a gain of the account beside a loss of the prices is a finding for every such trade', () => {
  const odd = (i: number) => trade(i, { return_per_notional: -0.01 })
  expect(findings({ closed: [trade(0), odd(1), lost(2), odd(3)] })).toMatchObject([
    { code: 'result_sign', count: 2, from: odd(1).entry_time, to: odd(3).exit_time },
  ])
})

test('reported returns that the ledger beside them does not make are a finding with the first days', () => {
  const span = { from: FIRST + 3, to: FIRST + 4, returned: 0.02, ledger: 0.01 }
  expect(findings({ differing: [span, { ...span, from: FIRST + 9, to: FIRST + 9 }] })).toMatchObject([
    {
      ...{ code: 'returns_differ', count: 1, from: (FIRST + 3) * DAY_MS, to: (FIRST + 4) * DAY_MS },
      what: 'reported returns and ledger differ in 2 periods, first from 2024-01-04 to 2024-01-05: 2.0000 % is reported, and 1.0000 % follows from the ledger',
    },
  ])
})
