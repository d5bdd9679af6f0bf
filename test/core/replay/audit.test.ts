import { expect, test } from 'vitest'
import { type AuditProblem, auditLedger, isRecomputable } from '#core/replay/audit.ts'
import type { Funding } from '#core/replay/bars.ts'
import { findOverlaps } from '#core/replay/ledger.ts'
import type { Costs, Trade } from '#core/replay/trade.ts'
import { casesOf } from '#test/support/cases-of.ts'
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

// The low of the entry bar is 98; the bar of slot 4 opens at 110 and falls to 95, and that of slot 7 opens at 90.
const STOPPED = { exit_time: slot(4), exit_reason: 'stop' } as const
const JUMPED = { exit_time: slot(1), exit_price: 100, stop: 101 }
const OPEN = { exit_time: null, exit_price: null }

test.each(casesOf<[string, string, Partial<Trade>, Costs?]>`
whose entry is at the high of its bar -> no problem -> ${{ entry_price: 104 }}
whose entry is at the low of its bar -> no problem -> ${{ entry_price: 98 }}
whose entry is above the high of its bar -> entry_fill -> ${{ entry_price: 104.1 }}
whose entry is below the low of its bar -> entry_fill -> ${{ entry_price: 97.9 }}
whose entry is above its bar by the dust of binary arithmetic -> no problem -> ${{ entry_price: 104.00000000001 }}
that bought above its bar by the declared slippage -> no problem -> ${{ entry_price: 105 }} -> ${SLIPPING}
that bought above its bar by more -> entry_fill -> ${{ entry_price: 105.1 }} -> ${SLIPPING}
that bought below its bar -> entry_fill -> ${{ entry_price: 97.9 }} -> ${SLIPPING}
that sold below its bar by the declared slippage -> no problem -> ${{ exit_price: 104 }} -> ${SLIPPING}
that sold above its bar -> exit_fill -> ${{ exit_price: 112.1 }} -> ${SLIPPING}
whose short began below its bar by the declared slippage -> no problem -> ${{ side: 'short', entry_price: 97 }} -> ${SLIPPING}
whose short ended above its bar by the declared slippage -> no problem -> ${{ side: 'short', exit_price: 113 }} -> ${SLIPPING}
that entered inside the bar that holds its price -> no problem -> ${{ entry_time: slot(1) + HOUR_MS }}
that left in the last millisecond of that bar -> no problem -> ${{ exit_time: slot(4) - 1, exit_price: 106 }}
that left in a gap -> exit_fill -> ${{ exit_time: slot(5) }}
that entered before the bars -> entry_fill -> ${{ entry_time: slot(-1) }}
that left after the last bar, where there is nothing to judge it by -> no problem -> ${{ exit_time: slot(8), exit_price: 5_000 }}
that left in the last millisecond of the last bar -> exit_fill -> ${{ exit_time: slot(8) - 1, exit_price: 5_000 }}
whose stop is at its entry -> stop_side and stop_missed -> ${{ stop: 100 }}
whose stop is above the entry of a long -> stop_side and stop_missed -> ${{ stop: 101 }}
whose stop is below the entry of a short -> stop_side and stop_missed -> ${{ side: 'short', stop: 99 }}
whose stop is above the entry of a short -> no problem -> ${{ side: 'short', stop: 150 }}
that opened beyond its stop and ended at once -> no problem -> ${{ ...JUMPED, exit_reason: 'stop' }}
that opened beyond its stop and ended at once for another reason -> stop_side -> ${{ ...JUMPED, exit_reason: 'signal' }}
that left at its stop -> no problem -> ${{ ...STOPPED, stop: 97, exit_price: 97 }}
that left below its stop -> stop_exit -> ${{ ...STOPPED, stop: 97, exit_price: 96.5 }}
that left below its stop by the declared slippage -> no problem -> ${{ ...STOPPED, stop: 97, exit_price: 96 }} -> ${SLIPPING}
that left below its stop by more -> stop_exit -> ${{ ...STOPPED, stop: 97, exit_price: 95.9 }} -> ${SLIPPING}
that left at the open of a bar that opened beyond the stop -> no problem -> ${{ ...STOPPED, stop: 94, exit_time: slot(7), exit_price: 90 }}
that left below that open -> stop_exit -> ${{ ...STOPPED, stop: 94, exit_time: slot(7), exit_price: 89 }}
whose stop was moved for the better, of which only the first is known -> no problem -> ${{ ...STOPPED, stop: 90, exit_price: 105 }}
whose entry bar reached the stop -> stop_missed -> ${{ stop: 98 }}
whose entry bar missed the stop -> no problem -> ${{ stop: 97.9 }}
that went on after a bar that reached the stop -> stop_missed -> ${{ stop: 95, exit_time: slot(7), exit_price: 90 }}
that is open after a bar that reached the stop -> stop_missed -> ${{ stop: 95, ...OPEN }}
whose short went on after a bar that reached the stop -> stop_missed -> ${{ side: 'short', stop: 112, exit_time: slot(4) }}
whose stop was reached in the bar of an entry inside it -> no problem -> ${{ entry_time: slot(1) + HOUR_MS, stop: 98 }}
whose stop was reached after an exit at the open -> no problem -> ${{ exit_time: slot(4), exit_price: 110, stop: 96 }}
that left in a gap after a bar that reached the stop -> exit_fill and stop_missed -> ${{ stop: 96, exit_time: slot(5), exit_price: 96 }}`)(
  'the audit of a trade %s finds %s',
  (_, expected, change, costs) => {
    expect(problems(change, costs).join(' and ') || 'no problem').toBe(expected)
  },
)

