import { expect, test } from 'vitest'
import { casesOf } from '#test/support/cases-of.ts'
import { lines, problemsOf } from './book-folder.ts'

const PATH = 'ledgers/birch.csv'
const HEADER =
  'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,stop,account_return,fees,funding'
const SOUND = 'long,2020-01-01T00:00:00Z,7200,2020-01-01T04:00:00Z,7240,time,0.5,7100,0.002,0.0007,-0.0001'

/** The sound trade with some of its fields changed, as in `side=buy,stop=`. */
function changed(changes: string): string {
  const fields = new Map(changes.split(',').map(change => change.split('=') as [string, string])) // each has one
  return HEADER.split(',')
    .map((name, i) => fields.get(name) ?? SOUND.split(',')[i])
    .join()
}

test.each(casesOf`
an unknown side -> side=buy -> side: expected long or short, got "buy"
a local time -> entry_time=2020-01-01 00:00:00 -> entry_time: expected a time with Z or an offset, got "2020-01-01 00:00:00", a local time of an unknown zone; in UTC it ends in Z
an entry price of 0 -> entry_price=0 -> entry_price: expected a price above 0, got "0"
an exit price that is none -> exit_price=7 240 -> exit_price: expected a price above 0, or a blank for an open trade, got "7 240"
an unknown exit reason -> exit_reason=tp -> exit_reason: expected one of stop, signal, time, target, liquidation, or a blank for an open trade, got "tp"
a leverage of 0 -> leverage=0 -> leverage: expected a number above 0 (notional / account equity at entry), or a blank, got "0"
a negative stop -> stop=-7100 -> stop: expected a price above 0, or a blank, got "-7100"
a loss of more than the account -> account_return=-1.2 -> account_return: expected a fraction of at least -1 (0.01 = +1 % of account equity), or a blank, got "-1.2"
half an exit -> exit_price= -> expected exit_time, exit_price and exit_reason together, or all three blank for an open trade, got some of them
an exit before the entry -> exit_time=2019-12-31T20:00:00Z -> exit_time: expected a time not before entry_time 2020-01-01T00:00:00Z, got 2019-12-31T20:00:00Z
fees in percent -> fees=0.07 -> fees: expected a fraction of the notional at entry from -0.001 to 0.02 (0.0007 = 7 basis points for both fills), or a blank, got "0.07"
funding in money -> funding=-12.5 -> funding: expected a fraction of the notional at entry (0.0003 = 3 basis points received, -0.0003 = paid), or a blank, got "-12.5"
fees while it is open -> exit_time=,exit_price=,exit_reason=,account_return=,funding= -> fees: expected a blank, because the trade is still open, got 0.0007
a result while it is open -> exit_time=,exit_price=,exit_reason=,fees=,funding= -> account_return: expected a blank, because the trade is still open, got 0.002
neither leverage, stop nor result -> leverage=,stop=,account_return= -> expected at least one of leverage, stop and account_return, got none of them
a stop at the entry alone -> leverage=,stop=7200,account_return= -> stop: expected a price away from entry_price, because their distance gives the leverage, got 7200`)(
  'a row of a ledger with %s is refused with what was expected and what came',
  async (_, fields, message) => {
    expect(await problemsOf({ [PATH]: lines(HEADER, changed(fields)) })).toEqual([`${PATH}:2: ${message}`])
  },
)

test('every bad field of a row of a ledger is named', async () => {
  expect(await problemsOf({ [PATH]: lines(HEADER, changed('side=,stop=x,leverage=NaN')) })).toEqual([
    `${PATH}:2: side: expected long or short, got nothing`,
    `${PATH}:2: leverage: expected a number above 0 (notional / account equity at entry), or a blank, got "NaN"`,
    `${PATH}:2: stop: expected a price above 0, or a blank, got "x"`,
  ])
})

test('a closed trade of a ledger beside reported returns needs its account return', async () => {
  const header = 'side,entry_time,entry_price,exit_time,exit_price,exit_reason,account_return'
  const row = 'long,2020-01-01T00:00:00Z,7200,2020-01-01T04:00:00Z,7240,time,'
  expect(await problemsOf({ 'ledgers/cedar.csv': lines(header, row) })).toEqual([
    'ledgers/cedar.csv:2: account_return: expected the net return of the closed trade, got nothing',
  ])
  const without = header.replace('account_return', 'stop')
  expect(await problemsOf({ 'ledgers/cedar.csv': lines(without, row) })).toEqual([
    `ledgers/cedar.csv:1: expected the columns ${header} and any of leverage,stop,fees,funding,part, in any order, got "${without}"`,
  ])
})

const trade = (entry: string, exit: string) =>
  exit === ''
    ? `long,2020-01-${entry}T00:00:00Z,100,,,,1,,,,`
    : `long,2020-01-${entry}T00:00:00Z,100,2020-01-${exit}T00:00:00Z,100,time,1,,,,`
const rows = (...trades: readonly [string, string][]) => ({
  [PATH]: lines(HEADER, ...trades.map(([entry, exit]) => trade(entry, exit))),
})
const problem = (row: number, day: string, other: number, until: string) =>
  `${PATH}:${row}: entry_time: expected one position at a time, got an entry at 2020-01-${day}T00:00:00Z while ` +
  `the trade of row ${other} is ${until}; if that is intended, give the strategy allow_overlap: true`

test.each(casesOf<[string, [string, string][], string[]]>`
an entry while a trade is open, in whatever order the rows are -> ${[['05', '09'], ['01', '06']]} -> ${[problem(2, '05', 3, 'open until 2020-01-06T00:00:00Z')]}
two trades within a longer one, each by name -> ${[['01', '20'], ['02', '03'], ['04', '05']]} -> ${[problem(3, '02', 2, 'open until 2020-01-20T00:00:00Z'), problem(4, '04', 2, 'open until 2020-01-20T00:00:00Z')]}
a trade after one that is still open -> ${[['01', ''], ['04', '05']]} -> ${[problem(3, '04', 2, 'still open')]}`)(
  'a ledger with %s is refused',
  async (_, trades, problems) => {
    expect(await problemsOf(rows(...trades))).toEqual(problems)
  },
)

test('a ledger may have an entry at the time of the exit before it, and a trade of no duration', async () => {
  expect(await problemsOf(rows(['01', '03'], ['03', '03'], ['03', '04']))).toEqual([])
})
