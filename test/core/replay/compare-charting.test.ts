import { expect, test } from 'vitest'
import { compareCharting } from '#core/replay/compare-charting.ts'
import { HOUR_MS, slot, TIMEFRAME_MS, trade } from './hand.ts'

const COUNT = 200
const RULES = { timeframeMs: TIMEFRAME_MS, tolerance: 0.1, endMs: slot(2 * COUNT) }

/** A trade every second slot, sides in turn, prices that tell the trades apart. */
const LEDGER = Array.from({ length: COUNT }, (_, i) =>
  trade({
    side: i % 2 === 0 ? 'long' : 'short',
    entry_time: slot(2 * i),
    entry_price: 100 + i,
    exit_time: slot(2 * i + 1),
  }),
)

type Entry = { readonly side: 'long' | 'short'; readonly t: number; readonly price: number }

/** What a chart in a zone so many hours east of UTC lists of them. */
const charted = (hours = 0, trades = LEDGER): Entry[] =>
  trades.map(({ side, entry_time, entry_price }) => ({
    side,
    t: entry_time + hours * HOUR_MS,
    price: entry_price,
  }))

const compare = (entries: readonly Entry[], ledger = LEDGER) =>
  compareCharting(ledger, { entries, end: Math.max(...entries.map(({ t }) => t)) }, RULES)

test.each([0, 8, -5, 5.75, 14, -12])('the zone of the chart is found: %s hours from UTC', hours => {
  expect(compare(charted(hours))).toEqual({ status: 'confirmed', matched: COUNT, compared: COUNT })
})

test('99 % of the trades must match in side, entry bar and price', () => {
  const wrong = (count: number, change: (entry: Entry) => Entry) =>
    compare(charted(8).map((entry, i) => (i > 0 && i <= count ? change(entry) : entry)))
  const changes = [
    (entry: Entry) => ({ ...entry, side: entry.side === 'long' ? ('short' as const) : ('long' as const) }),
    (entry: Entry) => ({ ...entry, t: entry.t + TIMEFRAME_MS }),
    (entry: Entry) => ({ ...entry, price: entry.price + 0.2 }),
  ]
  for (const change of changes) {
    expect(wrong(2, change)).toEqual({ status: 'confirmed', matched: COUNT - 2, compared: COUNT })
    expect(wrong(3, change)).toEqual({ status: 'diverged', matched: COUNT - 3, compared: COUNT })
  }
})

test('a price may differ by the tolerance, and a time lie anywhere in its bar', () => {
  const near = charted().map(entry => ({ ...entry, t: entry.t + HOUR_MS, price: entry.price + 0.09 }))
  expect(compare(near).status).toBe('confirmed')
})

test('trades that only one of the two has count against it', () => {
  const missing = charted().filter((_, i) => i % 20 !== 10)
  expect(compare(missing)).toEqual({ status: 'diverged', matched: COUNT - 10, compared: COUNT })
  const ledger = LEDGER.filter((_, i) => i % 20 !== 10)
  expect(compare(charted(), ledger)).toEqual({ status: 'diverged', matched: COUNT - 10, compared: COUNT })
  const twice = charted().flatMap(entry => [entry, entry])
  expect(compare(twice).status).toBe('diverged')
})

test('only the time that both cover is compared, and it must have half of the ledger', () => {
  expect(compare(charted().slice(0, 120))).toEqual({ status: 'confirmed', matched: 120, compared: 120 })
  expect(compare(charted().slice(80))).toEqual({ status: 'confirmed', matched: 120, compared: 120 })
  expect(compare(charted(), LEDGER.slice(50))).toEqual({ status: 'confirmed', matched: 150, compared: 150 })
  expect(compare(charted().slice(0, 90)).status).toBe('provisional')
})

test('an export that is newer than the bars is compared up to their end', () => {
  const [ledger, end] = [LEDGER.slice(0, 120), slot(240)]
  const chart = { entries: charted(8), end: slot(2 * COUNT) }
  expect(compareCharting(ledger, chart, { ...RULES, endMs: end })).toEqual({
    status: 'confirmed',
    matched: 120,
    compared: 120,
  })
  expect(compareCharting(ledger, chart, RULES).status).toBe('diverged')
})

test('an export of another strategy diverges, and one without trades says nothing', () => {
  expect(compare(charted().map(entry => ({ ...entry, price: entry.price * 2 }))).status).toBe('diverged')
  expect(compareCharting(LEDGER, { entries: [], end: Number.NEGATIVE_INFINITY }, RULES)).toEqual({
    status: 'provisional',
    matched: 0,
    compared: 0,
  })
  expect(compareCharting([], { entries: charted(), end: slot(400) }, RULES).status).toBe('provisional')
})

test('parts of one position match one part each', () => {
  const parts = LEDGER.flatMap(each => [each, each])
  expect(compare(charted(0, parts), parts)).toEqual({
    status: 'confirmed',
    matched: 2 * COUNT,
    compared: 2 * COUNT,
  })
})
