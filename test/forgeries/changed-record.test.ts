// Changes of what was published, which nobody would announce: rules, trades, strategies, trials, benchmark and texts.
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { riskData } from '#core/contract/payloads/risk.ts'
import { bookOf, dailyBars, ledgerOf, moduleOf, ONE_TRADE } from '../pipeline/night/night-book.ts'
import { blocksIn } from '../support/page-blocks.ts'
import { type Forgery, forge } from './forge.ts'

const CLOSES = [100, 101, 99, 98, 97, 99, 103, 105, 106, 104, 101, 99, 98, 101]
const LOST = 'long,2024-01-10T00:00:00Z,106,2024-01-12T00:00:00Z,101,signal,1,-0.0471698113207547\n'
const MORE = ONE_TRADE.replace(',103,signal,1,0.03', ',104,signal,1,0.04')

const BARS = dailyBars(CLOSES)
const OAK_BARS = 'bars/BTCUSDT-PERP/1d.csv'
const trends = { blurb: 'Rides trends' }
const FIRST = [
  moduleOf('oak', {}, { trials: 40 }),
  moduleOf('elm'),
  ledgerOf('yew', ONE_TRADE + LOST),
  ledgerOf('fir', ONE_TRADE, trends),
]
const calm = { name: 'A calm week', from: '2024-01-02', to: '2024-01-03' }
const BOOK = bookOf(BARS, FIRST, { stress_periods: [calm] })
/** A rule that begins on a date after the first publication, which no published value shows. */
const LATER_RULE = {
  head: 'const since = 1_705_363_200_000',
  body: 'onBar: (state, bar, position) => position === null && bar.t < since ? { act: "long", stop: bar.c / 2 } : null,',
}
const FORGED = [
  moduleOf('oak', LATER_RULE, { trials: 1, max_leverage: 9 }),
  ledgerOf('yew', ONE_TRADE),
  ledgerOf('fir', MORE, { blurb: 'Never loses', result_tolerance_bps: 100 }),
]
const V1 = '2024-01-15T00:15:00Z'
const V2 = '2024-01-15T00:30:00Z'
const WHY = 'elm is no more, yew had a typo, oak has a comment'

let forgery: Forgery
let refused: string
let smuggled: string

beforeAll(async () => {
  forgery = await forge(BOOK)
  expect(await forgery.build('--version', V1)).toMatchObject({ code: 0, err: '' })
  await forgery.write(bookOf(BARS, FORGED, { benchmark: false }))
  const build = (...declared: readonly string[]) => forgery.build('--version', V2, ...declared)
  const silent = await build()
  const declared = ['--remove', 'elm', '--same-rules', 'oak', '--restate', 'yew', '--reason', WHY]
  const partly = await build(...declared)
  expect([silent.code, partly.code]).toEqual([1, 1])
  refused = silent.err
  smuggled = partly.err
  await forgery.write({ 'ledgers/fir.csv': ONE_TRADE })
  expect(await build(...declared)).toMatchObject({ code: 0, err: '' })
})

const sheetOf = (id: string) => forgery.page(`strategies/${id}/sheet.html`, V2)
const versions = () => forgery.page('versions.html', V2)

test('a publisher who changes the rules from a date on: the build stops, although no published value differs', () => {
  expect(refused).toContain(
    '  oak: the files of its module differ, and the version of the module is the same\n',
  )
  expect(refused).not.toContain('oak: return')
  expect(refused).toContain(
    'If the rules of a module changed, raise its version; if they are the same, publish it with --same-rules oak --reason TEXT, ',
  )
})

test('a publisher who declares other rules the same: the sheet and the versions page have the day and the reason', async () => {
  expect(await sheetOf('oak')).toContain(
    `January 2024 : other files, declared the same rules. Reason: ${WHY}`,
  )
  const text = await versions()
  expect(text).toContain(`Rules declared the same, other files of the module: oak. Reason: ${WHY}`)
  expect(text).toMatch(/Changed: rules_sha256 of oak, [0-9a-f]{64} -> [0-9a-f]{64}\./)
})

test('a publisher who removes a strategy that lost: the build stops, and a line with the reason stays on the page of the book', async () => {
  expect(refused).toContain('  elm: the strategy is gone\n')
  expect(refused).toContain(
    'A strategy that is over stays in the catalogue with `ended`; or remove it with --remove elm --reason TEXT, ',
  )
  expect(await forgery.page('index.html', V2)).toContain(
    `A strategy (elm), 14 days, published since 15 January 2024, removed on 15 January 2024. Reason: ${WHY}`,
  )
  expect(await versions()).toContain(`Removed: elm. Reason: ${WHY}`)
  expect(await forgery.data('dataset.json', V2)).toMatchObject({ removed: [{ id: 'elm', reason: WHY }] })
})

test('a publisher who leaves out the trades that lost: the build stops, and with consent the record begins again, restated', async () => {
  expect(refused).toContain(
    '  yew: return of 2024-01-10: -0.01886792453 -> 0\n  yew: return of 2024-01-11: -0.02884615385 -> 0\n' +
      '  yew: long of 2024-01-10T00:00:00Z: is gone\n',
  )
  expect(refused).toContain(
    'publish the new ones with --restate yew,fir --reason TEXT, which every user sees',
  )
  const restated = `2 daily returns, 1 weekly return, 1 trade. Reason: ${WHY}`
  const sheet = await sheetOf('yew')
  expect(sheet).toContain("Published since 15 January 2024 , in its present form, by the publisher's own ")
  expect(sheet).toContain(`Restatements 15 January 2024 : ${restated}`)
  expect(await versions()).toContain(`Restated: yew, ${restated}`)
})

