// The program in a night: on the bars that have happened, refused together with everything else.
import { expect, test } from 'vitest'
import { DAY_MS, toIsoDate } from '#core/calendar.ts'
import { simulate } from '#core/program/simulate.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeProgram } from '#pipeline/night/compute-program.ts'
import { lastDayOf, type WindowOptions } from '#pipeline/night/data-window.ts'
import { examineBook } from '#pipeline/night/examine-book.ts'
import { withFiles } from '#test/support/temporary-folder.ts'
import { problemsIn } from '../book/book-folder.ts'
import { catalogue, csv, dailyBars, dailyReturns, FIRST_DAY, reported } from './night-book.ts'

const CLOSES = [100, 101, 102, 103, 104, 105, 106, 107]

const program = (from: number, days: number): string =>
  JSON.stringify({
    alias: 'accumulation',
    instrument: 'SPOT',
    window: { from: toIsoDate(FIRST_DAY + from), to: toIsoDate(FIRST_DAY + from + days - 1) },
    contribution_cadence_bars: 1,
    costs: { fee_bps: 0, slippage_bps: 0 },
    tiers: { core: { weight: 1 } },
  })

/** Returns of eight days, and a program on bars of as many, of which two are its warm-up. */
const FILES = {
  'returns/yew.csv': dailyReturns([0, 0, 0, 0, 0, 0, 0, 0]),
  'bars/SPOT/1d.csv': dailyBars(CLOSES),
  'program.yaml': program(2, 10),
  'catalogue.yaml': catalogue([reported('yew')], { embargo_days: 3 }),
}

const FRESH: WindowOptions = { nowMs: (FIRST_DAY + 8) * DAY_MS, asOf: null, allowStale: false }

const bookOf = (changes: Readonly<Record<string, string>>, options?: WindowOptions) =>
  withFiles({ ...FILES, ...changes }, dir => readBook(dir, options && examineBook(options)))

const problemsOf = (changes: Readonly<Record<string, string>>, options = FRESH) =>
  problemsIn(bookOf(changes, options))

test('a program sees every day that is over, whatever the embargo, and its bars do not move the window', async () => {
  const book = await bookOf({}, FRESH)
  const data = computeProgram(book, FRESH)!
  expect([data.first, data.bars.c.length, data.bars_planned]).toEqual([2, 8, 10])
  expect(simulate(data, 1).deployments).toHaveLength(6)
  expect(lastDayOf(book, FRESH)).toBe(FIRST_DAY + 7 - 3)
  const longer = await bookOf({ 'bars/SPOT/1d.csv': dailyBars([...CLOSES, 108, 109]) })
  expect(lastDayOf(longer, FRESH)).toBe(FIRST_DAY + 7 - 3)
})

test('the program in a build of the past ends on its as-of day', async () => {
  const past = { ...FRESH, asOf: FIRST_DAY + 4 }
  expect([...computeProgram(await bookOf({}, past), past)!.bars.c]).toEqual([100, 101, 102, 103, 104])
})

test('a day that is not over is not in the program', async () => {
  const bars = Array.from({ length: 9 }, (_, i) => `${FIRST_DAY * DAY_MS + i * 4 * 3_600_000},1,1,1,1,1`)
  const book = await bookOf({
    'bars/SPOT/4h.csv': csv('t,o,h,l,c,v', ...bars),
    'program.yaml': program(0, 10).replace('"window"', '"timeframe":"4h","window"'),
  })
  expect(computeProgram(book, FRESH)?.bars.c).toHaveLength(6)
})

const SPOT = 'bars/SPOT/1d.csv: accumulation: '

test('a day that is missing in what has happened of the window of a program is named', async () => {
  const gap = dailyBars(CLOSES).replace(/2024-01-05T.*\n/, '')
  expect(await problemsOf({ 'bars/SPOT/1d.csv': gap })).toEqual([
    expect.stringContaining(`${SPOT}the bar at 2024-01-05T00:00:00Z is missing`),
  ])
})

test('the bars of a program go stale as long as its window lasts, and no longer', async () => {
  const later = { ...FRESH, nowMs: (FIRST_DAY + 30) * DAY_MS }
  const returns = dailyReturns(Array.from({ length: 30 }, () => 0))
  expect(await problemsOf({ 'returns/yew.csv': returns }, later)).toEqual([
    expect.stringContaining(
      'bars/SPOT/1d.csv: the newest bar ends at 2024-01-09T00:00:00Z, more than 36 hours ago',
    ),
  ])
  expect(await problemsOf({ 'returns/yew.csv': returns, 'program.yaml': program(2, 6) }, later)).toEqual([])
})
