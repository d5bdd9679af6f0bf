import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import type { Trade } from '#core/replay/trade.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { forAll } from '#test/support/for-all.ts'
import { near } from '#test/support/near.ts'
import {
  COSTLY,
  DAY_0,
  equityOf,
  flatDay,
  HOUR_MS,
  handFunding,
  type Ledger,
  mark,
  NO_DAY,
  slot,
  still,
  stillBars,
  trade,
} from './hand.ts'

// Long from 100 at slot 1 with leverage 2; day 0 closes at 110, day 1 at 105; the exit at slot 13 is on day 2.
const bars = [...flatDay(100).with(5, still(110)), ...flatDay(105), ...flatDay(90)]
const held = trade({ leverage: 2, exit_time: slot(13), exit_price: 90, account_return: -0.25 })

const flat = [...flatDay(100), ...flatDay(100)]
const short = (from: number, to: number, account_return: number): Trade =>
  trade({ entry_time: slot(from), exit_time: slot(to), leverage: 1, account_return })
const AT_MIDNIGHT = short(1, 6, 0.1)

// Slot 2: 0.01 of 100 a unit; slot 6 (day 1): 0.01 of 110. One more inside the last bar of day 0 is not due yet.
const PAID = { bars, funding: handFunding([slot(2), 0.01], [slot(5) + HOUR_MS, 0.01], [slot(6), 0.01]) }
// Day 0 is marked at the bar of slot 5: nothing is due. The second event is in the mark of day 1, at 100.
const PAID_INSIDE = {
  bars,
  funding: handFunding([slot(5) + HOUR_MS, 0.01], [slot(5) + 3 * HOUR_MS, 0.01]),
}

const OUTAGE = { bars: [...flatDay(100), ...NO_DAY, ...flatDay(120)] }
const LOST_END = { bars: [...stillBars(100, 100, 110), null, null, null, ...flatDay(110)] }
const later = (exit: number): Trade => trade({ leverage: 1, exit_time: slot(exit), account_return: 0.15 })

const twoDays = [...flatDay(100), ...flatDay(110)]
// The first, leverage 1 from 100, is worth 0.1 when the second enters at 110: 1.1 * 0.5 for the second.
const first = trade({ leverage: 1, exit_time: slot(9), exit_price: 110, account_return: 0.1 })
const second = trade({
  ...{ leverage: 1, entry_time: slot(7), entry_price: 110, exit_time: slot(8), exit_price: 165 },
  ...{ account_return: 0.5 },
})
// Each entry commission is 0.5 * 0.001; at day 0 the first part is closed, the other stands at its entry price.
const part = (to: number, account_return: number): Trade =>
  trade({ leverage: 0.5, exit_time: slot(to), account_return })

test.each(casesOf<[string, Trade[], Ledger, number[]]>`
an open trade at the last close of each day, less its commission, and at its end 1 + R -> ${[held]} -> ${{ bars, costs: COSTLY }} -> ${[1 + 2 * (0.1 - 0.001), 1 + 2 * (0.05 - 0.001), 0.75]}
an open trade that stays open at the end of the bars -> ${[{ ...held, exit_time: slot(99) }]} -> ${{ bars }} -> ${[1.2, 1.1, 0.8]}
an open trade with the funding that is due by the open of the marked bar, all of which R holds -> ${[held]} -> ${PAID} -> ${[1.2 - 2 * 0.01, 1.1 - 2 * (0.01 + 0.01 + 0.011), 0.75]}
a trade that entered inside a bar without what was due in that bar before it -> ${[{ ...held, entry_time: slot(5) + 2 * HOUR_MS }]} -> ${PAID_INSIDE} -> ${[1.2, 1.1 - 2 * 0.01, 0.75]}
a trade of unknown leverage, 0.5 % from its entry, as nothing until its exit and then whole -> ${[{ ...held, leverage: null, exit_price: 100.5, account_return: 0.03 }]} -> ${{ bars }} -> ${[1, 1, 1.03]}
trades that begin and end on the same day without a mark in between -> ${[short(1, 2, 0.1), short(3, 4, -0.2)]} -> ${{ bars: flat }} -> ${[1.1 * 0.8, 1.1 * 0.8]}
trades of no duration one after the other -> ${[short(2, 2, 0.1), short(2, 2, 0.1), short(2, 3, 0.1)]} -> ${{ bars: flat }} -> ${[1.331, 1.331]}
an exit at midnight on the day that begins -> ${[AT_MIDNIGHT]} -> ${{ bars: flat }} -> ${[1, 1.1]}
an exit a millisecond before midnight on the day that ends -> ${[{ ...AT_MIDNIGHT, exit_time: slot(6) - 1 }]} -> ${{ bars: flat }} -> ${[1.1, 1.1]}
an exit on a day without bars on the next day -> ${[later(8)]} -> ${OUTAGE} -> ${[1, 1, 1.15]}
an exit in the gap of a day that lost its last bars on that day -> ${[later(4)]} -> ${LOST_END} -> ${[1.15, 1.15]}
overlapping trades sized on the equity with the others marked at the new entry price -> ${[first, second]} -> ${{ bars: twoDays }} -> ${[1, 1 + 0.1 + 1.1 * 0.5]}
trades that enter at the same instant, the parts of one position, sized on the same equity -> ${[part(3, 0.05), part(8, 0.03)]} -> ${{ bars: twoDays, costs: COSTLY }} -> ${[1 + 0.05 - 0.0005, 1 + 0.05 + 0.03]}`)(
  'the equity of a ledger and its daily returns are what a hand computes: %s',
  (_, trades, ledger, equity) => {
    const marks = mark(trades, ledger)
    expect(equityOf(marks)).toEqual(near(equity, 1e-14))
    const returns = equity.map((level, i) => level / (equity[i - 1] ?? 1) - 1)
    expect([...marks.daily.values]).toEqual(near(returns, 1e-14))
    expect(marks.daily).toMatchObject({ period: 'daily', first: DAY_0 })
  },
)

