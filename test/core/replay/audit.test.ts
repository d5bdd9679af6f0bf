import { expect, test } from 'vitest'
import { type AuditProblem, auditLedger, isRecomputable } from '#core/replay/audit.ts'
import type { Funding } from '#core/replay/bars.ts'
import type { Trade } from '#core/replay/trade.ts'
import { FREE, HOUR_MS, handBars, handFunding, type Ohlc, slot, still, trade } from './hand.ts'

// Slots 0 to 4, then an outage of two slots, then one more bar.
const ROWS: (Ohlc | null)[] = [
  still(100),
  [100, 104, 98, 102],
  [102, 108, 101, 107],
  [107, 112, 105, 110],
  [110, 111, 95, 96],
  null,
  null,
  [90, 92, 88, 91],
]
const SLIPPING = { ...FREE, slippage_ticks: 2, tick_size: 0.5 }

const GROUND = { bars: handBars(ROWS), funding: null, costs: FREE, resultTolerance: 0 }

const audit = (trades: readonly Trade[], costs = FREE): AuditProblem[] =>
  auditLedger({ ...GROUND, trades, costs })

const problems = (change: Partial<Trade>, costs = FREE): string[] =>
  audit([trade(change)], costs).map(({ problem }) => problem)

test('the audit finds no problem in a ledger that could have happened', () => {
  expect(
    audit([trade({ stop: 97 }), trade({ entry_time: slot(3), exit_time: null, exit_price: null })]),
  ).toEqual([
    // The second begins at 100, far below its bar: the audit can fail.
    expect.objectContaining({ index: 1, problem: 'entry_fill' }),
  ])
  expect(audit([trade({ stop: 97 })])).toEqual([])
  expect(audit([])).toEqual([])
})

test.each([
  ['at the high', 104, []],
  ['at the low', 98, []],
  ['above the high', 104.1, ['entry_fill']],
  ['below the low', 97.9, ['entry_fill']],
  ['with the dust of binary arithmetic', 104.00000000001, []],
])('an entry %s is judged by its bar', (_, entry_price, expected) => {
  expect(problems({ entry_price })).toEqual(expected)
})

test('a fill may be outside its bar by the declared slippage, on the side that costs, and no further', () => {
  expect(problems({ entry_price: 105 }, SLIPPING)).toEqual([])
  expect(problems({ entry_price: 105.1 }, SLIPPING)).toEqual(['entry_fill'])
  expect(problems({ entry_price: 97.9 }, SLIPPING)).toEqual(['entry_fill'])
  expect(problems({ exit_price: 104 }, SLIPPING)).toEqual([])
  expect(problems({ exit_price: 112.1 }, SLIPPING)).toEqual(['exit_fill'])
  expect(problems({ side: 'short', entry_price: 97 }, SLIPPING)).toEqual([])
  expect(problems({ side: 'short', exit_price: 113 }, SLIPPING)).toEqual([])
})

test('a fill inside a bar belongs to the bar that holds its time', () => {
  expect(problems({ entry_time: slot(1) + HOUR_MS })).toEqual([])
  expect(problems({ exit_time: slot(4) - 1, exit_price: 106 })).toEqual([])
})

test('a fill in a gap, or before the bars, has no bar', () => {
  expect(problems({ exit_time: slot(5) })).toEqual(['exit_fill'])
  expect(problems({ entry_time: slot(-1) })).toEqual(['entry_fill'])
})

test('a fill after the last bar is not judged: there is nothing to judge it by', () => {
  expect(problems({ exit_time: slot(8), exit_price: 5_000 })).toEqual([])
  expect(problems({ exit_time: slot(8) - 1, exit_price: 5_000 })).toEqual(['exit_fill'])
})

test('a fill outside its bar is reported with its price and its bar', () => {
  expect(audit([trade({ entry_price: 120 })])[0]!.message).toBe(
    'trade 0 has its entry at 120, outside the bar at 2020-01-01T04:00:00Z, which with the declared ' +
      'slippage reaches from 98 to 104: correct the price, the time or the bars',
  )
})

test('a stop belongs on the losing side of the entry', () => {
  expect(problems({ stop: 100 })).toContain('stop_side')
  expect(problems({ stop: 101 })).toContain('stop_side')
  expect(problems({ side: 'short', stop: 99 })).toContain('stop_side')
  expect(problems({ side: 'short', stop: 150 })).toEqual([])
})

