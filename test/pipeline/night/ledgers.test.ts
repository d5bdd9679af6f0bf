import { beforeAll, expect, test } from 'vitest'
import { toSignificant } from '#core/contract/rounding.ts'
import { type StrategyData, strategyOf, wordAt } from '#core/dataset/snapshot.ts'
import type { Night } from '#pipeline/night/compute-snapshot.ts'
import { pagesOf } from '#test/support/browser/rendered-pages.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { near } from '#test/support/near.ts'
import {
  bookOf,
  csv,
  dailyBars,
  dailyReturns,
  ledgerOf,
  nightOf,
  problemsOfNight,
  returnsOf,
} from './night-book.ts'

/** Of 2024-01-01 to 2024-01-14; each day opens where the one before closed. */
const CLOSES = [100, 100, 110, 120, 90, 90, 90, 90, 90, 100, 100, 100, 100, 100]
const BARS = dailyBars(CLOSES)

const ledger = (...rows: readonly string[]): string =>
  csv('side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,stop,account_return', ...rows)

/** `01-03` of the hand-made month. */
const at = (day: string): string => `2024-${day}T00:00:00Z`

const LEDGERS: Readonly<Record<string, string>> = {
  by_leverage: ledger(`long,${at('01-03')},100,${at('01-05')},120,signal,0.5,,`),
  by_stop: ledger(`long,${at('01-03')},100,${at('01-05')},120,target,,80,`),
  by_result: ledger(`long,${at('01-03')},100,${at('01-05')},120,time,,,0.06`),
  booked_whole: ledger(`long,${at('01-02')},100,${at('01-03')},100,signal,,,0.004`),
  still_open: ledger(`long,${at('01-10')},90,,,,1,,`),
  ruined: ledger(
    `long,${at('01-04')},110,${at('01-07')},90,signal,6,,`,
    `long,${at('01-08')},90,${at('01-09')},90,signal,1,,`,
  ),
  later: ledger(
    `long,${at('01-03')},100,${at('01-05')},120,signal,1,,`,
    `long,${at('01-10')},90,${at('01-11')},100,signal,0.9,,`,
  ),
  idle: ledger(),
  proven: ledger(
    `long,${at('01-03')},100,${at('01-05')},120,signal,0.3,,0.06`,
    `long,${at('01-10')},90,,,,1,,`,
  ),
}

type FundDueDiligence = { readonly exposure: { readonly open_since: string | null } }

let night: Night

beforeAll(async () => {
  const late = { inception: '2024-01-06' }
  night = await nightOf({
    ...bookOf(BARS, [
      ...Object.entries(LEDGERS).map(([id, text]) => ledgerOf(id, text, id === 'later' ? late : {})),
      returnsOf('elm', dailyReturns([0.01, -0.02, 0.03, 0.01]), { allow_overlap: true }),
      returnsOf('dead', dailyReturns([0.01, -1, ...zeros(10)])),
      returnsOf('fresh', dailyReturns(zeros(13))),
    ]),
    'ledgers/elm.csv': ledger(
      `short,${at('01-01')},100,${at('01-02')},100,signal,,,0.05`,
      `short,${at('01-02')},100,${at('01-14')},999,signal,,,-0.02`,
      `short,${at('01-03')},100,${at('01-20')},90,signal,,,0.5`,
    ),
  })
})

const of = (id: string): StrategyData => strategyOf(night.snapshot, id)!
const dailyOf = (id: string): number[] => [...of(id).daily.values]
/** Returns with the ten significant digits that are published. */
const published = (values: readonly number[]) => values.map(toSignificant)
const zeros = (count: number): number[] => Array<number>(count).fill(0)

test.each([
  ['it gives', 'by_leverage', 0.5, 0.05, 0.1],
  ['its stop and the base risk give: 0.02 over a fifth', 'by_stop', 0.1, 0.01, 0.02],
  ['its result gives: 0.06 of a gain of a fifth', 'by_result', 0.3, 0.03, 0.06],
])('a ledger is marked at each close by the leverage that %s', (_, id, leverage, first, whole) => {
  expect(of(id).leverage_max).toBeCloseTo(leverage, 12)
  expect(of(id).marking).toBe('marked')
  expect(dailyOf(id)).toEqual(published([0, 0, first, (1 + whole) / (1 + first) - 1, ...zeros(10)]))
  expect([...of(id).weekly.values]).toEqual([expect.closeTo(whole, 9), 0])
  expect([...of(id).trades.account_return]).toEqual([expect.closeTo(whole, 12)])
  expect([...of(id).trades.notional_return]).toEqual([expect.closeTo(0.2, 12)])
})

