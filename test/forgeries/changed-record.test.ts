// A second version that takes back what the first one showed: a loss, a strategy, rules, trials, a benchmark.
import { beforeAll, expect, test } from 'vitest'
import { aLedger, aModule, catalogue, csv, dailyBars, moduleText } from '../pipeline/night/night-book.ts'
import { type Forgery, forge } from './forge.ts'

const oak = aModule('oak')
const ash = { ...aLedger('ash'), mark: '1d' }
const ledger = (...rows: readonly string[]): string =>
  csv('side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,account_return', ...rows)
const LOSS = 'long,2024-01-02T00:00:00Z,100,2024-01-04T00:00:00Z,99,signal,1,-0.01'
const GAIN = 'long,2024-01-05T00:00:00Z,98,2024-01-08T00:00:00Z,103,signal,1,0.05102'

const BOOK = {
  'catalogue.yaml': catalogue([{ ...oak, trials: 40 }, aModule('elm'), ash]),
  'bars/BTCUSDT-PERP/1d.csv': dailyBars([100, 101, 99, 98, 97, 99, 103, 105, 106, 104, 101, 99, 98, 101]),
  'strategies/oak.ts': moduleText('oak'),
  'strategies/elm.ts': moduleText('elm'),
  'ledgers/ash.csv': ledger(LOSS, GAIN),
}
/** A rule that begins on a date after the first publication, which no published value shows. */
const LATER_RULE = {
  head: 'const since = 1_705_363_200_000',
  body: 'onBar: (state, bar, position) => position === null && bar.t < since ? { act: "long", stop: bar.c / 2 } : null,',
}
const FORGED = {
  'catalogue.yaml': catalogue([{ ...oak, trials: 1 }, ash], { benchmark: false }),
  'strategies/oak.ts': moduleText('oak', LATER_RULE),
  'ledgers/ash.csv': ledger(GAIN),
}
const V1 = '2024-01-15T06:00:00Z'
const V2 = '2024-01-15T06:30:00Z'
const WHY = 'it was a mistake'

let forgery: Forgery
let refused: Awaited<ReturnType<Forgery['build']>>

beforeAll(async () => {
  forgery = await forge(BOOK)
  expect(await forgery.build()).toMatchObject({ code: 0 })
  await forgery.write(FORGED)
  refused = await forgery.build('--version', V2)
  const declared = ['--remove', 'elm', '--same-rules', 'oak', '--restate', 'ash', '--reason', WHY]
  expect(await forgery.build('--version', V2, ...declared)).toMatchObject({ code: 0 })
})

test.each([
  ['a loss that is dropped from a ledger', 'ash: long of 2024-01-02T00:00:00Z: is gone', '--restate ash'],
  ['a strategy that is removed', 'elm: the strategy is gone', '--remove elm'],
  [
    'a rule with a later date',
    'oak: the files of its module differ, and the version of the module is the same',
    '--same-rules oak',
  ],
])('%s stops the build, which says how it is declared', (_what, line, option) => {
  expect(refused.code).toBe(1)
  expect(refused.err).toContain(line)
  expect(refused.err).toContain(`${option} --reason TEXT, which every user sees`)
})

test('a loss that is dropped from a ledger is a restatement on its sheet, and a new history', async () => {
  const sheet = await forgery.page('strategies/ash/sheet.html', V2)
  expect(sheet).toMatch(new RegExp(`${V2}: \\d daily returns, 1 weekly return, 1 trade. Reason: ${WHY}`))
  expect(sheet).toContain(`Published since ${V2}, in its present form`)
})

test('a strategy that is removed stays on the page of the book as a line with its days and the reason', async () => {
  expect(await forgery.page('index.html', V2)).toContain(
    `A strategy (elm), 14 days, published since ${V1}, removed on 2024-01-15. Reason: ${WHY}`,
  )
  expect(await forgery.data('dataset.json', V2)).toMatchObject({ removed: [{ id: 'elm', reason: WHY }] })
})

test('a rule with a later date, declared the same, stands on the sheet with the date and the reason', async () => {
  expect(await forgery.page('strategies/oak/sheet.html', V2)).toContain(
    `${V2}: other files, declared the same rules. Reason: ${WHY}`,
  )
})

test('fewer trials, a benchmark that is gone and everything that was declared stand on the versions page', async () => {
  const text = (await forgery.page('versions.html', V2)).replaceAll('&gt;', '>')
  for (const sentence of [
    `Removed: elm. Reason: ${WHY}`,
    'Restated: ash, ',
    `Rules declared the same, other files of the module: oak. Reason: ${WHY}`,
    'Changed: benchmark BTCUSDT-PERP, shown -> none.',
    'Changed: trials of oak, 40 -> 1.',
  ])
    expect(text).toContain(sentence)
  expect(text).not.toContain('New days only.')
})
