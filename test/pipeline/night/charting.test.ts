// The status of the cross-check with a charting tool follows from its export, and from nothing else.
import { expect, test } from 'vitest'
import {
  aLedger,
  aModule,
  catalogue,
  csv,
  dailyBars,
  dailyReturns,
  moduleText,
  nightOf,
  ONE_TRADE,
  reported,
} from './night-book.ts'

const BARS = dailyBars([100, 100, 99, 98, 97, 99, 103, 103, 106, 104, 101, 99, 98, 100])

/** The list of the trades in `ONE_TRADE`, on a chart in UTC+8. */
const exported = (price: number): string =>
  csv(
    'Trade number,Type,Date and time,Signal,Price USDT',
    '1,Exit long,2024-01-08 08:00,out,103',
    `1,Entry long,2024-01-02 08:00,in,${price}`,
  )

const BOOK = {
  'bars/BTCUSDT-PERP/1d.csv': BARS,
  'ledgers/ash.csv': ONE_TRADE,
  'returns/yew.csv': dailyReturns(Array<number>(14).fill(0)),
  'strategies/oak.ts': moduleText('oak'),
  'catalogue.yaml': catalogue([aLedger('ash'), aModule('oak'), reported('yew')]),
}

async function statusesOf(files: Readonly<Record<string, string>>) {
  const { snapshot, notices } = await nightOf({ ...BOOK, ...files })
  const statuses = Object.fromEntries(snapshot.strategies.map(({ id, tv_status }) => [id, tv_status]))
  return { statuses, notices }
}

test('without an export it is provisional, and not applicable to reported returns', async () => {
  const none = { ash: 'provisional', oak: 'provisional', yew: 'not_applicable' }
  expect(await statusesOf({})).toEqual({ statuses: none, notices: [] })
})

test('a ledger is confirmed by an export that matches, and has diverged from one that does not', async () => {
  const same = await statusesOf({ 'charting/ash.csv': exported(100) })
  expect(same.statuses.ash).toBe('confirmed')
  expect(same.notices).toEqual(['ash: confirmed, because 1 of 1 trades match charting/ash.csv'])
  const other = await statusesOf({ 'charting/ash.csv': exported(101) })
  expect(other.statuses.ash).toBe('diverged')
})

test('a module is confirmed by an export of its version, and provisional again in a new one', async () => {
  const charting = { 'charting/oak.1.csv': exported(100) }
  expect((await statusesOf(charting)).statuses.oak).toBe('confirmed')
  const next = await statusesOf({
    ...charting,
    'strategies/oak.ts': moduleText('oak', { body: "version: '2'," }),
  })
  expect(next.statuses.oak).toBe('provisional')
  expect(next.notices).toEqual([
    'oak: provisional, because no export is of this version: export its trades as charting/oak.2.csv',
  ])
})