test('a fill outside its bar is reported with its price and its bar', () => {
  expect(audit([trade({ entry_price: 120 })])[0]!.message).toBe(
    'trade 0 has its entry at 120, outside the bar at 2020-01-01T04:00:00Z, which with the declared ' +
      'slippage reaches from 98 to 104: correct the price, the time or the bars',
  )
})

// Without costs: 0.5 of a gain of a tenth.
const known = { leverage: 0.5, account_return: 0.05 }
type Ground = Partial<Parameters<typeof auditLedger>[0]>
const results = (change: Partial<Trade>, ground: Ground = {}): string[] =>
  auditLedger({ ...GROUND, ...ground, trades: [trade({ ...known, ...change })] }).map(
    ({ problem }) => problem,
  )

const COMMISSION = { costs: { ...FREE, commission_bps_per_side: 10 } }
// Charged at the last close, 102.
const FUNDED = { funding: handFunding([slot(1), 0.5], [slot(2), 0.01], [slot(4), 0.5]) }
const SLIPPED = { costs: { ...FREE, slippage_ticks: 1, tick_size: 0.5 } }
const FALL = { entry_price: 110, entry_time: slot(3), exit_price: 96, exit_time: slot(4), account_return: -1 }

test.each(casesOf<[string, string, Partial<Trade>, Ground?]>`
that follows from the prices and the leverage -> no fault -> ${{}}
that follows to within rounding -> no fault -> ${{ account_return: 0.05 + 1e-12 }}
that is higher than the prices give -> result -> ${{ account_return: 0.0501 }}
that is lower than the prices give -> result -> ${{ account_return: 0.0499 }}
of a short, which loses what a long gains -> no fault -> ${{ side: 'short', account_return: -0.05 }}
of a short that gains while the price rises -> result -> ${{ side: 'short' }}
without the commissions -> result -> ${{}} -> ${COMMISSION}
with both commissions in it -> no fault -> ${{ account_return: 0.5 * (0.1 - 0.001 * 2.1) }} -> ${COMMISSION}
without the funding between entry and exit -> result -> ${{}} -> ${FUNDED}
with the funding between entry and exit in it -> no fault -> ${{ account_return: 0.5 * (0.1 - 0.0102) }} -> ${FUNDED}
that is lower by the slippage of both fills -> no fault -> ${{ account_return: 0.05 - 0.5 * 0.01 }} -> ${SLIPPED}
that is lower by more than the slippage -> result -> ${{ account_return: 0.05 - 0.5 * 0.011 }} -> ${SLIPPED}
that is higher where slippage is declared -> result -> ${{ account_return: 0.0501 }} -> ${SLIPPED}
that is higher by less than the tolerance -> no fault -> ${{ account_return: 0.0501 }} -> ${{ resultTolerance: 0.0002 }}
that is lower by less than the tolerance -> no fault -> ${{ account_return: 0.0499 }} -> ${{ resultTolerance: 0.0002 }}
that is higher by more than the tolerance -> result -> ${{ account_return: 0.0502 }} -> ${{ resultTolerance: 0.0001 }}
of -1 where the prices take more than the account -> no fault -> ${{ ...FALL, leverage: 9 }}
of -1 where the prices take less than the account -> result -> ${{ ...FALL, leverage: 7 }}
of -1 of a liquidation, at any price -> no fault -> ${{ ...FALL, leverage: 7, exit_reason: 'liquidation' }}
after the last bar, with any funding -> no fault -> ${{ exit_time: slot(8), funding: 0.5 }}
of a trade that is open -> no fault -> ${{ ...OPEN, account_return: null }}
of a trade without leverage -> no fault -> ${{ leverage: null, account_return: 0.5 }}`)(
  'the audit of a result %s finds %s',
  (_, expected, change, ground) => {
    expect(results(change, ground).join() || 'no fault').toBe(expected)
  },
)

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

test('trades after an overlap are held against the one that is open longest', () => {
  const long = trade({ exit_time: slot(7), exit_price: 90 })
  const inside = trade({ entry_time: slot(2), entry_price: 105, exit_time: slot(3) })
  const also = trade({ entry_time: slot(4), entry_price: 110, exit_time: slot(4), exit_price: 110 })
  expect(findOverlaps([long, inside, also])).toEqual([
    { index: 1, other: 0 },
    { index: 2, other: 0 },
  ])
})
