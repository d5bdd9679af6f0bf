import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { BookCheck } from '#pipeline/night/check-book.ts'
import {
  aLedger,
  aModule,
  catalogue,
  csv,
  dailyBars,
  moduleText,
  reported,
} from '#test/pipeline/night/night-book.ts'
import { BOOK, type Files, openBook } from './own-book.ts'

const SOUND = {
  ...BOOK,
  'catalogue.yaml': catalogue([aLedger('ash'), aModule('oak'), reported('yew')], {}, '24h'),
  'returns/yew.csv': csv('t,ret', '2024-01-14,-0.01'),
  // Its first long is closed on the ninth day, and the second is open.
  'strategies/oak.ts': moduleText('oak', {
    body: `onBar: (state, bar, position) =>
      position === null ? { act: 'long', stop: bar.c / 2 } : bar.t === Date.UTC(2024, 0, 8) ? { act: 'flat', why: 'time' } : null,`,
  }),
}

async function check(changes: Files = {}, ...args: readonly string[]) {
  const book = await openBook({ ...SOUND, ...changes })
  const answer = await book.check(...args)
  return { ...answer, err: answer.err.replaceAll(book.folder, ''), left: await readdir(book.folder) }
}

test('a check of a sound book exits 0, shows every strategy, and writes nothing', async () => {
  const { code, out, err, left } = await check()
  expect([code, left, err]).toEqual([0, ['book'], ''])
  expect(out).toBe(
    'data BTCUSDT-PERP/1d: 14 bars from 2024-01-01T00:00:00Z to 2024-01-14T00:00:00Z (bars/BTCUSDT-PERP/1d.csv), no findings\n' +
      'data BTCUSDT-PERP: 14 payments from 2024-01-01T00:00:00Z to 2024-01-14T00:00:00Z (funding/BTCUSDT-PERP.csv), no findings\n' +
      'data ash: 1 trade from 2024-01-02T00:00:00Z to 2024-01-02T00:00:00Z (ledgers/ash.csv), no findings\n' +
      'data yew: 1 day from 2024-01-14T00:00:00Z to 2024-01-14T00:00:00Z (returns/yew.csv), no findings\n' +
      'strategy      source        days      trades    verified      result\n' +
      'ash           ledger          14           1      single          ok\n' +
      'oak           module          14           2        dual          ok\n' +
      'yew          returns           1           0  unverified          ok\n' +
      'no problems: a build would publish the days up to 2024-01-14\n',
  )
})

test('a check finds all problems at once: of files, of the window, and of what modules and ledgers do', async () => {
  const entries = [aLedger('ash'), { ...aLedger('elm'), name: '' }, aModule('oak'), reported('yew')]
  const { code, out, err, left } = await check({
    'catalogue.yaml': catalogue(entries, {}, '24h'),
    'ledgers/ash.csv': SOUND['ledgers/ash.csv'].replace('Z,100', 'Z,900'),
    'returns/yew.csv': csv('t,ret', '2024-01-13,lots'),
    'strategies/oak.ts': moduleText('oak', { body: "onBar: () => { throw new Error('no luck') }," }),
  })
  expect([code, left]).toEqual([1, ['book']])
  expect(out).toContain('oak           module           -           -           -      FAILED\n')
  expect(err).toMatch(/^the book in \S+ has 6 problems:$/m)
  expect(err).toMatch(/^ {2}catalogue\.yaml:\S+ strategies\[1\]\.name: expected a line of text/m)
  expect(err).toMatch(/^ {2}catalogue\.yaml:\S+ strategies\[1\]\.source: expected ledgers\/elm\.csv/m)
  expect(err).toMatch(/^ {2}ledgers\/ash\.csv:2: the trade .*900/m)
  expect(err).toMatch(/^ {2}ledgers\/ash\.csv:2: the trade has the result 0\.03, and -0\.885556 follows/m)
  expect(err).toMatch(/^ {2}returns\/yew\.csv:2: ret: expected a fraction .*got "lots"$/m)
  expect(err).toMatch(/^ {2}strategies\/oak\.ts:\d+:\d+: at the bar of 2024-01-01T00:00:00Z: no luck$/m)
})

test('a check with --json prints the same findings as one document', async () => {
  const sound: BookCheck = JSON.parse((await check({}, '--json')).out)
  expect(sound).toMatchObject({
    window_to: '2024-01-14',
    program: null,
    problems: [],
    strategies: [
      { id: 'ash', source: 'ledger', sound: true, history: { days: 14, trades: 1 } },
      { id: 'oak', source: 'module', sound: true, history: { verification: 'dual_verified' } },
      { id: 'yew', source: 'returns', sound: true, history: { verification: 'unverified' } },
    ],
  })
  const broken = await check({ 'returns/yew.csv': csv('t,ret', '2024-01-13,lots') }, '--json')
  expect(broken.code).toBe(1)
  expect(JSON.parse(broken.out)).toMatchObject({
    problems: [{ file: 'returns/yew.csv', row: 2 }],
    strategies: [{ id: 'ash' }, { id: 'oak' }],
  })
})

test('a check refuses stale data like a build, unless --as-of or --allow-stale permits it', async () => {
  const old = { 'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 99, 98, 97, 99, 103, 105, 106]) }
  const stale = await check(old)
  expect([stale.code, stale.err]).toEqual([1, expect.stringContaining('more than 36 hours ago')])
  const catalogueOnly = { ...old, 'catalogue.yaml': catalogue([aLedger('ash')], {}, '24h') }
  expect((await check(catalogueOnly, '--as-of', '2024-01-09')).code).toBe(0)
  expect((await check(catalogueOnly, '--allow-stale')).code).toBe(0)
  expect((await check({}, '--as-of', 'then')).code).toBe(2)
})
