// What is found in bars and in ledgers. The bars are a seeded walk with wicks, into which each
// test puts one fault; real bars have falls by half in a day and outages, and nothing of it may keep them from being published.

import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'
import type { Trade } from '#core/replay/trade.ts'
import { checkBars } from '#pipeline/report/bar-checks.ts'
import { acceptedFindings, judgeLiveGap, reportData } from '#pipeline/report/data-report.ts'
import { checkReturns } from '#pipeline/report/return-checks.ts'
import { checkTrades } from '#pipeline/report/trade-checks.ts'
import { createRandom } from '#pipeline/sample/random.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { readBars } from '../../core/replay/real-bars.ts'
import { sharedData } from '../../support/shared-data.ts'
import { catalogueWith, GOOD, readChanged } from '../book/book-folder.ts'

const HOURS_4 = 4 * 3_600_000

/** A seeded random walk of 4-hour bars from 2024 on: they open where the one before closed, and have wicks and volume. */
function walk(count: number, timeframeMs = HOURS_4): Bars {
  const column = () => new Float64Array(count)
  const [t, o, h, l, c, v] = [column(), column(), column(), column(), column(), column()]
  const { uniform: random } = createRandom(1)
  let price = 10_000
  for (let i = 0; i < count; i++) {
    t[i] = Date.parse('2024-01-01T00:00:00Z') + i * timeframeMs
    o[i] = price
    price *= 1 + 0.02 * (random() - 0.5)
    c[i] = price
    h[i] = Math.max(o[i]!, price) * (1 + 0.005 * random())
    l[i] = Math.min(o[i]!, price) * (1 - 0.005 * random())
    v[i] = 10 + random()
  }
  return { timeframeMs, t, o, h, l, c, v }
}

const NEVER = Number.POSITIVE_INFINITY
const FROM = Date.parse('2024-01-01T00:00:00Z')

const found = (bars: Bars, nowMs = NEVER) =>
  checkBars(bars, nowMs).map(({ severity, code, at, count }) => [severity, code, at[0], count])

/** The walk with some bars changed. */
function changed(change: (bars: Bars) => unknown): Bars {
  const bars = walk(400)
  change(bars)
  return bars
}

const without = (bars: Bars, from: number, count: number): Bars => {
  const cut = (column: Float64Array) => column.filter((_, i) => i < from || i >= from + count)
  const { timeframeMs, t, o, h, l, c, v } = bars
  return { timeframeMs, t: cut(t), o: cut(o), h: cut(h), l: cut(l), c: cut(c), v: cut(v) }
}

const PRICES = ['o', 'h', 'l', 'c'] as const

/** Multiplies prices of the bars from one on up to another; of one bar if none is given. */
const times =
  (factor: number, from: number, to = from + 1, names: readonly (typeof PRICES)[number][] = PRICES) =>
  (bars: Bars): void => {
    for (const name of names) for (let i = from; i < to; i++) bars[name][i]! *= factor
  }

/** All prices of some bars are the close before them. */
const still = (length: number) => (bars: Bars) =>
  PRICES.forEach(name => void bars[name].fill(bars.c[199]!, 200, 200 + length))

function fallByHalf(bars: Bars): void {
  times(0.5, 200, 201, ['l', 'c'])(bars)
  times(0.5, 201, 400)(bars)
}

function withoutWicks({ o, h, l, c }: Bars): void {
  h.set(o.map((open, i) => Math.max(open, c[i]!)))
  l.set(o.map((open, i) => Math.min(open, c[i]!)))
}

const copied = ({ o, h, l, c, v }: Bars) => [o, h, l, c, v].map(column => column.fill(column[200]!, 201, 204))

/** The walk without some bars at each of these places. */
const lacking = (count: number, ...places: readonly number[]): Bars =>
  places.reduce((bars, from) => without(bars, from, count), walk(400))
