// What a build adds to the reader's problems: it reports all of them at once, as far as a broken book can be judged.
import { expect, test } from 'vitest'
import { DAY_MS } from '#core/calendar.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import type { WindowOptions } from '#pipeline/night/data-window.ts'
import { examineBook } from '#pipeline/night/examine-book.ts'
import { casesOf } from '#test/support/cases-of.ts'
import { withFiles } from '#test/support/temporary-folder.ts'
import { problemsIn } from '../book/book-folder.ts'
import {
  aLedger,
  aModule,
  catalogue,
  csv,
  dailyBars,
  dailyFunding,
  dailyReturns,
  FIRST_DAY,
  reported,
} from './night-book.ts'

const LEDGER_HEADER = 'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,stop'

/** A trade whose exit is far above its bar, and one whose stop makes it larger than the account may be. */
const BAD_LEDGER = csv(
  LEDGER_HEADER,
  'long,2024-01-02T00:00:00Z,100,2024-01-03T00:00:00Z,999,signal,1,',
  'long,2024-01-03T00:00:00Z,101,2024-01-04T00:00:00Z,102,signal,,100.99',
)

/** Sound but for its ledger; the module would throw. */
const FILES = {
  'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 102, 103, 104]),
  'funding/BTCUSDT-PERP.csv': dailyFunding(5),
  'ledgers/beech.csv': BAD_LEDGER,
  'strategies/ash.ts': `throw new Error('never run')`,
  'returns/yew.csv': dailyReturns([0, 0, 0, 0, 0]),
  'catalogue.yaml': catalogue([aLedger('beech'), aModule('ash'), reported('yew')], {}, '24h'),
}

const FRESH: WindowOptions = { nowMs: (FIRST_DAY + 5) * DAY_MS, asOf: null, allowStale: false }
const LATER: WindowOptions = { ...FRESH, nowMs: (FIRST_DAY + 50) * DAY_MS }

const BROKEN_FUNDING = { 'funding/BTCUSDT-PERP.csv': csv('t,rate', '2024-01-01T00:00:00Z,5') }

/** The places and the first words of everything that is wrong. */
async function placesOf(changes: Readonly<Record<string, string>>, options: WindowOptions) {
  const examine = examineBook(options)
  const read = withFiles({ ...FILES, ...changes }, dir => readBook(dir, examine))
  return (await problemsIn(read)).map(problem => problem.split(' ').slice(0, 6).join(' '))
}

const STALE = 'bars/BTCUSDT-PERP/1d.csv: the newest bar ends at'
const STALE_FUNDING = 'funding/BTCUSDT-PERP.csv: the newest payment is of'
const FUNDING = 'funding/BTCUSDT-PERP.csv:2: rate: expected a fraction of'
const FILL = 'ledgers/beech.csv:2: the trade has its exit'
const SIZE = 'ledgers/beech.csv:3: the trade has its stop'

test('stale bars and stale funding alone bring the faults of the ledgers with them', async () => {
  expect(await placesOf({}, LATER)).toEqual([STALE, STALE_FUNDING, FILL, SIZE])
  expect(await placesOf(BROKEN_FUNDING, LATER)).toEqual(expect.arrayContaining([STALE, FUNDING, FILL]))
})

test('a sound and fresh book is left to its night, which audits on all threads', async () => {
  expect(await placesOf({}, FRESH)).toEqual([])
})

test('a ledger is audited up to the end of the window, as its night would', async () => {
  expect(await placesOf(BROKEN_FUNDING, { ...FRESH, asOf: FIRST_DAY })).toEqual([FUNDING])
  expect(await placesOf(BROKEN_FUNDING, { ...FRESH, asOf: FIRST_DAY + 2 })).toEqual([FUNDING, FILL])
})

test.each(casesOf<[string, Readonly<Record<string, string>>, string[]]>`
rows are broken -> ${{ 'ledgers/beech.csv': `${BAD_LEDGER}up,,,,,,,\n` }} -> ${['ledgers/beech.csv:4: side: expected long or short,', 'ledgers/beech.csv:4: entry_time: expected an ISO 8601']}
bars are broken -> ${{ 'bars/BTCUSDT-PERP/1d.csv': csv('t,o,h,l,c,v', '2024-01-01T00:00:00Z,1,1,1,1,x') }} -> ${['bars/BTCUSDT-PERP/1d.csv:2: v: expected a volume of']}`)(
  'a ledger whose %s is held against nothing',
  async (_, changes, expected) => {
    const places = await placesOf(changes, FRESH)
    expect(places).toEqual(expect.arrayContaining(expected))
    expect(places).not.toContain(FILL)
  },
)

test('what only the whole of a book shows is not said of a broken one', async () => {
  const returnsAlone = { 'catalogue.yaml': catalogue([reported('yew'), reported('elm')]) }
  const broken = { ...returnsAlone, 'returns/elm.csv': csv('t,ret', '2024-02-01,x') }
  expect(await placesOf(broken, LATER)).toEqual(['returns/elm.csv:2: ret: expected a fraction of'])
})

test('an as-of day that is not over is refused before anything is read', () => {
  expect(() => examineBook({ ...FRESH, asOf: FIRST_DAY + 5 })).toThrow('expected a day that is over')
})