// At a leverage of 0.5 the cap of 15 is reached at 30 times the base risk.
test.each(casesOf<[string, string, number[], object]>`
without a known leverage is booked whole at its exit, and its history is realised -> booked_whole -> ${[0, 0, 0.004, ...zeros(11)]} -> ${{ marking: 'realised', leverage_typical: null, leverage_max: null, trades: { leverage: Float64Array.of(Number.NaN) } }}
with half the account is refused above the risk at which it reaches the cap -> by_leverage -> ${[0, 0, 0.05, 1.1 / 1.05 - 1, ...zeros(10)]} -> ${{ refused_above_risk_pct: 0.6 }}
that is open is marked at each close, in the exposure to the end of the window, and in no published ledger and no trade statistic -> still_open -> ${[...zeros(9), 1 / 9, ...zeros(4)]} -> ${{ trades: { entry_time: new Float64Array(0) }, figures: { values: { trade_count: 0, fund_dd: { exposure: { time_in_market_pct: (100 * 5) / 14, short_time_pct: 0, max_concurrent_positions: 1 } } } } }}
that ended before the inception is not published -> later -> ${[0, 0, 0, 0, 0.1, 0, 0, 0, 0]} -> ${{ window: { from: '2024-01-06', to: '2024-01-14' }, trades: { entry_time: Float64Array.of(Date.parse(at('01-10'))) }, figures: { values: { net_return_pct: 10 } } }}
beside reported returns counts in the trade statistics alone if it ended in the window, and in the exposure if it did not -> elm -> ${[0.01, -0.02, 0.03, 0.01]} -> ${{ refused_above_risk_pct: null, trades: { account_return: Float64Array.of(0.05, -0.02) }, figures: { values: { trade_count: 2, win_rate_pct: 50, fund_dd: { exposure: { time_in_market_pct: 100, short_time_pct: 100 } } } } }}`)(
  'a trade of a ledger %s',
  (_, id, daily, data) => {
    expect(dailyOf(id)).toEqual(published(daily))
    expect(of(id)).toMatchObject(near(data, 1e-10) as object)
  },
)

test('a sheet says since when a position is open at the end of the series, and nothing if none is', () => {
  const sheetOf = (id: string) => pagesOf(night.snapshot).get(`strategies/${id}/sheet.html`)!()
  expect(sheetOf('still_open')).toMatch(
    /A position that was opened on <time datetime="2024-01-10".* is still open at the end of the record: it is in the returns, not among the trades/,
  )
  expect(sheetOf('later')).not.toContain('A position that')
  const opened = Object.keys(LEDGERS).map(id => [
    id,
    (of(id).figures.values.fund_dd as FundDueDiligence).exposure.open_since,
  ])
  expect(Object.fromEntries(opened)).toMatchObject({
    still_open: '2024-01-10',
    proven: '2024-01-10',
    later: null,
    idle: null,
  })
})

test('a liquidated account loses all on that day and nothing after it; notices report that, and returns that end early', () => {
  const before = 1 + 6 * (120 / 110 - 1)
  expect(dailyOf('ruined')).toEqual(published([0, 0, 0, before - 1, -1, ...zeros(9)]))
  const { trades } = of('ruined')
  expect([...trades.account_return]).toEqual([-1])
  expect(wordAt(trades.exit_reason, 0)).toBe('liquidation')
  const claims = (id: string, count: number) =>
    `${id}: unverified, because ${count} of its ${count} trades lack leverage or account_return and their results ` +
    'cannot be recomputed: add both columns'
  expect(night.notices).toEqual([
    ...['by_leverage', 'by_stop', 'by_result', 'booked_whole'].map(id => claims(id, 1)),
    'ruined: the account was ruined; 1 later trade of its ledger did not happen',
    ...['ruined', 'later'].map(id => claims(id, 2)),
    'elm: its reported returns end on 2024-01-04, 10 days before the window',
    'dead: its reported returns end on 2024-01-12, 2 days before the window',
  ])
})

test('a ledger is verified if leverage and result of each trade are given and one is closed, and unverified otherwise', () => {
  const states = Object.keys(LEDGERS).map(id => [id, of(id).verification_state])
  expect(Object.fromEntries(states)).toEqual({
    ...Object.fromEntries(Object.keys(LEDGERS).map(id => [id, 'unverified'])),
    proven: 'single_verified',
  })
  expect(of('proven').measured).toEqual({
    ...{ trades_checked: 1, mean_deviation_bps: 0, largest_deviation_bps: 0 },
    ...{ trades_at_stop: 0, loss_at_stop: null },
  })
})