const MANY = Array.from({ length: 30 }, (_, i) => 10 + i * 10)
const TWO_DAYS = FROM + 2 * DAY_MS

test.each(casesOf<[string, Bars, string[], number?]>`
nothing wrong -> ${walk(2000)} -> ${[]}
ten times the price in the first one -> ${changed(times(10, 0))} -> ${['serious jump 1 1']}
one alone that goes to ten times its open -> ${{ ...walk(1), h: Float64Array.of(1e5), c: Float64Array.of(1e5) }} -> ${[]}
ten times the price in one among others -> ${changed(times(10, 200))} -> ${['serious spike 200 1']}
ten times the price in the last one -> ${changed(times(10, 399))} -> ${['serious spike 399 1']}
a high ten times off -> ${changed(times(10, 200, 201, ['h']))} -> ${['serious spike 200 1']}
a low ten times off -> ${changed(times(0.1, 200, 201, ['l']))} -> ${['serious spike 200 1']}
a close ten times off -> ${changed(times(10, 200, 201, ['h', 'c']))} -> ${['serious spike 200 1']}
another unit from a day on -> ${changed(times(1000, 200, 400))} -> ${['serious jump 200 1']}
a fall by half that is not taken back -> ${changed(fallByHalf)} -> ${[]}
a price that stands still for two days -> ${changed(still(12))} -> ${['serious flat_run 200 12']}
a price that stands still for some hours -> ${changed(still(4))} -> ${[]}
a price that moves without volume for two days -> ${changed(({ v }) => v.fill(0, 200, 212))} -> ${['note no_volume 200 12', 'serious zero_volume 200 12']}
a volume that is always 0 -> ${changed(({ v }) => v.fill(0))} -> ${['note no_volume 0 400']}
copies of one that were carried forward -> ${changed(copied)} -> ${['serious copied_bars 201 3']}
no price outside of open and close -> ${changed(withoutWicks)} -> ${['serious no_wicks 0 400']}
a gap of thirty bars -> ${lacking(30, 200)} -> ${['serious gap 200 30']}
thirty gaps of a bar -> ${lacking(1, ...MANY)} -> ${['serious gaps 10 30']}
a short outage -> ${lacking(3, 200)} -> ${['note gaps 200 3']}
bars of the future -> ${walk(12)} -> ${['blocking future_bars 7 5']} -> ${FROM + DAY_MS}
a running bar that would end the last day -> ${walk(12)} -> ${['blocking unfinished_bar 11 1']} -> ${TWO_DAYS - 1}
a running bar that would end no day -> ${walk(11)} -> ${['note unfinished_bar 10 1']} -> ${TWO_DAYS - HOURS_4 - 1}
a last bar that has just ended -> ${walk(12)} -> ${[]} -> ${TWO_DAYS}`)(
  'the data report has the findings that belong to bars with %s',
  (_, bars, findings, nowMs) => {
    expect(found(bars, nowMs).map(each => each.join(' '))).toEqual(findings)
  },
)

test('interpolated bars that are rounded to the tick are serious from steps of 20 ticks on', () => {
  const bars = changed(({ o, h, l, c }) => {
    c.set(c.map(Math.round))
    const [from, to] = [c[100]!, c[100]! + 615]
    for (let i = 100; i <= 130; i++) c[i] = Math.round(from + ((to - from) * (i - 100)) / 30)
    for (let i = 1; i < c.length; i++) {
      o[i] = c[i - 1]!
      h[i] = Math.max(o[i]!, c[i]!, h[i]!)
      l[i] = Math.min(o[i]!, c[i]!, l[i]!)
    }
  })
  expect(found(bars).map(([severity, code]) => [severity, code])).toContainEqual(['serious', 'straight_line'])
})