test('a trade that ends is worth 1 + R, and one that is open at the end of the bars has no outcome', () => {
  expect(equityOf(mark([held], { bars, costs: COSTLY }))[2]).toBeCloseTo(0.75, 15)
  expect(mark([{ ...held, exit_time: slot(99) }], { bars }).trades).toEqual([
    {
      ...{ ...held, exit_time: null, exit_price: null, exit_reason: null, account_return: null },
      ...{ return_per_notional: null },
    },
  ])
  const unknown = mark([{ ...held, leverage: null, exit_price: 100.5, account_return: 0.03 }], { bars })
  expect(unknown.trades[0]).toMatchObject({ leverage: null })
  expect(mark([later(8)], OUTAGE).days_without_bars).toEqual([DAY_0 + 1])
})

test('a trade that exits exactly at the end of the bars is open there: that instant belongs to the next day', () => {
  expect(mark([{ ...held, exit_time: slot(18) }], { bars }).trades[0]!.exit_time).toBeNull()
  expect(mark([{ ...held, exit_time: slot(18) - 1 }], { bars }).trades[0]!.exit_time).toBe(slot(18) - 1)
})

test('a trade that enters after the end of the bars does not exist yet', () => {
  expect(mark([trade({ leverage: 1, entry_time: slot(18), exit_time: slot(19) })], { bars }).trades).toEqual(
    [],
  )
})

test('fees and funding that a trade states are booked at its exit, so that no mark depends on what follows it', () => {
  const market = { bars, costs: COSTLY, funding: handFunding([slot(6), 0.01]) }
  const stated = { ...held, fees: -0.0005, funding: -0.002, account_return: null }
  const [declared, own] = [mark([held], market), mark([stated], market)]
  expect(own.daily.values.subarray(0, 2)).toEqual(declared.daily.values.subarray(0, 2))
  expect(equityOf(own)[2]).toBeCloseTo(1 + 2 * (-0.1 + 0.0005 - 0.002), 14)
  const open = mark([{ ...stated, exit_time: slot(99) }], market)
  const ruined = mark([{ ...stated, side: 'short', leverage: 12 }], market)
  for (const { trades } of [open, ruined]) expect(trades[0]).toMatchObject({ fees: null, funding: null })
})

test('trades are taken by their times, in whatever order the ledger has them', () => {
  const ledger = [short(1, 2, 0.1), short(2, 3, -0.2), short(4, 8, 0.3)]
  const forwards = mark(ledger, { bars: flat })
  expect(mark(ledger.toReversed(), { bars: flat })).toEqual(forwards)
  expect(forwards.trades.map(({ entry_time }) => entry_time)).toEqual([slot(1), slot(2), slot(4)])
})

const rising = [...flatDay(110), ...flatDay(121), ...flatDay(121)]
const risen = trade({ leverage: 1, exit_time: slot(13), exit_price: 121, account_return: 0.21 })

test('the first day of the series cuts it: the returns after it are the same as without the cut', () => {
  const whole = mark([risen], { bars: rising })
  const cut = mark([risen], { bars: rising, from: DAY_0 + 1 })
  expect(cut.daily.first).toBe(DAY_0 + 1)
  expect(Array.from(cut.daily.values)).toEqual(Array.from(whole.daily.values.slice(1)))
})

const price = fc.double({ min: 80, max: 120, noNaN: true })
const anyCloses = fc.array(price, { minLength: 24, maxLength: 60 })

test('the product of 1 + ret over the life of a trade is 1 + R', () => {
  const leverage = fc.double({ min: 0.1, max: 3, noNaN: true })
  const result = fc.integer({ min: -90, max: 200 }).map(percent => percent / 100)
  const side = fc.constantFrom('long' as const, 'short' as const)
  forAll(anyCloses, leverage, result, side, (closes, lever, account_return, direction) => {
    const end = slot(closes.length - 1)
    const held = trade({ side: direction, leverage: lever, exit_time: end, account_return })
    const { daily, trades } = mark([held], { bars: closes.map(still), costs: COSTLY })
    const product = daily.values.reduce((total, ret) => total * (1 + ret), 1)
    expect(product).toBeCloseTo(1 + trades[0]!.account_return!, 9)
  })
})