test('a stop that the entry opened beyond ended the trade at once, and only then is legal', () => {
  const jumped = { exit_time: slot(1), exit_price: 100, stop: 101 }
  expect(problems({ ...jumped, exit_reason: 'stop' })).toEqual([])
  expect(problems({ ...jumped, exit_reason: 'signal' })).toEqual(['stop_side'])
})

// The bar of slot 4 opens at 110 and falls to 95; the bar of slot 7 opens at 90.
test('a stop is left at its price, less the declared slippage', () => {
  const stopped = { stop: 97, exit_time: slot(4), exit_reason: 'stop' as const }
  expect(problems({ ...stopped, exit_price: 97 })).toEqual([])
  expect(problems({ ...stopped, exit_price: 96.5 })).toEqual(['stop_exit'])
  expect(problems({ ...stopped, exit_price: 96 }, SLIPPING)).toEqual([])
  expect(problems({ ...stopped, exit_price: 95.9 }, SLIPPING)).toEqual(['stop_exit'])
})

test('a stop that the bar opened beyond is left at the open', () => {
  const stopped = { stop: 94, exit_time: slot(7), exit_reason: 'stop' as const }
  expect(problems({ ...stopped, exit_price: 90 })).toEqual([])
  expect(problems({ ...stopped, exit_price: 89 })).toEqual(['stop_exit'])
})

test('a stop that was moved for the better is no problem: only the first one is known', () => {
  expect(problems({ stop: 90, exit_time: slot(4), exit_price: 105, exit_reason: 'stop' })).toEqual([])
})

test('a stop that a bar reached before the exit was missed, the entry bar too', () => {
  // The low of the entry bar is 98; that of slot 4 is 95.
  expect(problems({ stop: 98 })).toEqual(['stop_missed'])
  expect(problems({ stop: 97.9 })).toEqual([])
  expect(problems({ stop: 95, exit_time: slot(7), exit_price: 90 })).toEqual(['stop_missed'])
  expect(problems({ stop: 95, exit_time: null, exit_price: null })).toEqual(['stop_missed'])
  expect(problems({ side: 'short', entry_price: 100, stop: 112, exit_time: slot(4) })).toEqual([
    'stop_missed',
  ])
})

test('a stop that was reached before an entry inside the bar, or after an exit at the open, is fine', () => {
  expect(problems({ entry_time: slot(1) + HOUR_MS, stop: 98 })).toEqual([])
  expect(problems({ exit_time: slot(4), exit_price: 110, stop: 96 })).toEqual([])
})

test('a stop that the bar before a gap reached was missed by an exit in the gap', () => {
  expect(problems({ stop: 96, exit_time: slot(5), exit_price: 96 })).toEqual(['exit_fill', 'stop_missed'])
})

// Without costs: 0.5 of a gain of a tenth.
const known = { leverage: 0.5, account_return: 0.05 }
const results = (change: Partial<Trade>, ground: Partial<Parameters<typeof auditLedger>[0]> = {}): string[] =>
  auditLedger({ ...GROUND, ...ground, trades: [trade({ ...known, ...change })] }).map(
    ({ problem }) => problem,
  )

test('a result that is given with its leverage follows from the prices', () => {
  expect(results({})).toEqual([])
  expect(results({ account_return: 0.05 + 1e-12 })).toEqual([])
  expect(results({ account_return: 0.0501 })).toEqual(['result'])
  expect(results({ account_return: 0.0499 })).toEqual(['result'])
  expect(results({ side: 'short', account_return: -0.05 })).toEqual([])
  expect(results({ side: 'short' })).toEqual(['result'])
})

test('a result cannot be a gain if the prices lose', () => {
  const falls = [still(260), [260, 260, 249.2, 249.2], still(249.2)] as const
  const trades = [
    trade({ entry_price: 260, exit_time: slot(2), exit_price: 249.2, leverage: 0.25, account_return: 0.5 }),
  ]
  const problems = auditLedger({ ...GROUND, bars: handBars([...falls]), trades, resultTolerance: 0.01 })
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^trade 0 has the result 0\.5, and -0\.0103846 follows from its prices, its leverage of 0\.25, /,
    ),
  ])
})

