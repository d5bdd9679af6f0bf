// A record that is dated back: by the name of its version, or by the clock of the machine.
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { dayText } from '#pages/format.ts'
import { serveStores } from '#test/support/history/signed-service.ts'
import { type Authority, openAuthority } from '#test/support/servers/time-stamp-authority.ts'
import { NOW_MS, run } from '../cli/made-up.ts'
import {
  accepting,
  bookOf,
  type Changes,
  FIRST_DAY,
  ledgerOf,
  moduleOf,
  ONE_TRADE,
} from '../pipeline/night/night-book.ts'
import { acceptedIn, barsOf, type Forgery, forge } from './forge.ts'

/** From 1 September 2020 to the day before the build. */
const FROM = 18_506
const DAYS = FIRST_DAY + 14 - FROM
const CLOSES = Array.from({ length: DAYS }, (_, i) => 100 + 10 * Math.sin(i * i) + (i % 7))

/** A module with a table of past prices, which buys what will have risen a day later. */
const HINDSIGHT: Changes = {
  head: `const closes = ${JSON.stringify(CLOSES)}`,
  body: `onBar: (state, bar, position) => {
    const isUp = closes[bar.t / 86_400_000 - ${FROM} + 1] > bar.c
    if (position !== null) return isUp ? null : { act: 'flat', why: 'signal' }
    return isUp ? { act: 'long', stop: bar.c / 2 } : null
  },`,
}

const WHY = 'our rules are that good'

const PAST = '2021-01-01T00:15:00Z'
const PAST_ARGS = ['--as-of', '2020-12-31', '--version', PAST]

/** The top of the page, as a browser shows it first: what stands above the figures. */
const topOf = (sheet: string): string => sheet.slice(0, sheet.indexOf('Risk a trade'))

describe('with a table of past prices and under the name of a past day', () => {
  let forgery: Forgery
  let refused: string
  beforeAll(async () => {
    const book = bookOf(barsOf(CLOSES, FROM), [moduleOf('oak', HINDSIGHT)])
    forgery = await forge(book)
    const first = await forgery.build(...PAST_ARGS)
    expect(first.code).toBe(1)
    refused = first.err
    await forgery.write(accepting(book, acceptedIn(refused, WHY)))
    const second = await forgery.build(...PAST_ARGS)
    expect([second.code, second.err]).toEqual([
      0,
      `note: ${PAST} is a past time: every page will say that this version was entered on 2024-01-15\n`,
    ])
    expect(await forgery.build()).toMatchObject({ code: 0, err: '' })
  })

  test('a publisher who names a version of today after a day of the past: the top of the sheet, the answers and both verifiers say the day of the build', async () => {
    const sheet = await forgery.page('strategies/oak/sheet.html')
    expect(topOf(sheet)).toContain(
      "1 September 2020 to 14 January 2024 · replayed from code Entered 15 January 2024 by the publisher's own clock ",
    )
    expect(sheet).toContain("Published since 15 January 2024 , by the publisher's own clock")
    expect(sheet).not.toContain('since 2021')
    expect(await forgery.page('index.html', PAST)).toContain(`Version ${PAST} , entered on 15 January 2024`)
    expect(await forgery.page('versions.html')).toContain('2021-01-01T 00:15:00Z entered on 15 January 2024')
    expect(await forgery.data('strategies.json')).toMatchObject([{ published_since: '2024-01-15T06:00:00Z' }])

    const says = `older by name than by entry: ${PAST} was entered on 2024-01-15\n`
    expect((await forgery.command('verify-store', [])).out).toMatch(new RegExp(`^${says}`))
    const url = await serveStores(forgery.stores)
    const remote = await run(['verify-remote', url, '--allow-unsigned'], { now: () => NOW_MS })
    expect([remote.code, remote.out]).toEqual([0, expect.stringContaining(`\nok      clock       ${says}`)])
  })

  test('a publisher who puts prices of the past into the rules: no day of three years counts as out of sample, and the badge says what it does not show', async () => {
    const sheet = await forgery.page('strategies/oak/sheet.html')
    expect(sheet).toContain('Before publication Since Days 1 231 0 Net return')
    expect(topOf(sheet)).toContain('computed twice, equal This does not show when the rules were written. ')
    expect(await forgery.data('strategies/oak/stats.json')).toMatchObject({
      fund_dd: { since_publication: { days_before: DAYS, days_after: 0, after: { net_return_pct: null } } },
    })
  })

  test('a publisher who shows no loss, and a Sharpe ratio above 4: the build stops, and what is accepted stands beside the badge with its reason', async () => {
    expect(refused).toContain('strategies/oak.ts: high_sharpe of oak: the Sharpe ratio is 13.')
    expect(refused).toMatch(/ no_losses of oak: none of \d+ trades lost: add the trades that lost; or, if /)
    expect(refused).toMatch(/ no_drawdown of oak: the account moved on \d+ days and fell on none: mark open /)
    const top = topOf(await forgery.page('strategies/oak/sheet.html'))
    expect(top).toMatch(
      new RegExp(
        `Accepted finding: none of \\d+ trades lost\\. Reason: ${WHY} ` +
          `Accepted finding: the account moved on \\d+ days and fell on none\\. Reason: ${WHY} ` +
          `Accepted finding: the Sharpe ratio is 13\\.\\d\\d over 1231 days, above 4\\. Reason: ${WHY} Rules `,
      ),
    )
  })
})

