import { expect, test } from 'vitest'
import { instantsOf, isZone } from '#core/replay/chart-zone.ts'
import { type ChartTrade, compareCharting } from '#core/replay/compare-charting.ts'
import type { Trade } from '#core/replay/trade.ts'
import { HOUR_MS, slot, TIMEFRAME_MS, trade } from './hand.ts'

const COUNT = 200
const RULES = { timeframeMs: TIMEFRAME_MS, tolerance: 0.1, endMs: slot(2 * COUNT), zone: null }

/** A trade of one slot every so many, sides in turn, prices that tell the trades apart. */
const every = (slots: number, count: number): Trade[] =>
  Array.from({ length: count }, (_, i) =>
    trade({
      side: i % 2 === 0 ? 'long' : 'short',
      entry_time: slot(slots * i),
      entry_price: 100 + i,
      exit_time: slot(slots * i + 1),
      exit_price: 101 + i,
    }),
  )
const LEDGER = every(2, COUNT)

/** What a chart in a zone so many hours east of UTC lists of them. */
const charted = (hours = 0, trades: readonly Trade[] = LEDGER): ChartTrade[] =>
  trades.map(({ side, entry_time, entry_price, exit_time, exit_price }) => ({
    side,
    entry: { t: entry_time + hours * HOUR_MS, price: entry_price },
    exit: exit_time === null ? null : { t: exit_time + hours * HOUR_MS, price: exit_price! },
  }))

const endOf = (trades: readonly ChartTrade[]): number =>
  Math.max(...trades.flatMap(({ entry, exit }) => [entry.t, exit?.t ?? entry.t]))

const compare = (trades: readonly ChartTrade[], ledger: readonly Trade[] = LEDGER, rules = {}) =>
  compareCharting(ledger, { trades, end: endOf(trades) }, { ...RULES, ...rules })

const confirmed = (matched: number) => ({
  ...{ status: 'confirmed', matched, compared: matched, share: 1, lacks: null },
})

test.each([0, 8, -5, 5.75, 14, -12])('the zone of a chart is found %s hours from UTC', hours => {
  expect(compare(charted(hours))).toEqual(confirmed(COUNT))
})

const YEAR = every(30, 73)
// New York is 4 hours behind UTC from 2020-03-08 to 2020-11-01, and 5 hours before and after.
const isSummer = (ms: number) => ms >= Date.UTC(2020, 2, 8, 7) && ms < Date.UTC(2020, 10, 1, 6)
const inNewYork = ({ t, price }: ChartTrade['entry']) => ({ t: t - (isSummer(t) ? 4 : 5) * HOUR_MS, price })
const shown = charted(0, YEAR).map(({ side, entry, exit }) => ({
  side,
  entry: inNewYork(entry),
  exit: exit && inNewYork(exit),
}))
const rules = { timeframeMs: HOUR_MS, endMs: slot(30 * 73) }

test('the zone of a chart with daylight saving is taken from the catalogue, and not found: a constant offset matches a part', () => {
  expect(compare(shown, YEAR, { ...rules, zone: 'America/New_York' })).toEqual(confirmed(73))
  expect(compare(shown, YEAR, rules)).toMatchObject({ status: 'diverged', matched: 48, compared: 73 })
  const elsewhere = { ...rules, zone: 'Europe/London' }
  expect(compare(shown, YEAR, elsewhere)).toMatchObject({ status: 'diverged', matched: 0 })
})

test('a chart confirms a ledger if 99 % of the trades match in side, bars and prices of entry and exit', () => {
  const wrong = (count: number, change: (each: ChartTrade) => ChartTrade) =>
    compare(charted(8).map((each, i) => (i > 0 && i <= count ? change(each) : each)))
  const later = (fill: ChartTrade['entry']) => ({ ...fill, t: fill.t + TIMEFRAME_MS })
  const dearer = (fill: ChartTrade['entry']) => ({ ...fill, price: fill.price + 0.2 })
  const changes = [
    (each: ChartTrade) => ({ ...each, side: each.side === 'long' ? ('short' as const) : ('long' as const) }),
    (each: ChartTrade) => ({ ...each, entry: later(each.entry) }),
    (each: ChartTrade) => ({ ...each, entry: dearer(each.entry) }),
    (each: ChartTrade) => ({ ...each, exit: each.exit && later(each.exit) }),
    (each: ChartTrade) => ({ ...each, exit: each.exit && dearer(each.exit) }),
    (each: ChartTrade) => ({ ...each, exit: null }),
  ]
  for (const change of changes) {
    expect(wrong(2, change)).toMatchObject({ status: 'confirmed', matched: COUNT - 2, compared: COUNT })
    expect(wrong(3, change)).toMatchObject({ status: 'diverged', matched: COUNT - 3, compared: COUNT })
  }
})

const without = <Item>(items: readonly Item[]): Item[] => items.filter((_, i) => i % 20 !== 10)
const near = ({ t, price }: ChartTrade['entry']) => ({ t: t + HOUR_MS, price: price + 0.09 })
const ALL = charted()
const PARTS = LEDGER.flatMap(each => [each, each])
const STILL_OPEN = ALL.with(-1, { ...ALL.at(-1)!, exit: null })
const NEAR = ALL.map(each => ({ ...each, entry: near(each.entry), exit: near(each.exit!) }))
const DEARER = ALL.map(each => ({ ...each, entry: { ...each.entry, price: each.entry.price * 2 } }))
const diverged = (matched: number) => ({ status: 'diverged', matched, compared: COUNT })
const most = (share: number) => ({ status: 'confirmed', matched: 200 * share, share })
const lacking = (lacks: string, more = {}) => ({ status: 'provisional', lacks, ...more })

