import { expect, test } from 'vitest'
import { DAY_MS, parseIsoDate, toIsoDate } from '#core/calendar.ts'
import type { Bars } from '#core/replay/bars.ts'
import { BookError } from '#pipeline/book/problem.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import {
  assertOver,
  cutBars,
  lastCompleteDay,
  lastDayOf,
  type WindowOptions,
  windowProblems,
} from '#pipeline/night/data-window.ts'
import { withFiles } from '#test/support/temporary-folder.ts'
import { problemsIn } from '../book/book-folder.ts'
import {
  aModule,
  catalogue,
  dailyBars,
  dailyFunding,
  dailyReturns,
  FIRST_DAY,
  moduleText,
  reported,
} from './night-book.ts'

const HOUR_MS = 3_600_000

/** The instant at which the bars of so many days from `FIRST_DAY` on end. */
const endOf = (days: number): number => (FIRST_DAY + days) * DAY_MS

const closes = (days: number): number[] => Array.from({ length: days }, (_, i) => 100 + i)

/** Two instruments, the first with 10 days of bars, the second with 8. */
const TWO_MARKETS = {
  'bars/BTCUSDT-PERP/1d.csv': dailyBars(closes(10)),
  'bars/ETHUSDT-PERP/1d.csv': dailyBars(closes(8)),
  'strategies/oak.ts': moduleText('oak'),
  'strategies/elm.ts': moduleText('elm'),
}
const RETURNS = {
  'returns/yew.csv': dailyReturns([0.01, 0.02]),
  'returns/ash.csv': dailyReturns([0.01, 0.02, 0.03]),
  'catalogue.yaml': catalogue([reported('yew'), reported('ash')]),
}
const oak = aModule('oak')
const elm = { ...aModule('elm'), instrument: 'ETHUSDT-PERP' }
const OF_ONE = { ...TWO_MARKETS, 'catalogue.yaml': catalogue([oak]) }
const OF_BOTH = { ...TWO_MARKETS, 'catalogue.yaml': catalogue([oak, elm]) }

/** The last public day of a book, as a date. */
async function windowEnd(files: Readonly<Record<string, string>>, options: Partial<WindowOptions> = {}) {
  const asked = { nowMs: endOf(10), asOf: null, allowStale: false, ...options }
  const book = await withFiles(files, readBook)
  assertOver(asked)
  const problems = windowProblems(book, asked)
  if (problems.length > 0) throw new BookError(book.dir, problems)
  return toIsoDate(lastDayOf(book, asked))
}

/** The problems with which a window is refused. */
const refused = (...asked: Parameters<typeof windowEnd>) => problemsIn(windowEnd(...asked))

test('the public window ends with the last day that is complete in every instrument that a strategy needs', async () => {
  expect(await windowEnd(OF_ONE)).toBe('2024-01-10')
  expect(await windowEnd(OF_BOTH, { nowMs: endOf(8) })).toBe('2024-01-08')
})

test('the public window ends with --as-of where that is earlier, and never after the data', async () => {
  expect(await windowEnd(OF_ONE, { asOf: parseIsoDate('2024-01-05') })).toBe('2024-01-05')
  expect(await windowEnd(OF_ONE, { asOf: FIRST_DAY + 10, nowMs: endOf(11) })).toBe('2024-01-10')
})

test('the public window ends so many days earlier as the embargo has', async () => {
  const book = { ...TWO_MARKETS, 'catalogue.yaml': catalogue([oak], { embargo_days: 3 }) }
  expect(await windowEnd(book)).toBe('2024-01-07')
  expect(await windowEnd(book, { asOf: parseIsoDate('2024-01-05') })).toBe('2024-01-02')
})

test('the public window of a book of returns alone ends with the latest day that any reports, which may be over for 36 hours', async () => {
  expect(await windowEnd(RETURNS, { nowMs: endOf(3) + 36 * HOUR_MS })).toBe('2024-01-03')
  expect(await refused(RETURNS, { nowMs: endOf(3) + 36 * HOUR_MS + 1 })).toEqual([
    'returns/ash.csv: the newest reported day ends at 2024-01-04T00:00:00Z, more than 36 hours ago: bring newer ' +
      'returns, or build the past with --as-of DATE, or accept them with --allow-stale',
  ])
  expect(await windowEnd(RETURNS, { nowMs: endOf(99), allowStale: true })).toBe('2024-01-03')
  expect(await windowEnd(RETURNS, { nowMs: endOf(99), asOf: FIRST_DAY + 3 })).toBe('2024-01-03')
})

test('the public window of the past is refused where the data end more than 36 hours before it does', async () => {
  const past = { nowMs: endOf(99), asOf: FIRST_DAY + 11 }
  expect(await refused(OF_ONE, past)).toEqual([
    'bars/BTCUSDT-PERP/1d.csv: the newest bar ends at 2024-01-11T00:00:00Z, more than 36 hours before the end of ' +
      '2024-01-12: bring newer bars, or give an earlier --as-of, or accept them with --allow-stale',
  ])
  expect(await windowEnd(OF_ONE, { ...past, allowStale: true })).toBe('2024-01-10')
  expect(await refused(RETURNS, { nowMs: endOf(99), asOf: FIRST_DAY + 4 })).toHaveLength(1)
})

test('the public window of a day that is not over is refused, whatever else was allowed', async () => {
  const sentence =
    '--as-of: expected a day that is over, got 2024-01-11 while it is 2024-01-11T23:59:59Z: ' +
    'give 2024-01-10 or a day before it'
  for (const allowStale of [false, true]) {
    const early = windowEnd(OF_ONE, { asOf: FIRST_DAY + 10, nowMs: endOf(11) - 1000, allowStale })
    await expect(early).rejects.toThrow(sentence)
  }
})

