// Days that are chosen when the market is known: published weeks later, in place of others, or in a store that is written again.
import { beforeAll, expect, test } from 'vitest'
import { openStore } from '#storage/open-store.ts'
import { readLog } from '#storage/pointer-log.ts'
import { bookOf, dailyReturns, FIRST_DAY, returnsOf } from '../pipeline/night/night-book.ts'
import { barsOf, type Forgery, forge } from './forge.ts'

const BUILD = ['--book', 'book']
const FIRST = '2024-01-10T06:00:00Z'
const WEEKS = '2024-01-19T06:00:00Z'
const NINE = [0.01, -0.01, 0.005, -0.02, 0.01, 0.002, -0.003, 0.01, -0.005]

const CLOSES = [100, 101, 99, 98, 97, 99, 103, 105, 106]

const bookWith = (returns: readonly number[]) =>
  bookOf(barsOf(CLOSES, FIRST_DAY), [returnsOf('gum', dailyReturns(returns))])

let forgery: Forgery
beforeAll(async () => {
  forgery = await forge(bookWith(NINE))
  const build = (now: string) => forgery.command('build', BUILD, { now: () => Date.parse(now) })
  expect(await build(FIRST)).toMatchObject({ code: 0, err: '' })
  await forgery.write({
    'returns/gum.csv': dailyReturns([...NINE, ...NINE]),
    'bars/BTCUSDT-PERP/1d.csv': barsOf([...CLOSES, ...CLOSES], FIRST_DAY),
  })
  expect(await build(WEEKS)).toMatchObject({ code: 0, err: '' })
})

test('a publisher who waits, and publishes weeks when the market is known: the versions page and the sheet have the days that came at once', async () => {
  expect(await forgery.page('versions.html', WEEKS)).toContain(
    'Published at once: 9 days from 2024-01-10 on of gum.',
  )
  expect(await forgery.page('strategies/gum/sheet.html', WEEKS)).toContain(
    'Published at once up to 9 days after it, not as they happened',
  )
})

test('a publisher who takes a version back, and publishes other days in its place: the build stops', async () => {
  expect(await forgery.command('rollback', [FIRST], { now: () => Date.parse(WEEKS) })).toMatchObject({
    code: 0,
  })
  await forgery.write({ 'returns/gum.csv': dailyReturns([...NINE, ...NINE.with(3, 0.02)]) })
  const other = await forgery.command('build', BUILD, { now: () => Date.parse(WEEKS) + 60_000 })
  expect([other.code, other.err]).toEqual([
    1,
    `highwater: the version 2024-01-19T06:01:00Z would alter history that ${WEEKS} published before it was rolled back:\n` +
      '  gum: return of 2024-01-13: -0.02 -> 0.02\n' +
      'nothing was published. Correct the book. Or, if the old values were wrong, publish the new ones with ' +
      '--restate gum --reason TEXT, which every user sees\n',
  ])
})

test('a publisher who writes the whole store again: every check passes, and only the digest of an entry that a reader kept is another one', async () => {
  const rewritten = await forge(bookWith(NINE.with(3, 0.02)))
  expect(await rewritten.command('build', BUILD, { now: () => Date.parse(FIRST) })).toMatchObject({ code: 0 })
  const [before, after] = await Promise.all(
    [forgery, rewritten].map(async ({ command, stores }) => {
      const { code, out } = await command('verify-store', ['--json'])
      const [first] = await readLog(await openStore(stores.url))
      return { code, sound: JSON.parse(out).sound, at: first!.entry.at, sha256: first!.sha256 }
    }),
  )
  expect(after).toMatchObject({ code: 0, sound: true, at: before!.at })
  expect(after!.sha256).not.toBe(before!.sha256)
  expect(await rewritten.page('strategies/gum/sheet.html', FIRST)).toContain(
    "Published since 10 January 2024 , by the publisher's own clock",
  )
})