test('a publisher who changes one strategy with the consent for another: the build stops and names what no consent covers', async () => {
  expect(smuggled).toBe(
    `highwater: the version ${V2} would alter history that ${V1} published:\n` +
      '  fir: return of 2024-01-08: 0 -> 0.009708737864\n' +
      '  fir: long of 2024-01-02T00:00:00Z: exit_price: 103 -> 104\n' +
      '  fir: long of 2024-01-02T00:00:00Z: return_pct: 3 -> 4\n' +
      'nothing was published. Correct the book. Or, if the old values were wrong, publish the new ones with ' +
      '--restate fir --reason TEXT, which every user sees\n',
  )
  expect(await sheetOf('fir')).toContain('History no value restated in 2 versions ')
})

test.each([
  ['lowers the number of declared trials', 'Changed: trials of oak, 40 -> 1.'],
  ['hides the comparison with the market', 'Changed: benchmark BTCUSDT-PERP, shown -> none.'],
  ['steers a module by the cap on its leverage', 'Changed: max_leverage of oak, 15 -> 9.'],
  ['forgets a period of stress', 'Changed: stress period A calm week, 2024-01-02 to 2024-01-03 -> none.'],
  ['widens the tolerance of the results', 'Changed: result_tolerance_bps of fir, 1 -> 100.'],
  ['rewrites the text about a strategy', 'Changed: blurb of fir, Rides trends -> Never loses.'],
])('a publisher who %s: the versions page says "%s"', async (_, says) => {
  const text = await versions()
  expect(text).toContain(says)
  expect(text).not.toContain('New days only.')
})

test('a publisher who names calm days alone as stress: the falls of the instrument stand before them, or that it is not compared with', async () => {
  const { stress } = riskData().parse(await forgery.data('strategies/fir/risk.json', V1))
  expect(stress.rows.map(({ by, from, to }) => [by, from, to])).toEqual([
    ['instrument', '2024-01-10', '2024-01-13'],
    ['instrument', '2024-01-03', '2024-01-05'],
    ['publisher', '2024-01-02', '2024-01-03'],
  ])
  const hidden = riskData().parse(await forgery.data('strategies/fir/risk.json', V2))
  expect(hidden.stress).toMatchObject({ instrument_falls: null, rows: [] })
  expect(hidden.undefined['stress/instrument_falls']).toBe('no_benchmark')
})

test('a publisher who adds a flawless strategy, or removes one, to better the past of the book: beside its figures stands that this changes the past', async () => {
  expect(await forgery.page('index.html', V2)).toContain(
    'Days before a strategy was published are in it; adding or removing one changes the past. The figures are of all days',
  )
})

test('a publisher who loses his own files to lose a strategy with them: the build stops, and no line that was published is lost', async () => {
  await rm(fileURLToPath(forgery.stores.privateUrl), { recursive: true })
  const left = [moduleOf('oak', LATER_RULE, { trials: 40 }), ledgerOf('fir', ONE_TRADE, trends)]
  await forgery.write(bookOf(BARS, left))
  const [V3, disk] = ['2024-01-15T00:45:00Z', 'the disk failed']
  const build = (...declared: readonly string[]) =>
    forgery.build('--version', V3, '--after-lost', V2, ...declared, '--reason', disk)
  expect((await build()).err).toContain('  yew: the strategy is gone\n')
  expect(await build('--remove', 'yew')).toMatchObject({ code: 0 })
  const text = await forgery.page('versions.html', V3)
  expect(text).toContain(`Not compared with ${V2}, which could not be read. Reason: ${disk}`)
  for (const [id, why] of [
    ['elm', WHY],
    ['yew', disk],
  ])
    expect(text).toContain(`Removed: ${id}. Reason: ${why}`)
  expect(text).toContain(`Restated: yew, 2 daily returns, 1 weekly return, 1 trade. Reason: ${WHY}`)
  expect(await forgery.data('dataset.json', V3)).toMatchObject({
    removed: [
      { id: 'elm', reason: WHY },
      { id: 'yew', reason: disk, days: 14 },
    ],
  })
})

test('the README shows what a build prints that would change history, and one whose module remembers outside of its state', async () => {
  const turns = `onBar: (state, bar, position) =>
    position === null ? { act: 'long', stop: bar.c * 0.97 } : bar.c < 100 ? { act: 'flat', why: 'signal' } : null,`
  const highs = `onBar: (state, bar, position) => {
    const isNew = bar.c > highest
    highest = Math.max(highest, bar.c)
    return isNew && position === null ? { act: 'long', stop: bar.c * 0.97 } : null
  },`
  const closes = CLOSES.with(13, 100)
  const book = await forge(bookOf(dailyBars(closes), [moduleOf('oak', { body: turns })]))
  await book.build('--version', '2024-01-14T00:15:00Z', '--as-of', '2024-01-13')
  await book.write({ [OAK_BARS]: dailyBars(closes.with(11, 99.5)) })
  const revised = await book.build()
  await book.write(bookOf(dailyBars(closes), [moduleOf('oak', { head: 'let highest = 0', body: highs })]))
  const remembers = await book.build()
  const shown = blocksIn('README.md', 'text')
  expect(shown).toContain(`${revised.err.trimEnd()}\n`)
  expect(shown.some(text => remembers.err.includes(text.trim()) && text.includes('oak.ts'))).toBe(true)
})
