// A table of past prices in a module, under the name of a day of the past: the forgery with which this began.
import { beforeAll, expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import { aModule, catalogue, csv, FIRST_DAY, moduleText } from '../pipeline/night/night-book.ts'
import { type Forgery, forge } from './forge.ts'

/** Three years up to the day before the build. */
const DAYS = 1_100
const FROM = FIRST_DAY + 14 - DAYS
const CLOSES = Array.from(
  { length: DAYS },
  (_, i) => Math.round(1e4 * (100 + 10 * Math.sin(i * 1.7) + (i % 7))) / 1e4,
)

const BARS = csv(
  't,o,h,l,c,v',
  ...CLOSES.map((close, i) => {
    const open = CLOSES[i - 1] ?? close
    return [
      `${toIsoDate(FROM + i)}T00:00:00Z`,
      open,
      Math.max(open, close) + 1,
      Math.min(open, close) - 1,
      close,
      1,
    ].join()
  }),
)

/** Mostly right, so that no finding names it. */
const HINDSIGHT = moduleText('oak', {
  head: `const closes = ${JSON.stringify(CLOSES)}`,
  body: `onBar: (state, bar, position) => {
    const i = bar.t / 86_400_000 - ${FROM}
    const isUp = (closes[i + 1] > bar.c) !== (i % 3 === 0)
    if (position !== null) return isUp ? null : { act: 'flat', why: 'signal' }
    return isUp ? { act: 'long', stop: bar.c * 0.8 } : null
  },`,
})

const OLD = '2023-01-01T00:15:00Z'

const FINDING = 'the Sharpe ratio is 4.39 over 721 days, above 4'
const REASON = 'the rules are good'

/** The catalogue in which the finding is accepted, as a refusal asks for. */
function accepting(refusal: string): string {
  const [, from, to, count] =
    /accept: \[{finding: high_sharpe, of: oak, from: (\S+), to: (\S+), count: (\d+)/.exec(refusal)!
  const accept = [{ finding: 'high_sharpe', of: 'oak', from, to, count: Number(count), reason: REASON }]
  return JSON.stringify({ ...JSON.parse(catalogue([aModule('oak')])), accept })
}

const BACK_DATED = ['--as-of', '2022-12-31', '--version', OLD]

let forgery: Forgery
beforeAll(async () => {
  forgery = await forge({
    'catalogue.yaml': catalogue([aModule('oak')]),
    'bars/BTCUSDT-PERP/1d.csv': BARS,
    'strategies/oak.ts': HINDSIGHT,
  })
  const refused = await forgery.build(...BACK_DATED)
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(FINDING)])
  await forgery.write({ 'catalogue.yaml': accepting(refused.err) })
  const first = await forgery.build(...BACK_DATED)
  expect([first.code, first.err]).toEqual([
    0,
    expect.stringContaining(
      `${OLD} is a past time: every page will say that this version was entered on 2024-01-15`,
    ),
  ])
  expect((await forgery.build()).code).toBe(0)
})

test('a version that is named after a past day says everywhere that it was entered on the day of its build', async () => {
  const sheet = await forgery.page('strategies/oak/sheet.html')
  expect(sheet).toContain('Published since 2024-01-15T06:00:00Z')
  expect(sheet).not.toContain('Published since 2023')
  expect(await forgery.page('versions.html')).toContain('entered on 2024-01-15')
  expect(await forgery.data('strategies/oak/stats.json')).toMatchObject({
    fund_dd: { since_publication: { published_since: '2024-01-15T06:00:00Z', days_after: 0 } },
  })
  const verified = await forgery.command('verify-store', [])
  expect(verified.out + verified.err).toContain(`${OLD} was entered on 2024-01-15`)
})

test('beside the badge of a table of past prices stands what no check shows, and the finding that the publisher accepted', async () => {
  expect(await forgery.page('strategies/oak/sheet.html')).toContain(
    'This does not show when the rules were written.',
  )
})

test('a clock that is set back writes no entry before the newest one, and the sheet says whose clock it is', async () => {
  const lastYear = () => Date.parse('2023-01-01T00:00:00Z')
  const { code, err } = await forgery.command('refresh', [], { now: lastYear })
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(
      /the clock of this machine is at 2023-01-01T00:00:00Z, and the newest pointer entry, .* nothing was published/,
    ),
  ])
  const sheet = await forgery.page('strategies/oak/sheet.html')
  expect(sheet).toMatch(/Published since 2024-01-15T06:00:00Z, by the publisher\S+s own clock/)
})