/** A ledger, of whose trades the chart has all but the first few. */
const few = (slots: number, count: number, dropped = 0) =>
  [every(slots, count), charted(0, every(slots, count).slice(dropped)), { endMs: slot(9999) }] as const

test.each<[string, readonly Trade[], readonly ChartTrade[], object]>([
  ['with prices within the tolerance, and times anywhere in their bars', LEDGER, NEAR, confirmed(COUNT)],
  ['with a trade that is open in the export and ends later', LEDGER, STILL_OPEN, confirmed(COUNT)],
  ['with the parts of positions, one part each', PARTS, charted(0, PARTS), confirmed(2 * COUNT)],
  ['with trades that only the ledger has', LEDGER, without(ALL), diverged(COUNT - 10)],
  ['with trades that only the chart has', without(LEDGER), ALL, diverged(COUNT - 10)],
  ['with each trade twice in the chart', LEDGER, ALL.flatMap(each => [each, each]), { status: 'diverged' }],
  ['of another strategy', LEDGER, DEARER, { status: 'diverged' }],
  ['without the last 5 % of the trades', LEDGER, ALL.slice(0, 190), most(0.95)],
  ['without the first 5 % of the trades', LEDGER, ALL.slice(10), most(0.95)],
  ['without a trade more at the end', LEDGER, ALL.slice(0, 189), lacking('coverage', { matched: 189 })],
  ['without a trade more at the start', LEDGER, ALL.slice(11), lacking('coverage', { share: 0.945 })],
  ['that begins before the ledger', LEDGER.slice(50), ALL, confirmed(150)],
  ['without a trade in the ledger', [], ALL, { status: 'provisional' }],
])('a chart is compared with a ledger %s', (_, ledger, trades, expected) => {
  expect(compare(trades, ledger)).toMatchObject(expected)
})

test.each([
  ['30 trades', few(2, 30), confirmed(30)],
  ['29 trades', few(2, 29), lacking('trades', { matched: 29 })],
  ['10 trades over a year', few(244, 10), confirmed(10)],
  ['10 trades in less than a year', few(243, 10), lacking('trades')],
  ['9 trades over a year', few(300, 9), lacking('trades')],
  ['29 trades over a year, of which 28 are compared', few(244, 29, 1), lacking('coverage')],
  ['30 trades, of which 29 are compared', few(2, 30, 1), lacking('coverage')],
  ['1 trade', few(1, 1), lacking('trades', { matched: 1 })],
])(
  'a ledger of few trades is confirmed by 30, or by 10 over a year, if all are compared: %s',
  (_, asked, expected) => {
    const [ledger, trades, rules] = asked
    expect(compare(trades, ledger, rules)).toMatchObject(expected)
  },
)

test('an export that is newer than the bars is compared up to their end, at which its trades are open', () => {
  const [ledger, end] = [LEDGER.slice(0, 120), slot(239)]
  const open = [...ledger.slice(0, -1), { ...ledger.at(-1)!, exit_time: null, exit_price: null }]
  const chart = { trades: charted(8), end: slot(2 * COUNT) }
  expect(compareCharting(open, chart, { ...RULES, endMs: end })).toEqual(confirmed(120))
  expect(compareCharting(open, chart, RULES).status).toBe('diverged')
})

test('an export of a chart without trades says nothing', () => {
  const nothing = { trades: [], end: Number.NEGATIVE_INFINITY }
  const unknown = { status: 'provisional', matched: 0, compared: 0, share: 0, lacks: 'coverage' }
  expect(compareCharting(LEDGER, nothing, RULES)).toEqual(unknown)
})

const instantOf = (zone: string, shown: string): string =>
  new Date(instantsOf(zone)(Date.parse(`${shown}Z`))).toISOString().slice(0, 16)

test.each([
  ['Etc/UTC', '2026-03-08T02:30', '2026-03-08T02:30'],
  ['America/New_York', '2026-01-15T08:00', '2026-01-15T13:00'],
  ['America/New_York', '2026-07-15T08:00', '2026-07-15T12:00'],
  ['America/New_York', '2026-03-08T01:59', '2026-03-08T06:59'],
  ['America/New_York', '2026-03-08T03:00', '2026-03-08T07:00'],
  ['America/New_York', '2026-11-01T00:59', '2026-11-01T04:59'],
  ['America/New_York', '2026-11-01T02:00', '2026-11-01T07:00'],
  ['Australia/Lord_Howe', '2026-01-15T08:00', '2026-01-14T21:00'],
  ['Australia/Lord_Howe', '2026-07-15T08:00', '2026-07-14T21:30'],
  ['Asia/Kathmandu', '2026-07-15T05:45', '2026-07-15T00:00'],
])('a chart in %s that shows %s shows the instant %s', (zone, shown, instant) => {
  expect(instantOf(zone, shown)).toBe(instant)
})

test('a time that the clock shows twice is the first, and one that it skips is read by the old clock', () => {
  expect(instantOf('America/New_York', '2026-11-01T01:30')).toBe('2026-11-01T05:30')
  expect(instantOf('America/New_York', '2026-03-08T02:30')).toBe('2026-03-08T07:30')
})

test('a zone is known by its name in the IANA database', () => {
  expect(['Europe/London', 'UTC', 'New York', ''].map(isZone)).toEqual([true, true, false, false])
})