test.each(casesOf<[string, string[], RegExp]>`
in a gap -> ${['01-01', '01-02', '01-03', '01-04', '01-12', '01-13', '01-14', '01-15']} -> ${/ in its gap from 2024-01-04T00:00:00Z to 2024-01-12T00:00:00Z, /}
before the first payment -> ${['01-09', '01-10', '01-11', '01-12', '01-13', '01-14', '01-15']} -> ${/ before its first payments, up to 2024-01-08T00:00:00Z, /}`)(
  'a result that pays funding which the feed lacks, %s, is not refused but unverified, with the gap',
  async (_, days, where) => {
    const fallen = ledger(`long,${at('01-04')},110,${at('01-07')},90,signal,0.25,,-0.0461`)
    const { snapshot, notices } = await nightOf({
      ...bookOf(BARS, [ledgerOf('ash', fallen)], {}, '24h'),
      'funding/BTCUSDT-PERP.csv': csv('t,rate', ...days.map(day => `${at(day)},0`)),
    })
    expect(strategyOf(snapshot, 'ash')!.verification_state).toBe('unverified')
    expect(notices).toContainEqual(expect.stringMatching(where))
  },
)

test('a ledger that states fees and funding is verified without a tolerance and without payments, and the record has their means', async () => {
  const result = 0.25 * (90 / 110 - 1 - 0.0004 + 0.001)
  const costs = { commission_bps_per_side: 5, result_tolerance_bps: 0 }
  const text = csv(
    'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,account_return,fees,funding',
    `long,${at('01-04')},110,${at('01-07')},90,signal,0.25,${result},0.0004,0.001`,
  )
  const book = (funding: string) => bookOf(BARS, [ledgerOf('ash', text, costs)], {}, funding)
  const stated_costs = [
    { cost: 'fees', trades: 1, mean_bps: 4 },
    { cost: 'funding', trades: 1, mean_bps: 10 },
  ]
  const verified = { verification_state: 'single_verified', measured: { stated_costs } }
  const { snapshot } = await nightOf(book('none'))
  expect(strategyOf(snapshot, 'ash')).toMatchObject({ ...verified, funding: 'as_reported' })
  const gap = csv('t,rate', ...['01-01', '01-02', '01-13', '01-14', '01-15'].map(day => `${at(day)},0`))
  const night = await nightOf({ ...book('24h'), 'funding/BTCUSDT-PERP.csv': gap })
  expect(strategyOf(night.snapshot, 'ash')).toMatchObject({ ...verified, funding: 'historical' })
})

test('a reported return that loses everything ends the account', () => {
  expect(of('dead').figures.values).toMatchObject({ net_return_pct: -100, max_drawdown_pct: -100 })
})

test('every trade that cannot have happened is named with the row of its file, whatever the order of the rows', async () => {
  const bad = {
    fills: ledger(
      `long,${at('01-09')},90,${at('01-10')},250,signal,1,,`,
      `long,${at('01-03')},100,${at('01-04')},110,signal,1,,`,
      `long,${at('01-02')},55,${at('01-03')},100,signal,1,,`,
    ),
    stops: ledger(`long,${at('01-02')},100,${at('01-03')},100,signal,1,101,`),
    tight: ledger(
      `long,${at('01-03')},100,${at('01-04')},110,signal,,80,`,
      `long,${at('01-04')},110,${at('01-05')},120,signal,,109.99,`,
    ),
    early: ledger(`long,2023-12-30T00:00:00Z,100,${at('01-03')},100,signal,1,,`),
  }
  const made = Object.entries(bad).map(([id, text]) => ledgerOf(id, text))
  const expected = [
    /^ledgers\/fills\.csv:4: the trade has its entry at 55, outside the bar at 2024-01-02/,
    /^ledgers\/fills\.csv:2: .*exit at 250, outside the bar at 2024-01-10/,
    /^ledgers\/stops\.csv:2: .*stop at 101, which must be below the entry/,
    /^ledgers\/stops\.csv:2: .*stays open after the bar at 2024-01-02.*its stop 101/,
    /^ledgers\/tight\.csv:3: the trade has its stop 109\.99 so near to its entry 110 .* cap of 15/,
    /^ledgers\/early\.csv:2: .*entry at 2023-12-30T00:00:00Z, where there is no bar/,
  ]
  const problems = await problemsOfNight(bookOf(BARS, made))
  expect(problems).toEqual(expected.map(each => expect.stringMatching(each)))
})