test('equal steps of a tick in a market with a coarse tick are no interpolation', () => {
  const bars = changed(({ o, h, l, c }) => {
    for (let i = 0; i < 400; i++) {
      c[i] = 100 + (i % 20 < 10 ? i % 20 : 20 - (i % 20)) * 0.5
      o[i] = c[i - 1] ?? 100
      h[i] = Math.max(o[i]!, c[i]!) + 0.5
      l[i] = Math.min(o[i]!, c[i]!) - 0.5
    }
  })
  expect(found(bars)).toEqual([])
})

const BARS = walk(400)
const GROUND = { bars: BARS, maxLeverage: 15, slippage: 0.2, nowMs: BARS.t.at(-1)! + HOURS_4 }

/** Twenty longs of two bars that enter and exit at the opens of bars; `shift` moves their times. */
const ledger = (shift = 0, changes: Partial<Trade> = {}): Trade[] =>
  Array.from({ length: 20 }, (_, i) => ({
    side: 'long',
    entry_time: BARS.t[10 * i + 5]! + shift,
    entry_price: BARS.o[10 * i + 5]!,
    exit_time: BARS.t[10 * i + 7]! + shift,
    exit_price: BARS.o[10 * i + 7]!,
    exit_reason: 'signal',
    leverage: 1,
    stop: null,
    account_return: null,
    ...{ fees: null, funding: null },
    ...changes,
  }))

const foundIn = (trades: readonly Trade[], ground: Partial<typeof GROUND> = {}) =>
  checkTrades(trades, { ...GROUND, ...ground }).map(({ severity, code, count }) => [severity, code, count])

const [FIRST, ...OTHERS] = ledger() as [Trade, ...Trade[]] // it has twenty
const PARTIAL = { ...FIRST, exit_time: FIRST.exit_time! + HOURS_4 }
const LEVERED = ledger().with(3, { ...ledger()[3]!, leverage: 95 })

test.each<[string, readonly Trade[], readonly string[], Partial<typeof GROUND>?]>([
  ['with nothing wrong', ledger(), []],
  ['without a trade', [], []],
  ['with a leverage of 95 under a cap of 15', LEVERED, ['blocking leverage_over_cap 1']],
  ['with a leverage over the cap by the move until the fill', ledger(0, { leverage: 15.3 }), []],
  ['with trades of the future', ledger(), ['blocking future_trades 19'], { nowMs: BARS.t[10]! }],
  ['with a trade that exits in the future', ledger(), ['blocking future_trades 1'], { nowMs: BARS.t[196]! }],
  ['with a trade twice', [FIRST, FIRST, ...OTHERS], ['serious duplicate_trades 1']],
  ['with a partial exit of the same entry', [FIRST, PARTIAL, ...OTHERS], []],
  ['with nine entries a bar early, and one of the first day', ledger(-HOURS_4).slice(0, 10), []],
  ['with entries inside of bars', ledger(600_000, { entry_price: 10_000 }), []],
])('the data report has the findings that belong to a ledger %s', (_, trades, findings, ground) => {
  expect(foundIn(trades, ground).map(each => each.join(' '))).toEqual(findings)
})

test('a leverage over the cap is reported with the cap and the largest', () => {
  expect(checkTrades(LEVERED, GROUND)[0]?.what).toContain('at most 15, the max_leverage of the strategy')
  expect(checkTrades(LEVERED, GROUND)[0]?.what).toContain('the largest 95')
})

test.each([
  ['8 hours earlier', 8 * 3_600_000],
  ['one bar earlier', HOURS_4],
  ['one bar later', -HOURS_4],
  ['5.5 hours earlier', 5.5 * 3_600_000],
])('entries at the opens of bars %s are serious', (shift, moved) => {
  const [finding] = checkTrades(ledger(moved), GROUND)
  expect([finding?.severity, finding?.code]).toEqual(['serious', 'shifted_labels'])
  expect(finding?.what).toContain(`got 100 % of them at opens ${shift}`)
})

