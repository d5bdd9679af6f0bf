// The status of the cross-check with a charting tool follows from its export, and from nothing else.
import { expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import {
  aLedger,
  aModule,
  catalogue,
  csv,
  dailyBars,
  dailyReturns,
  FIRST_DAY,
  moduleText,
  nightOf,
  reported,
} from './night-book.ts'

const TRADES = 30

/** Closes of 100 and 103 in turn. */
const BARS = dailyBars(Array.from({ length: 3 * TRADES + 5 }, (_, day) => 100 + 3 * (day % 2)))

/** A long every third day, from one open to the next, that loses or gains 3. */
const FILLS = Array.from({ length: TRADES }, (_, i) => {
  const [enter, exit] = [3 * i + 1, 3 * i + 2]
  const openOf = (day: number) => 100 + 3 * ((day - 1) % 2)
  return { entry: day(enter), exit: day(exit), from: openOf(enter), to: openOf(exit) }
})

function day(offset: number): string {
  return toIsoDate(FIRST_DAY + offset)
}

const LEDGER = csv(
  'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage',
  ...FILLS.map(
    ({ entry, exit, from, to }) => `long,${entry}T00:00:00Z,${from},${exit}T00:00:00Z,${to},signal,1`,
  ),
)

/** The list of these trades, of a chart in UTC+8; the entries of the first `wrong` differ. */
const exported = (wrong = 0, count = TRADES): string =>
  csv(
    'Trade number,Type,Date and time,Signal,Price USDT',
    ...FILLS.slice(0, count).flatMap(({ entry, exit, from, to }, i) => [
      `${i + 1},Exit long,${exit} 08:00,out,${to}`,
      `${i + 1},Entry long,${entry} 08:00,in,${from + (i < wrong ? 1 : 0)}`,
    ]),
  )

/** Holds for a day, on every third day: the trades of the ledger. */
const oak = (version: string): string =>
  moduleText('oak', {
    body: `version: '${version}', init: () => ({}),
      onBar: (state, bar, position) => {
        if (position !== null) return { act: 'flat', why: 'signal' }
        const day = bar.t / 86_400_000 - ${FIRST_DAY}
        return day % 3 === 0 && day < ${3 * TRADES} ? { act: 'long', stop: bar.c / 2 } : null
      },`,
  })

const BOOK = {
  'bars/BTCUSDT-PERP/1d.csv': BARS,
  'ledgers/ash.csv': LEDGER,
  'returns/yew.csv': dailyReturns(Array<number>(14).fill(0)),
  'strategies/oak.ts': oak('1'),
  'catalogue.yaml': catalogue([aLedger('ash'), aModule('oak'), reported('yew')]),
}

async function statusesOf(files: Readonly<Record<string, string>>) {
  const { snapshot, notices } = await nightOf({ ...BOOK, ...files })
  const statuses = Object.fromEntries(snapshot.strategies.map(({ id, tv_status }) => [id, tv_status]))
  return { statuses, notices }
}

test('without an export it is provisional, and not applicable to reported returns', async () => {
  const none = { ash: 'provisional', oak: 'provisional', yew: 'not_applicable' }
  expect((await statusesOf({})).statuses).toEqual(none)
})

test('a ledger is confirmed by an export that matches, and has diverged from one that does not', async () => {
  const same = await statusesOf({ 'charting/ash.csv': exported() })
  expect(same.statuses.ash).toBe('confirmed')
  expect(same.notices).toContain(
    'ash: confirmed, because 30 of 30 trades match charting/ash.csv, which covers 100 % of its trades',
  )
  const other = await statusesOf({ 'charting/ash.csv': exported(1) })
  expect(other.statuses.ash).toBe('diverged')
  expect(other.notices).toContain(
    'ash: diverged, because 29 of 30 trades match charting/ash.csv, which covers 100 % of its trades; if the chart has ' +
      'daylight saving time, state its chart_zone in the catalogue',
  )
})

test('a part of the trades confirms nothing, nor does a ledger of few', async () => {
  const part = await statusesOf({ 'charting/ash.csv': exported(0, 20) })
  expect(part.statuses.ash).toBe('provisional')
  expect(part.notices).toContain(
    'ash: provisional, because 20 of 20 trades match charting/ash.csv, which covers 66.6 % of its trades, too few: ' +
      'export all of its trades',
  )
  const most = await statusesOf({ 'charting/ash.csv': exported(0, TRADES - 1) })
  expect(most.notices).toContain(
    'ash: provisional, because 29 of 29 trades match charting/ash.csv, which covers 96.6 % of its trades, too few: ' +
      'export all of its trades',
  )
  const one = await statusesOf({
    'ledgers/ash.csv': LEDGER.split('\n').slice(0, 2).join('\n').concat('\n'),
    'charting/ash.csv': exported(0, 1),
  })
  expect(one.statuses.ash).toBe('provisional')
  expect(one.notices).toContain(
    'ash: provisional, because 1 of 1 trades match charting/ash.csv, which covers 100 % of its trades; 30 trades are ' +
      'needed, or 10 that are spread over a year',
  )
})

test('a module is confirmed by an export of its version, and provisional again in a new one', async () => {
  const charting = { 'charting/oak.1.csv': exported() }
  expect((await statusesOf(charting)).statuses.oak).toBe('confirmed')
  const next = await statusesOf({ ...charting, 'strategies/oak.ts': oak('2') })
  expect(next.statuses.oak).toBe('provisional')
  expect(next.notices).toContain(
    'oak: provisional, because no export is of this version: export its trades as charting/oak.2.csv',
  )
})
