import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import type { Trade } from '#core/replay/trade.ts'
import { forAll } from '#test/support/for-all.ts'
import {
  COSTLY,
  DAY_0,
  expectClose,
  flatDay,
  HOUR_MS,
  handFunding,
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

test('an open trade is marked at the last close of each day, less its commission, and ends at exactly 1 + R', () => {
  // 1 + 2 * (0.1 - 0.001), 1 + 2 * (0.05 - 0.001), 1 - 0.25.
  const marks = mark([held], { bars, costs: COSTLY })
  expectClose(marks.equity, [1.198, 1.098, 0.75])
  expectClose(marks.daily.values, [0.198, 1.098 / 1.198 - 1, 0.75 / 1.098 - 1])
  expect(marks.equity[2]).toBe(0.75)
  expect(marks.daily).toMatchObject({ period: 'daily', first: DAY_0 })
})

test('an open trade is marked and stays open at the end of the bars, without an outcome', () => {
  const marks = mark([{ ...held, exit_time: slot(99) }], { bars })
  expectClose(marks.equity, [1.2, 1.1, 0.8])
  expect(marks.trades).toEqual([
    {
      ...{ ...held, exit_time: null, exit_price: null, exit_reason: null, account_return: null },
      ...{ return_per_notional: null },
    },
  ])
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

test('an open trade pays the funding that is due by the open of the marked bar, and R holds all of it', () => {
  // Slot 2: 0.01 of 100 a unit; slot 6 (day 1): 0.01 of 110. One more inside the last bar of day 0 is not due yet.
  const funding = handFunding([slot(2), 0.01], [slot(5) + HOUR_MS, 0.01], [slot(6), 0.01])
  const marks = mark([held], { bars, funding })
  expectClose(marks.equity, [1.2 - 2 * 0.01, 1.1 - 2 * (0.01 + 0.01 + 0.011), 0.75])
})

test('fees and funding that a trade states are booked at its exit, so that no mark depends on what follows it', () => {
  const market = { bars, costs: COSTLY, funding: handFunding([slot(6), 0.01]) }
  const stated = { ...held, fees: -0.0005, funding: -0.002, account_return: null }
  const [declared, own] = [mark([held], market), mark([stated], market)]
  expect(own.equity.subarray(0, 2)).toEqual(declared.equity.subarray(0, 2))
  expect(own.equity[2]).toBeCloseTo(1 + 2 * (-0.1 + 0.0005 - 0.002), 14)
  const open = mark([{ ...stated, exit_time: slot(99) }], market)
  const ruined = mark([{ ...stated, side: 'short', leverage: 12 }], market)
  for (const { trades } of [open, ruined]) expect(trades[0]).toMatchObject({ fees: null, funding: null })
})

test('a trade that entered inside a bar owes nothing for what was due in that bar before it', () => {
  const funding = handFunding([slot(5) + HOUR_MS, 0.01], [slot(5) + 3 * HOUR_MS, 0.01])
  const late = { ...held, entry_time: slot(5) + 2 * HOUR_MS }
  // Day 0 is marked at the bar of slot 5: nothing is due. The second event is in the mark of day 1, at 100.
  expectClose(mark([late], { bars, funding }).equity, [1.2, 1.1 - 2 * 0.01, 0.75])
})

test('an open trade of unknown leverage is worth nothing until its exit, where its result is booked whole', () => {
  // The price moved 0.5 %, too little to infer a leverage.
  const marks = mark([{ ...held, leverage: null, exit_price: 100.5, account_return: 0.03 }], { bars })
  expectClose(marks.daily.values, [0, 0, 0.03])
  expect(marks.trades[0]).toMatchObject({ leverage: null })
})

const flat = [...flatDay(100), ...flatDay(100)]
const short = (from: number, to: number, account_return: number): Trade =>
  trade({ entry_time: slot(from), exit_time: slot(to), leverage: 1, account_return })

test('trades that begin and end on the same day need no mark', () => {
  expectClose(mark([short(1, 2, 0.1), short(3, 4, -0.2)], { bars: flat }).daily.values, [1.1 * 0.8 - 1, 0])
})

test('a trade may have no duration: it enters before it exits, and ends before the next', () => {
  const marks = mark([short(2, 2, 0.1), short(2, 2, 0.1), short(2, 3, 0.1)], { bars: flat })
  expect(marks.equity[0]).toBeCloseTo(1.331, 14)
})

test('trades are taken by their times, in whatever order the ledger has them', () => {
  const ledger = [short(1, 2, 0.1), short(2, 3, -0.2), short(4, 8, 0.3)]
  const forwards = mark(ledger, { bars: flat })
  expect(mark(ledger.toReversed(), { bars: flat })).toEqual(forwards)
  expect(forwards.trades.map(({ entry_time }) => entry_time)).toEqual([slot(1), slot(2), slot(4)])
})

test('an exit at midnight belongs to the day that begins', () => {
  expectClose(mark([short(1, 6, 0.1)], { bars: flat }).daily.values, [0, 0.1])
  expectClose(mark([{ ...short(1, 6, 0.1), exit_time: slot(6) - 1 }], { bars: flat }).daily.values, [0.1, 0])
})

test('a day without bars returns 0 and is listed, and its events count on the next day', () => {
  const bars = [...flatDay(100), ...NO_DAY, ...flatDay(120)]
  const marks = mark([trade({ leverage: 1, exit_time: slot(8), account_return: 0.15 })], { bars })
  expectClose(marks.daily.values, [0, 0, 0.15])
  expect(marks.days_without_bars).toEqual([DAY_0 + 1])
})

test('a day that lost its last bars differs from one without bars: an exit in that gap is booked on its own day', () => {
  const bars = [...stillBars(100, 100, 110), null, null, null, ...flatDay(110)]
  expectClose(
    mark([trade({ leverage: 1, exit_time: slot(4), account_return: 0.15 })], { bars }).daily.values,
    [0.15, 0],
  )
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

const twoDays = [...flatDay(100), ...flatDay(110)]

test('overlapping trades are sized on the equity with the others marked at the new entry price', () => {
  // The first, leverage 1 from 100, is worth 0.1 when the second enters at 110: 1.1 * 0.5 for the second.
  const first = trade({ leverage: 1, exit_time: slot(9), exit_price: 110, account_return: 0.1 })
  const second = trade({
    ...{ leverage: 1, entry_time: slot(7), entry_price: 110, exit_time: slot(8), exit_price: 165 },
    ...{ account_return: 0.5 },
  })
  const marks = mark([first, second], { bars: twoDays })
  expect(marks.equity[1]).toBeCloseTo(1 + 0.1 + 1.1 * 0.5, 14)
})

test('overlapping trades that enter at the same instant, the parts of one position, are sized on the same equity', () => {
  const part = (to: number, account_return: number): Trade =>
    trade({ leverage: 0.5, exit_time: slot(to), account_return })
  const marks = mark([part(3, 0.05), part(8, 0.03)], { bars: twoDays, costs: COSTLY })
  // Each entry commission is 0.5 * 0.001; at day 0 the first part is closed, the other stands at its entry price.
  expectClose(marks.equity, [1 + 0.05 - 0.0005, 1 + 0.05 + 0.03])
})

const crash = [...flatDay(100), ...stillBars(100, 49, 120, 120, 120, 120), ...flatDay(120)]
const doubled = trade({ leverage: 2, exit_time: slot(13), exit_price: 120, account_return: 0.4 })

test('ruin at any close, not only the last of a day, liquidates what is open and ends the ledger', () => {
  // Leverage 2 from 100: at 49 the account would stand at -0.02.
  const later = trade({ leverage: 1, entry_time: slot(14), exit_time: slot(15), account_return: 0.1 })
  const marks = mark([doubled, later], { bars: crash })
  expectClose(marks.daily.values, [0, -1, 0])
  expect(marks).toMatchObject({ ruined_on: DAY_0 + 1, trades_after_ruin: 1 })
  expect(marks.trades).toMatchObject([
    {
      exit_time: slot(7),
      exit_price: 49,
      exit_reason: 'liquidation',
      account_return: -1,
      return_per_notional: -0.5,
    },
  ])
})

test('ruin by a result of -1 or worse is a liquidation of exactly -1', () => {
  const marks = mark([{ ...doubled, exit_time: slot(3), exit_reason: 'stop', account_return: -1.3 }], {
    bars: crash,
  })
  expectClose(marks.equity, [0, 0, 0])
  expect(marks.trades[0]).toMatchObject({
    exit_time: slot(3),
    exit_reason: 'liquidation',
    account_return: -1,
  })
  expect(marks.ruined_on).toBe(DAY_0)
})

test('ruin leaves nothing to size an entry on, even before the next close', () => {
  const ruined = { ...doubled, exit_time: slot(3), account_return: -1 }
  const next = trade({ leverage: 1, entry_time: slot(3), exit_time: slot(4), account_return: 5 })
  const marks = mark([ruined, next], { bars: crash })
  expectClose(marks.equity, [0, 0, 0])
  expect(marks).toMatchObject({ ruined_on: DAY_0, trades_after_ruin: 1 })
})

test('ruin of overlapping trades leaves each what it was worth', () => {
  // At 49: long -1.02 of the account; a short from 100, leverage 0.01, +0.0051. Together below -1.
  const exit = { exit_time: slot(14), exit_price: 120, account_return: 0 }
  const hedge = trade({ side: 'short', leverage: 0.01, ...exit })
  const marks = mark([doubled, hedge], { bars: crash })
  expect(marks.trades.map(({ exit_reason }) => exit_reason)).toEqual(['liquidation', 'liquidation'])
  expect(marks.trades[0]!.account_return).toBe(-1)
  expect(marks.trades[1]!.account_return).toBeCloseTo(0.0051, 14)
})

test('ruin does not occur if no close and no exit brings the account to 0', () => {
  expect(mark([{ ...doubled, leverage: 1.9 }], { bars: crash }).ruined_on).toBeNull()
})

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
  ['an entry before the first bar', { entry_time: slot(-1) }, 'before the first bar at 2020-01-01T00:00:00Z'],
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
