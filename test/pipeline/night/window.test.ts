import { expect, test } from 'vitest'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
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
import { casesOf } from '#test/support/cases-of.ts'
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

const EMBARGO = { ...TWO_MARKETS, 'catalogue.yaml': catalogue([oak], { embargo_days: 3 }) }
const LATE = { ...TWO_MARKETS, 'catalogue.yaml': catalogue([{ ...oak, inception: '2024-01-06' }]) }
const FUNDING = 'funding/BTCUSDT-PERP.csv'
const funded = (days: number) => ({
  ...TWO_MARKETS,
  [FUNDING]: dailyFunding(days),
  'catalogue.yaml': catalogue([oak], {}, '24h'),
})
const EARLY = dailyFunding(10)
  .replaceAll('T00:00:00Z', 'T00:00:00.004Z')
  .replace('10T00:00:00.004Z', '10T00:00:00Z')
const OLD = { nowMs: endOf(99) }
const STALE = { ...OLD, allowStale: true }
const HOURS_36 = 36 * HOUR_MS

type Files = Readonly<Record<string, string>>

test.each(casesOf<[string, Files, Partial<WindowOptions>, string]>`
with the last day of the bars -> ${OF_ONE} -> ${{}} -> 2024-01-10
with the last day that is complete in every instrument that a strategy needs -> ${OF_BOTH} -> ${{ nowMs: endOf(8) }} -> 2024-01-08
with --as-of where that is earlier -> ${OF_ONE} -> ${{ asOf: FIRST_DAY + 4 }} -> 2024-01-05
with the data where --as-of is later -> ${OF_ONE} -> ${{ asOf: FIRST_DAY + 10, nowMs: endOf(11) }} -> 2024-01-10
so many days before the data as the embargo has -> ${EMBARGO} -> ${{}} -> 2024-01-07
so many days before --as-of as the embargo has -> ${EMBARGO} -> ${{ asOf: FIRST_DAY + 4 }} -> 2024-01-02
with the latest day that any returns report, 36 hours after it -> ${RETURNS} -> ${{ nowMs: endOf(3) + HOURS_36 }} -> 2024-01-03
with older returns where that was allowed -> ${RETURNS} -> ${STALE} -> 2024-01-03
with older returns where the past is built -> ${RETURNS} -> ${{ ...OLD, asOf: FIRST_DAY + 3 }} -> 2024-01-03
with bars of exactly 36 hours -> ${OF_ONE} -> ${{ nowMs: endOf(10) + HOURS_36 }} -> 2024-01-10
with older bars where that was allowed -> ${OF_ONE} -> ${STALE} -> 2024-01-10
with older bars where the past is built -> ${OF_ONE} -> ${{ ...OLD, asOf: FIRST_DAY + 9 }} -> 2024-01-10
before --as-of where the bars end long before and that was allowed -> ${OF_ONE} -> ${{ ...STALE, asOf: FIRST_DAY + 11 }} -> 2024-01-10
on the day of an inception -> ${LATE} -> ${{ asOf: FIRST_DAY + 5 }} -> 2024-01-06
with the bars where funding is as long -> ${funded(10)} -> ${{}} -> 2024-01-10
with the bars where funding is longer -> ${funded(12)} -> ${{ nowMs: endOf(12), allowStale: true }} -> 2024-01-10
with the last day whose payments of funding are all there -> ${funded(9)} -> ${{}} -> 2024-01-09
with funding that was cut off long ago where that was allowed -> ${funded(8)} -> ${{ allowStale: true }} -> 2024-01-08
with funding that was cut off long ago where the past is built -> ${funded(8)} -> ${{ asOf: FIRST_DAY + 7 }} -> 2024-01-08
with the bars where the funding of an instrument that nobody trades is short -> ${{ ...funded(10), 'funding/ETHUSDT-PERP.csv': dailyFunding(1) }} -> ${{}} -> 2024-01-10
with the bars where a feed of funding is a little late -> ${{ ...funded(10), [FUNDING]: EARLY }} -> ${{}} -> 2024-01-10`)(
  'the public window ends %s',
  async (_, files, options, last) => {
    expect(await windowEnd(files, options)).toBe(last)
  },
)

const WAYS_OUT = ', or build the past with --as-of DATE, or accept them with --allow-stale'
const ENDS = 'bars/BTCUSDT-PERP/1d.csv: the newest bar ends at 2024-01-11T00:00:00Z, more than 36 hours'
const OLD_BARS = `${ENDS} ago: bring newer bars${WAYS_OUT}`

test.each(casesOf<[string, Files, Partial<WindowOptions>, (string | RegExp)[]]>`
where bars are older than 36 hours -> ${OF_ONE} -> ${{ nowMs: endOf(10) + HOURS_36 + 1 }} -> ${[OLD_BARS]}
where bars of two instruments are -> ${OF_BOTH} -> ${{ nowMs: endOf(12) }} -> ${[OLD_BARS, /^bars\/ETHUSDT-PERP\/1d\.csv: the newest bar ends at 2024-01-09T00:00:00Z/]}
where returns are -> ${RETURNS} -> ${{ nowMs: endOf(3) + HOURS_36 + 1 }} -> ${[`returns/ash.csv: the newest reported day ends at 2024-01-04T00:00:00Z, more than 36 hours ago: bring newer returns${WAYS_OUT}`]}
where funding is -> ${funded(8)} -> ${{}} -> ${[`${FUNDING}: the newest payment is of 2024-01-08T00:00:00Z, and the next one was due at 2024-01-09T00:00:00Z, more than 36 hours ago: bring newer funding${WAYS_OUT}`]}
where the past ends more than 36 hours after the bars -> ${OF_ONE} -> ${{ ...OLD, asOf: FIRST_DAY + 11 }} -> ${[`${ENDS} before the end of 2024-01-12: bring newer bars, or give an earlier --as-of, or accept them with --allow-stale`]}
where the past ends more than 36 hours after the returns -> ${RETURNS} -> ${{ ...OLD, asOf: FIRST_DAY + 4 }} -> ${[/^returns\/ash\.csv: .* before the end of 2024-01-05: /]}
where it ends before the bars begin -> ${OF_ONE} -> ${{ asOf: FIRST_DAY - 1 }} -> ${[/^bars\/BTCUSDT-PERP\/1d\.csv: the bars begin at 2024-01-01T00:00:00Z and cover no whole day up to .* 2023-12-31/]}
where it ends before an inception -> ${LATE} -> ${{ asOf: FIRST_DAY + 4 }} -> ${[/^catalogue\.yaml:1:\d+: oak: its series begins on 2024-01-06, after the last public day 2024-01-05/]}`)(
  'the public window is refused by the name of each file and with the ways out %s',
  async (_, files, options, refusals) => {
    const expected = refusals.map(each => (typeof each === 'string' ? each : expect.stringMatching(each)))
    expect(await problemsIn(windowEnd(files, options))).toEqual(expected)
  },
)

test('the public window of a day that is not over is refused, whatever else was allowed', async () => {
  const sentence =
    '--as-of: expected a day that is over, got 2024-01-11 while it is 2024-01-11T23:59:59Z: ' +
    'give 2024-01-10 or a day before it'
  for (const allowStale of [false, true]) {
    const early = windowEnd(OF_ONE, { asOf: FIRST_DAY + 10, nowMs: endOf(11) - 1000, allowStale })
    await expect(early).rejects.toThrow(sentence)
  }
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