test('the public window that ends before an inception is refused at the inception', async () => {
  const late = { ...oak, inception: '2024-01-06' }
  const book = { ...TWO_MARKETS, 'catalogue.yaml': catalogue([late]) }
  expect(await refused(book, { asOf: FIRST_DAY + 4 })).toEqual([
    expect.stringMatching(
      /^catalogue\.yaml:1:\d+: oak: its series begins on 2024-01-06, after the last public day 2024-01-05/,
    ),
  ])
  expect(await windowEnd(book, { asOf: FIRST_DAY + 5 })).toBe('2024-01-06')
})

test('the public window is refused where bars are older than 36 hours, naming each file and both ways out', async () => {
  expect(await refused(OF_BOTH, { nowMs: endOf(12) })).toEqual([
    'bars/BTCUSDT-PERP/1d.csv: the newest bar ends at 2024-01-11T00:00:00Z, more than 36 hours ago: bring newer ' +
      'bars, or build the past with --as-of DATE, or accept them with --allow-stale',
    expect.stringMatching(/^bars\/ETHUSDT-PERP\/1d\.csv: the newest bar ends at 2024-01-09T00:00:00Z/),
  ])
})

test('the public window accepts bars of exactly 36 hours, and older ones where that was allowed or the past is built', async () => {
  expect(await windowEnd(OF_ONE, { nowMs: endOf(10) + 36 * HOUR_MS })).toBe('2024-01-10')
  expect(await refused(OF_ONE, { nowMs: endOf(10) + 36 * HOUR_MS + 1 })).toHaveLength(1)
  expect(await windowEnd(OF_ONE, { nowMs: endOf(99), allowStale: true })).toBe('2024-01-10')
  expect(await windowEnd(OF_ONE, { nowMs: endOf(99), asOf: parseIsoDate('2024-01-10') })).toBe('2024-01-10')
})

test('the public window that ends before the bars begin is refused, naming the file', async () => {
  expect(await refused(OF_ONE, { asOf: parseIsoDate('2023-12-31') })).toEqual([
    expect.stringMatching(
      /^bars\/BTCUSDT-PERP\/1d\.csv: the bars begin at 2024-01-01T00:00:00Z and cover no whole day up to .* 2023-12-31/,
    ),
  ])
})

const FUNDING = 'funding/BTCUSDT-PERP.csv'
const book = (days: number) => ({
  ...TWO_MARKETS,
  [FUNDING]: dailyFunding(days),
  'catalogue.yaml': catalogue([oak], {}, '24h'),
})

test('the public window ends with the last day whose payments of funding are all there', async () => {
  expect(await windowEnd(book(10))).toBe('2024-01-10')
  expect(await windowEnd(book(9))).toBe('2024-01-09')
  expect(await windowEnd(book(12), { nowMs: endOf(12), allowStale: true })).toBe('2024-01-10')
})

test('a feed of funding that is cut off more than 36 hours ago is refused, naming both ways out', async () => {
  expect(await refused(book(8), { nowMs: endOf(10) })).toEqual([
    `${FUNDING}: the newest payment is of 2024-01-08T00:00:00Z, and the next one was due at 2024-01-09T00:00:00Z, ` +
      'more than 36 hours ago: bring newer funding, or build the past with --as-of DATE, or accept them with ' +
      '--allow-stale',
  ])
  expect(await windowEnd(book(8), { nowMs: endOf(10), allowStale: true })).toBe('2024-01-08')
  expect(await windowEnd(book(8), { nowMs: endOf(10), asOf: FIRST_DAY + 7 })).toBe('2024-01-08')
})

test('payments of an instrument that nobody trades, or a feed that is a little late, do not end the public window', async () => {
  expect(await windowEnd({ ...book(10), 'funding/ETHUSDT-PERP.csv': dailyFunding(1) })).toBe('2024-01-10')
  const early = dailyFunding(10)
    .replaceAll('T00:00:00Z', 'T00:00:00.004Z')
    .replace('10T00:00:00.004Z', '10T00:00:00Z')
  expect(await windowEnd({ ...book(10), [FUNDING]: early })).toBe('2024-01-10')
})

const fourHours = (count: number): Bars => {
  const column = new Float64Array(count).fill(100)
  const t = Float64Array.from({ length: count }, (_, i) => FIRST_DAY * DAY_MS + i * 4 * HOUR_MS)
  return { timeframeMs: 4 * HOUR_MS, t, o: column, h: column, l: column, c: column, v: column }
}

test.each([
  [6, FIRST_DAY],
  [11, FIRST_DAY],
  [12, FIRST_DAY + 1],
  [13, FIRST_DAY + 1],
])('a day is complete only with its last bar: %i bars of four hours', (count, last) => {
  expect(lastCompleteDay(fourHours(count))).toBe(last)
})

test('bars that close after the last public day are cut off, without a copy', () => {
  const bars = fourHours(14)
  const cut = cutBars(bars, FIRST_DAY + 1)
  expect(cut.t.length).toBe(12)
  for (const column of ['t', 'o', 'h', 'l', 'c', 'v'] as const) {
    expect(cut[column]).toHaveLength(12)
    expect(cut[column].buffer).toBe(bars[column].buffer)
  }
  expect(cutBars(bars, FIRST_DAY + 99).t).toHaveLength(14)
})
