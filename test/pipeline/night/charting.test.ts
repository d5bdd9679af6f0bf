// The status of the cross-check with a charting tool follows from its export, and from nothing else.
import { beforeAll, expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import type { ComputedStrategy } from '#pipeline/night/compute-strategy.ts'
import { casesOf } from '#test/support/cases-of.ts'
import {
  bookOf,
  csv,
  dailyBars,
  dailyReturns,
  FIRST_DAY,
  ledgerOf,
  moduleOf,
  nightOf,
  returnsOf,
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
const oneDay = (id: string, version: string) =>
  moduleOf(id, {
    body: `version: '${version}', init: () => ({}),
      onBar: (state, bar, position) => {
        if (position !== null) return { act: 'flat', why: 'signal' }
        const day = bar.t / 86_400_000 - ${FIRST_DAY}
        return day % 3 === 0 && day < ${3 * TRADES} ? { act: 'long', stop: bar.c / 2 } : null
      },`,
  })

/** The exports beside ledgers of the same trades. */
const EXPORTS = {
  same: exported(),
  other: exported(1),
  part: exported(0, 20),
  most: exported(0, TRADES - 1),
  few: exported(0, 1),
}

let statuses: ReadonlyMap<string, ComputedStrategy['data']['tv_status']>
let notices: readonly string[]

beforeAll(async () => {
  const few = LEDGER.split('\n').slice(0, 2).join('\n').concat('\n')
  const ids = [...Object.keys(EXPORTS), 'without']
  const night = await nightOf({
    ...bookOf(BARS, [
      ...ids.map(id => ledgerOf(id, id === 'few' ? few : LEDGER)),
      oneDay('oak', '1'),
      oneDay('elm', '2'),
      oneDay('fir', '1'),
      returnsOf('yew', dailyReturns(Array<number>(14).fill(0))),
    ]),
    ...Object.fromEntries(Object.entries(EXPORTS).map(([id, text]) => [`charting/${id}.csv`, text])),
    'charting/oak.1.csv': exported(),
    'charting/elm.1.csv': exported(),
  })
  statuses = new Map(night.snapshot.strategies.map(({ id, tv_status }) => [id, tv_status]))
  notices = night.notices
})

const TOO_FEW = 'of its trades, too few: export all of its trades'
const WHOLE = 'which covers 100 % of its trades'

test.each(casesOf<[string, string, string, string | null]>`
a ledger without an export -> provisional -> without -> ${null}
a module without an export -> provisional -> fir -> ${null}
reported returns -> not_applicable -> yew -> ${null}
a ledger with an export that matches -> confirmed -> same -> 30 of 30 trades match charting/same.csv, ${WHOLE}
a ledger with an export that does not -> diverged -> other -> 29 of 30 trades match charting/other.csv, ${WHOLE}; if the chart has daylight saving time, state its chart_zone in the catalogue
a ledger with an export of a part of its trades -> provisional -> part -> 20 of 20 trades match charting/part.csv, which covers 66.6 % ${TOO_FEW}
a ledger with an export of all but one -> provisional -> most -> 29 of 29 trades match charting/most.csv, which covers 96.6 % ${TOO_FEW}
a ledger of few trades -> provisional -> few -> 1 of 1 trades match charting/few.csv, ${WHOLE}; 30 trades are needed, or 10 that are spread over a year
a module with an export of its version -> confirmed -> oak -> ${null}
a module with an export of an earlier version -> provisional -> elm -> no export is of this version: export its trades as charting/elm.2.csv`)(
  'the cross-check of %s is %s, and a notice says why',
  (_, status, id, why) => {
    expect(statuses.get(id)).toBe(status)
    if (why !== null) expect(notices).toContain(`${id}: ${status}, because ${why}`)
  },
)