const crash = [...flatDay(100), ...stillBars(100, 49, 120, 120, 120, 120), ...flatDay(120)]
const doubled = trade({ leverage: 2, exit_time: slot(13), exit_price: 120, account_return: 0.4 })

const hedge = trade({ ...doubled, side: 'short', leverage: 0.01, exit_time: slot(14), account_return: 0 })
const after = (from: number, account_return: number): Trade => short(from, from + 1, account_return)
const LIQUIDATED = { exit_reason: 'liquidation', account_return: -1 }
const AT_49 = { ...LIQUIDATED, exit_time: slot(7), exit_price: 49, return_per_notional: -0.5 }

// Leverage 2 from 100: at 49 the account would stand at -0.02. A short of leverage 0.01 has won 0.0051 there.
test.each(casesOf<[string, Trade[], number[], number | null, object[]]>`
at any close, not only the last of a day, and with what is open there -> ${[doubled, after(14, 0.1)]} -> ${[1, 0, 0]} -> ${DAY_0 + 1} -> ${[AT_49]}
at a result of -1 or worse, which is exactly -1 -> ${[{ ...doubled, exit_time: slot(3), exit_reason: 'stop', account_return: -1.3 }]} -> ${[0, 0, 0]} -> ${DAY_0} -> ${[{ ...LIQUIDATED, exit_time: slot(3) }]}
before an entry at the same instant, even before the next close -> ${[{ ...doubled, exit_time: slot(3), account_return: -1 }, after(3, 5)]} -> ${[0, 0, 0]} -> ${DAY_0} -> ${[LIQUIDATED]}
with overlapping trades, each of which keeps what it was worth -> ${[doubled, hedge]} -> ${[1, 0, 0]} -> ${DAY_0 + 1} -> ${[LIQUIDATED, { ...LIQUIDATED, account_return: 0.0051 }]}
at no close and no exit that leaves the account above 0 -> ${[{ ...doubled, leverage: 1.9 }]} -> ${[1, 1.38, 1.4]} -> ${null} -> ${[{ exit_reason: 'signal', account_return: 0.4 }]}`)(
  'ruin ends a ledger %s',
  (_, trades, equity, ruined_on, kept) => {
    const marks = mark(trades, { bars: crash })
    expect(equityOf(marks)).toEqual(near(equity, 1e-14))
    expect(marks).toMatchObject({ ruined_on, trades_after_ruin: trades.length - kept.length })
    expect(marks.trades).toMatchObject(near(kept, 1e-14) as object[])
    expect(marks.trades).toHaveLength(kept.length)
  },
)

const aTrade = fc.record({
  gap: fc.integer({ min: 0, max: 9 }),
  length: fc.integer({ min: 0, max: 9 }),
  leverage: fc.double({ min: 0.1, max: 3, noNaN: true }),
  account_return: fc.double({ min: -0.3, max: 0.3, noNaN: true }),
})

/** One after the other on a grid of six bars a day, some of them on the bar that the one before left. */
const inTurn = fc.array(aTrade, { minLength: 2, maxLength: 12 }).map(parts => {
  let at = 1
  return parts.map(({ gap, length, ...terms }) => {
    const entry = at + gap
    at = entry + length
    return trade({ ...terms, entry_time: slot(entry), exit_time: slot(at), exit_price: 100 })
  })
})

const dayOfSlot = (ms: number): number => Math.floor((ms - slot(0)) / DAY_MS)

test('a trade that is dropped changes no bit of the return of a day on which it was not open', () => {
  const closes = Array.from({ length: 6 * 40 }, (_, i) => still(100 + 7 * Math.sin(i)))
  forAll(inTurn, fc.nat(), (trades, which) => {
    const dropped = which % trades.length
    const all = mark(trades, { bars: closes }).daily.values
    const left = mark(trades.toSpliced(dropped, 1), { bars: closes }).daily.values
    const [from, to] = [trades[dropped]!.entry_time, trades[dropped]!.exit_time!].map(dayOfSlot)
    const differing = [...all.keys()].filter(day => !Object.is(all[day], left[day]))
    expect(differing.filter(day => day < from! || day > to!)).toEqual([])
  })
})

test.each([
  ['none of leverage, stop and account return', {}, 'has neither leverage, stop nor account_return'],
  [
    'a stop from which no leverage follows',
    { stop: 99.99 },
    'above the cap of 15; give leverage or account_return',
  ],
])('a row of a ledger with %s is refused by its number', (_, change, sentence) => {
  const good = trade({ leverage: 1, entry_time: slot(4), exit_time: slot(5) })
  const refuse = () => mark([good, trade({ ...change })], { bars: flatDay(100) })
  expect(refuse).toThrow('strategy alder: trade 1 of the ledger')
  expect(refuse).toThrow(sentence)
})