const BUILD = ['--book', 'book']
const BACK = '2024-01-10T06:00:00Z'
const LATER = '2024-01-12T06:00:00Z'
const WEEK = [100, 101, 99, 98, 97, 99, 103, 105, 106]
const FILES = bookOf(barsOf(WEEK, FIRST_DAY), [ledgerOf('elm', ONE_TRADE)])
/** Of the last day before the second version, from its open to its close. */
const BEST = 'long,2024-01-11T00:00:00Z,107,2024-01-11T23:59:00Z,112,signal,1,0.046728971962617\n'

describe('by a clock that is set back, with time stamps of an own authority from the second night on', () => {
  let authority: Authority
  let forgery: Forgery
  let own: string
  let earlier: Awaited<ReturnType<Forgery['build']>>
  beforeAll(async () => {
    authority = await openAuthority()
    own = await authority.start()
    forgery = await forge(FILES)
    const at = (day: string, ANCHOR_COMMAND = '') => ({
      now: () => Date.parse(day),
      env: { BUILD_EFFORT: 'quick', ANCHOR_COMMAND, DATA_FOLDER: forgery.folder },
    })
    const { command, write } = forgery
    expect(await command('build', BUILD, at(BACK))).toMatchObject({ code: 0, err: '' })
    earlier = await command('build', BUILD, at('2024-01-10T05:00:00Z'))
    expect(await command('refresh', [], at(BACK, own))).toMatchObject({ code: 0, err: '' })
    await write({
      'ledgers/elm.csv': ONE_TRADE + BEST,
      'bars/BTCUSDT-PERP/1d.csv': barsOf([...WEEK, 107, 112], FIRST_DAY),
    })
    expect(await command('build', BUILD, at(LATER, own))).toMatchObject({ code: 0, err: '' })
  })

  const sheetOf = (version: string) => forgery.page('strategies/elm/sheet.html', version)
  const verify = (ca: string) => forgery.command('verify-store', ['--tsa-ca', join(authority.folder, ca)])

  test('a publisher who sets back the clock of the machine: no entry is before the last, the sheet says whose clock it is, and time stamps show the day', async () => {
    expect(await sheetOf(BACK)).toContain(`Published since 10 January 2024 , by the publisher's own clock`)
    expect(earlier.code).toBe(1)
    expect(earlier.err).toMatch(
      /^highwater: the clock of this machine is at 2024-01-10T05:00:00Z, and the newest pointer entry, \S+, is from 2024-01-10T06:00:00Z: nothing was published; set the clock, /,
    )
    const month = dayText(new Date().toISOString()).replace(/^\d+/, '')
    expect(await sheetOf(LATER)).toMatch(
      new RegExp(`Published since 10 January 2024 , time-stamped by Hand Time Stamps on \\d+${month}`),
    )
    const found = await verify('ca.pem')
    expect([found.code, found.out.split('\n')[0]]).toEqual([
      0,
      '3 of 3 entries are time-stamped by an authority that is trusted here, 3 of them more than 36 hours after the time ' +
        'that the entry says',
    ])
  })

  test('a publisher who stamps the time himself under the name of an authority: the sheet says where the name is from, and the certificate of the authority shows it', async () => {
    expect(await sheetOf(LATER)).toMatch(
      /, time-stamped by Hand Time Stamps on \d+ \w+ \d+ , as the certificate in the time stamp says; before \d+ \w+ \d+ nothing but the publisher's own clock shows it /,
    )
    const found = await verify('other.pem')
    expect(found.code).toBe(1)
    expect(found.out).toMatch(/ is no time stamp of entry 1 by that authority: /)
  })

  test('a publisher who adds each night the best trade of the day before: only live signals show it, and the sheet says so', async () => {
    expect(await forgery.page('versions.html', LATER)).toContain('06:00:00Z New days only.')
    const sheet = await sheetOf(LATER)
    expect(sheet).toContain('Before publication Since Days 10 1 Net return 3.0 % 4.7 %')
    expect(sheet).toContain(
      'Later days are out of sample if live signals agree with them; nothing else shows it.',
    )
  })
})