test('a result has both commissions in it', () => {
  const costs = { ...FREE, commission_bps_per_side: 10 }
  expect(results({}, { costs })).toEqual(['result'])
  expect(results({ account_return: 0.5 * (0.1 - 0.001 * 2.1) }, { costs })).toEqual([])
})

test('a result has the funding between entry and exit in it', () => {
  // Charged at the last close, 102.
  const funding = handFunding([slot(1), 0.5], [slot(2), 0.01], [slot(4), 0.5])
  expect(results({}, { funding })).toEqual(['result'])
  expect(results({ account_return: 0.5 * (0.1 - 0.0102) }, { funding })).toEqual([])
})

test('a result has the fees and the funding that its trade states, each in the place of what is declared', () => {
  const ground = { costs: { ...FREE, commission_bps_per_side: 10 }, funding: handFunding([slot(2), 0.01]) }
  const resultOf = (fees: number | null, funding: number | null, perNotional: number) =>
    results({ fees, funding, account_return: 0.5 * perNotional }, ground)
  expect(resultOf(0.0007, -0.0101, 0.1 - 0.0007 - 0.0101)).toEqual([])
  expect(resultOf(0.0007, -0.0101, 0.1 - 0.0007 - 0.0101 + 1e-6)).toEqual(['result'])
  expect(resultOf(0.0007, null, 0.1 - 0.0007 - 0.0102)).toEqual([])
  expect(resultOf(null, -0.0101, 0.1 - 0.0021 - 0.0101)).toEqual([])
  expect(resultOf(0, 0.0101, 0.1 + 0.0101)).toEqual(['funding']) // the wrong sign
})

/** What the audit says of a long of 8 hours from slot 1 on that states this funding. */
const fundingFaults = (stated: number, payments: Funding | null, change: Partial<Trade> = {}) =>
  results({ funding: stated, leverage: null, ...change }, { funding: payments })

test('stated funding is that of the payments to within a tenth of each, and one within a minute of a fill may be in it', () => {
  const inside = handFunding([slot(2), 0.01]) // 0.0102 of notional
  for (const stated of [-0.0102, -0.0112, -0.0092]) expect(fundingFaults(stated, inside)).toEqual([])
  for (const stated of [-0.0113, -0.0091, 0, 0.0102])
    expect(fundingFaults(stated, inside)).toEqual(['funding'])
  expect(fundingFaults(0.0102, inside, { side: 'short' })).toEqual([])
  const atExit = (ms: number) => fundingFaults(0, handFunding([slot(1), 0], [slot(3) + ms, 0.01]))
  expect([-61_000, -60_000, 0, 60_000].map(atExit)).toEqual([['funding'], [], [], []])
})

test('stated funding where payments are unknown is at most 5 basis points for each 8 hours begun, and none if no full hour passes', () => {
  const missing = handFunding([slot(-12), 0], [slot(12), 0]) // a gap of four days
  for (const payments of [null, missing]) {
    for (const stated of [-0.0005, 0.0005]) expect(fundingFaults(stated, payments)).toEqual([])
    for (const stated of [-0.00051, 0.00051]) expect(fundingFaults(stated, payments)).toEqual(['funding'])
  }
  expect(fundingFaults(0.001, null, { exit_time: slot(3) + 1 })).toEqual([])
  const brief = { entry_time: slot(1) + 120_000, exit_time: slot(1) + 3_000_000, exit_price: 104 }
  expect(fundingFaults(0.0001, null, brief)).toEqual(['funding'])
  expect(auditLedger({ ...GROUND, trades: [trade({ funding: 0.05 })] })[0]!.message).toBe(
    'trade 0 has a funding of 0.05 of its notional, and the payments while it was open are unknown, so that 0.0005 more or ' +
      'less is accepted: correct funding, which is positive if received, or add the payments of the instrument',
  )
})

test('a result may be lower by the slippage of both fills, and not higher', () => {
  const costs = { ...FREE, slippage_ticks: 1, tick_size: 0.5 }
  expect(results({ account_return: 0.05 - 0.5 * 0.01 }, { costs })).toEqual([])
  expect(results({ account_return: 0.05 - 0.5 * 0.011 }, { costs })).toEqual(['result'])
  expect(results({ account_return: 0.0501 }, { costs })).toEqual(['result'])
})