test('what was stated at the import of a table is published as stated by its publisher, of a packed table too', async () => {
  const path = 'ledgers/birch.csv'
  const packed = { [path]: null, [`${path}.gz`]: gzipSync(GOOD[path]) }
  const stating = (key: string) => catalogueWith('funding:', `imports: { ${key}: "tz: UTC" }\nfunding:`)
  const published = { finding: 'stated', of: 'birch', what: 'read as its publisher states: tz: UTC' }
  for (const files of [stating(path), stating(`${path}.gz`), { ...stating(path), ...packed }]) {
    const found = acceptedFindings(reportData(await readChanged(files), NEVER), NEVER)
    expect(found).toMatchObject([{ ...published, reason: 'stated by the publisher at the import' }])
  }
})

test('a finding that is refused despite an accept entry for it names the entry, and what that accepts', async () => {
  const entry = '{ finding: live_gap, of: alder, from: 2020-01-01, to: 2020-01-01, count: 1, reason: late }'
  const book = await readChanged(catalogueWith('funding:', `accept: [${entry}]\nfunding:`))
  const opens = Float64Array.of(1, 2).fill(Date.parse('2020-01-01T00:00:00Z'))
  const [problem] = judgeLiveGap(book.strategies[0]!, opens, book)
  expect(problem?.message).toContain('accepts a count of 1 within these days, and this finding has 2 from')
})

const HOUR_MS = 3_600_000
const NOW_MS = Date.parse('2026-07-01T00:00:00Z')
const skip = sharedData === null ? ' (skipped: no real bars on this machine)' : ''

const read = (name: string) =>
  readBars(join(sharedData ?? '', `bars/${name}.csv.gz`), name.endsWith('1d') ? 24 * HOUR_MS : 4 * HOUR_MS)

test.skipIf(sharedData === null).each([
  ['binance-perp_BTCUSDT_1d', []],
  ['binance-perp_BTCUSDT_4h', []],
  ['binance-spot_BTCUSDT_1d', []],
  ['binance-spot_BTCUSDT_4h', [['note', 'gaps', 16]]],
  ['cmc-yahoo_BTCUSD_1d', []],
])(`the data report of the real bars of %s needs no acceptance${skip}`, (name, expected) => {
  const found = checkBars(read(name), NOW_MS)
  expect(found.map(({ severity, code, count }) => [severity, code, count])).toEqual(expected)
})

/** Returns that are different every day, and the equity that they make, less what it was at the start. */
const RETURNS = Array.from({ length: 200 }, (_, i) => 0.02 * Math.sin(i * i) + 0.001)
const LEVELS = RETURNS.map(
  (_, i) => RETURNS.slice(0, i + 1).reduce((equity, ret) => equity * (1 + ret), 1) - 1,
)

const inReturns = (values: readonly number[]) =>
  checkReturns({ period: 'daily', first: FROM / DAY_MS, values: Float64Array.from(values) }, NEVER).map(
    ({ code, count, from, to }) => [code, count, (to - from) / DAY_MS],
  )

test('returns since the start, or an equity, in place of the return of each day are a finding of the same days every night', () => {
  for (const count of [60, 200])
    expect(inReturns(LEVELS.slice(0, count))).toEqual([['level_returns', 60, 59]])
  expect(inReturns(LEVELS.map(level => 1 + level))).toEqual([['level_returns', 60, 59]])
  expect(inReturns(LEVELS.slice(0, 59))).toEqual([])
})

test('returns of each day, of a market, constant or none, are no level; percents in place of fractions are found as such', () => {
  expect(inReturns(RETURNS)).toEqual([])
  expect(inReturns(Array<number>(200).fill(0.001))).toEqual([])
  expect(inReturns(Array<number>(200).fill(0))).toEqual([])
  const { c } = walk(400)
  expect(inReturns([...c].slice(1).map((close, i) => close / c[i]! - 1))).toEqual([])
  expect(inReturns(RETURNS.map(ret => 100 * ret))).toEqual([['percent_returns', 200, 199]])
})