test('a result may differ from the prices by the tolerance', () => {
  expect(results({ account_return: 0.0501 }, { resultTolerance: 0.0002 })).toEqual([])
  expect(results({ account_return: 0.0499 }, { resultTolerance: 0.0002 })).toEqual([])
  expect(results({ account_return: 0.0502 }, { resultTolerance: 0.0001 })).toEqual(['result'])
})

test.each([
  ['a return on notional of 90 000 %', 98, 1e-7, 0.00009],
  ['a gain of a flat trade', 100, 0.004, 0.00005],
  ['a gain of a flat trade at full leverage', 100, 1, 0.00005],
  ['a gain of a loss', 99.999, 1, 0.00005],
  ['a loss of a gain', 100.001, 1, -0.00005],
])('a result cannot become %s within the tolerance', (_, exit_price, leverage, account_return) => {
  const bars = handBars(Array.from({ length: 4 }, () => [100, 101, 97, 100] as const))
  const ends = { exit_time: slot(2), exit_price, leverage }
  expect(results({ ...ends, account_return }, { bars, resultTolerance: 0.0001 })).toEqual(['result'])
  const exact = leverage * (exit_price / 100 - 1)
  expect(results({ ...ends, account_return: exact }, { bars, resultTolerance: 0.0001 })).toEqual([])
  expect(results({ ...ends, account_return: exact * (1 - 1e-6) }, { bars, resultTolerance: 0.0001 })).toEqual(
    [],
  )
})

test('a result is not below -1: an account loses no more than it has, at a liquidation at any price', () => {
  const fall = { entry_price: 110, entry_time: slot(3), exit_price: 96, exit_time: slot(4), leverage: 9 }
  expect(results({ ...fall, account_return: -1 })).toEqual([])
  expect(results({ ...fall, leverage: 7, account_return: -1 })).toEqual(['result'])
  expect(results({ ...fall, leverage: 7, exit_reason: 'liquidation', account_return: -1 })).toEqual([])
})

test('a result is not judged after the last bar, nor is its funding, while the trade is open, or if something is missing', () => {
  expect(results({ exit_time: slot(8), funding: 0.5 })).toEqual([])
  expect(results({ exit_time: null, exit_price: null, account_return: null })).toEqual([])
  expect(results({ leverage: null, account_return: 0.5 })).toEqual([])
})

test.each([
  ['with leverage and result', 'can', known],
  ['that is open with its leverage', 'can', { ...known, exit_time: null, account_return: null }],
  ['liquidated with its leverage', 'can', { leverage: 3, exit_reason: 'liquidation' as const }],
  ['without leverage', 'cannot', { account_return: 0.05 }],
  ['without leverage, but a stop that makes one', 'cannot', { stop: 97, account_return: 0.05 }],
  ['without a result', 'cannot', { leverage: 0.5 }],
  ['that is open without leverage', 'cannot', { exit_time: null, stop: 97 }],
])('the result of a trade %s %s be recomputed', (_, verb, change) => {
  expect(isRecomputable(trade(change))).toBe(verb === 'can')
})

test('rows that overlap are reported, unless that is allowed; entering at the exit is not an overlap', () => {
  const second = trade({ entry_time: slot(2), entry_price: 105 })
  const trades = [second, trade()]
  expect(audit(trades)).toEqual([
    {
      index: 0,
      problem: 'overlap',
      message:
        'trade 0 enters while trade 1 is open until 2020-01-01T12:00:00Z: one position at a time, or ' +
        'allow overlaps',
    },
  ])
  expect(auditLedger({ ...GROUND, trades, allowOverlap: true })).toEqual([])
  const next = trade({ entry_time: slot(3), entry_price: 107, exit_time: slot(4) })
  expect(audit([trade(), next])).toEqual([])
})

test('rows after an overlap are held against the trade that is open longest', () => {
  const long = trade({ exit_time: slot(7), exit_price: 90 })
  const inside = trade({ entry_time: slot(2), entry_price: 105, exit_time: slot(3) })
  const also = trade({ entry_time: slot(4), entry_price: 110, exit_time: slot(4), exit_price: 110 })
  expect(audit([long, inside, also]).map(({ index, problem }) => [index, problem])).toEqual([
    [1, 'overlap'],
    [2, 'overlap'],
  ])
})
