// What must not be published without a word: each is a fault in a book that is sound otherwise.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import { aLedger, catalogue, csv, dailyBars, FIRST_DAY, reported } from '#test/pipeline/night/night-book.ts'
import { lastingFolder, temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { run } from '../made-up.ts'
import { type Files, openBook } from '../own-book.ts'

const DAYS = 200

/** Up to the day before now: a wave, of which no bar stands out. */
const FIRST = FIRST_DAY + 14 - DAYS
const CLOSES = Array.from({ length: DAYS }, (_, i) => Math.round(100_000 + 20_000 * Math.sin(i / 9)) / 1000)
const BARS = dailyBars(CLOSES, FIRST)
const dayOf = (i: number): string => toIsoDate(FIRST + i)

const LEDGER_HEADER = 'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,account_return'
const trade = (entry: string, exit: string): string =>
  csv(LEDGER_HEADER, `long,${entry}T00:00:00Z,${CLOSES[99]},${exit}T00:00:00Z,${CLOSES[99]},signal,1,0`)

const CATALOGUE = 'catalogue.yaml'
const TABLE = 'bars/BTCUSDT-PERP/1d.csv'
const LEDGER = 'ledgers/ash.csv'

const BOOK = {
  [CATALOGUE]: catalogue([aLedger('ash')]),
  [TABLE]: BARS,
  [LEDGER]: trade(dayOf(100), dayOf(100)),
}

const aBook = (changes: Files = {}, folder?: string) => openBook({ ...BOOK, ...changes }, folder)

/** The bars with one row changed, or without some. */
const rows = BARS.trimEnd().split('\n')
const tenfold = (row: string): string => {
  const [t, ...prices] = row.split(',')
  return [t, ...prices.slice(0, 4).map(price => Number(price) * 10), 1].join()
}
const SPIKED = csv(...rows.with(120, tenfold(rows[120]!)))
const HOLED = csv(...rows.toSpliced(121, 30))
const FUTURE_TRADE = trade('2031-01-01', '2031-01-05')
const GAP = { from: dayOf(120), to: dayOf(149) }
const accepting = (...accept: readonly object[]) =>
  JSON.stringify({ ...JSON.parse(catalogue([aLedger('ash')])), accept })
const CLOSED = { finding: 'gap', of: 'BTCUSDT-PERP/1d', ...GAP, count: 30, reason: 'the exchange was closed' }
const acceptGap = (changes: object = {}) => accepting({ ...CLOSED, ...changes })

const reportedBook = {
  [CATALOGUE]: catalogue([reported('ash')]),
  'returns/ash.csv': csv('t,ret', '2024-01-14,0', '2024-01-15,0.01'),
}

const FAULTS: readonly (readonly [string, Files, string, string])[] = [
  ['a bar with ten times the price', { [TABLE]: SPIKED }, `${TABLE}:121`, 'spike of BTCUSDT-PERP/1d'],
  ['trades of the future', { [LEDGER]: FUTURE_TRADE }, `${LEDGER}:2`, 'future_trades of ash'],
  ['returns of the future', reportedBook, 'returns/ash.csv:3', 'future_returns of ash'],
]

test.each(FAULTS)('%s in a book is refused by a build and by a check', async (_, changes, place, code) => {
  const { build, check, served } = await aBook(changes)
  for (const command of [build, check]) {
    const { code: exit, err } = await command()
    expect(exit).toBe(1)
    expect(err).toContain(`  ${place}: ${code}: `)
  }
  expect(await served()).toBeNull()
})

test.each([
  ['of other days', { from: dayOf(121) }],
  ['of another kind', { finding: 'gaps' }],
  ['of other bars', { of: 'BTCUSDT-PERP/4h' }],
])('an accept entry %s accepts nothing, and a check warns of it', async (_, changes) => {
  const { check } = await aBook({ [TABLE]: HOLED, [CATALOGUE]: acceptGap(changes) })
  expect((await check()).err).toContain('gap of BTCUSDT-PERP/1d: ')
  const sound = await aBook({ [CATALOGUE]: acceptGap(changes) })
  const { code, err } = await sound.check()
  expect(code).toBe(0)
  expect(err).toMatch(/^warning: catalogue\.yaml: accept: no .*: remove the entry$/m)
})

test.each([
  ['within days that end after the data', { from: '1970-01-01', to: '2999-12-31', count: 1 }],
  ['of less than it', { from: dayOf(0), to: dayOf(199), count: 4 }],
])('a finding is refused despite an accept entry %s, with the corrected entry', async (_, changes) => {
  // Four and then five short gaps are more than 0.5 % of the bars.
  const holes = (starts: readonly number[]) =>
    csv(...rows.filter((_, i) => !starts.some(start => i > start && i <= start + 5)))
  const [before, after] = [holes([50, 150]), holes([50, 100, 150])]
  const entry = { finding: 'gaps', from: dayOf(50), to: dayOf(154), count: 10 }
  const sound = await aBook({ [TABLE]: before, [CATALOGUE]: acceptGap(entry) })
  expect((await sound.check()).code).toBe(0)
  for (const [bars, accept, count] of [
    [before, { ...entry, ...changes }, 10],
    [after, entry, 15],
  ] as const) {
    await sound.change({ [TABLE]: bars, [CATALOGUE]: acceptGap(accept) })
    const { code, err } = await sound.check()
    expect(code).toBe(1)
    expect(err).toContain(
      `the entry from ${accept.from} to ${accept.to} accepts a count of ${accept.count} within these days, and this finding has ${count} from`,
    )
    expect(err).toContain(
      `accept: [{finding: gaps, of: BTCUSDT-PERP/1d, from: ${dayOf(50)}, to: ${dayOf(154)}, count: ${count}, reason: "..."}]`,
    )
  }
})

test('an accept entry that ends after the data is a problem even if nothing is found', async () => {
  const { check } = await aBook({ [CATALOGUE]: acceptGap({ to: '2999-12-31' }) })
  expect((await check()).err).toContain(
    'catalogue.yaml: accept: expected `to` of the gap of BTCUSDT-PERP/1d up to 2024-01-14, the last day of the data, got 2999-12-31',
  )
})

test('findings of the same days need an accept entry each: one entry does not accept two', async () => {
  // Two bars of other prices, which are two findings within the days of both entries.
  const spiked = csv(...rows.with(120, tenfold(rows[120]!)).with(130, tenfold(rows[130]!)))
  const spike = { ...CLOSED, finding: 'spike', from: dayOf(110), to: dayOf(140), count: 1 }
  const book = await aBook({ [TABLE]: spiked, [CATALOGUE]: accepting(spike) })
  expect((await book.check()).err).toContain('spike of BTCUSDT-PERP/1d')
  await book.change({ [CATALOGUE]: accepting(spike, { ...spike, to: dayOf(139) }) })
  expect((await book.check()).code).toBe(0)
})

test.each([
  ['an unknown finding', { finding: 'joy' }, 'accept[0].finding: expected one of gap, gaps, spike'],
  ['no reason', { reason: ' ' }, 'accept[0].reason: expected a reason'],
  ['no count', { count: undefined }, 'accept[0].count: expected a whole number'],
  ['a blocking finding', { finding: 'future_bars' }, 'accept[0].finding: expected one of'],
])('an accept entry with %s is a problem', async (_, changes, message) => {
  const { check } = await aBook({ [CATALOGUE]: acceptGap(changes) })
  expect((await check()).err).toContain(message)
})

/** A book with a gap, in a trade: refused, and published when the gap was accepted. */
async function publishGap() {
  const gain = `${CLOSES[159]},signal,1,${CLOSES[159]! / CLOSES[99]! - 1}`
  const inGap = trade(dayOf(100), dayOf(160)).replace(`${CLOSES[99]},signal,1,0`, gain)
  const book = await aBook({ [TABLE]: HOLED, [LEDGER]: inGap }, await lastingFolder())
  const refused = await book.build()
  await book.change({ [CATALOGUE]: acceptGap() })
  const checked = await book.check()
  const built = await book.build(['--version', '2024-01-15T00:15:00Z'])
  return { ...book, refused, checked, built }
}

let holed: Awaited<ReturnType<typeof publishGap>>
beforeAll(async () => {
  holed = await publishGap()
})

test('a refusal contains the entry that accepts the finding, and a build with that entry and a reason is published', async () => {
  const { refused, checked, built, file } = holed
  const [, entry] = /accept: \[(\{.*\})\]/.exec(refused.err) ?? []
  expect(entry).toBe(
    `{finding: gap, of: BTCUSDT-PERP/1d, from: ${GAP.from}, to: ${GAP.to}, count: 30, reason: "..."}`,
  )
  expect(checked.out).toMatch(
    /^ {2}accepted gap \(row 122, \.\.\.\): .*30 bars missing: the exchange was closed$/m,
  )
  expect(built.code).toBe(0)
  const { data } = JSON.parse(await file('2024-01-15T00:15:00Z', 'dataset.json'))
  const days = { from: `${GAP.from}T00:00:00Z`, to: `${GAP.to}T00:00:00Z` }
  expect(data.accepted_findings).toEqual([
    {
      ...{ finding: 'gap', of: 'BTCUSDT-PERP/1d', ...days, count: 30 },
      what: expect.stringContaining('30 bars missing'),
      ...{ reason: 'the exchange was closed', strategies: ['ash'] },
    },
  ])
})

test('filling an accepted gap is published as an explained change, with a report that names no finding; another change of the past is refused', async () => {
  const { build, change, file, served } = holed
  // An earlier close is altered together with the gap.
  const altered = rows.with(110, rows[110]!.replace(/,[^,]+,1$/, `,${CLOSES[108]},1`))
  await change({ [CATALOGUE]: catalogue([aLedger('ash')]), [TABLE]: csv(...altered) })
  const refused = await build(['--version', '2024-01-15T00:30:00Z'])
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('would alter history')

  await change({ [TABLE]: BARS })
  const { code, out } = await build(['--version', '2024-01-15T00:45:00Z'])
  expect(code).toBe(0)
  expect(out).toContain(
    `data BTCUSDT-PERP/1d: 200 bars from ${dayOf(0)}T00:00:00Z to 2024-01-14T00:00:00Z (${TABLE}), no findings\n`,
  )
  expect(await served()).toBe('2024-01-15T00:45:00Z')
  const filled = { from: `${GAP.from}T00:00:00Z`, reason: 'the exchange was closed', strategies: ['ash'] }
  expect(JSON.parse(await file('2024-01-15T00:45:00Z', 'changes.json'))).toMatchObject({
    history_restated: true,
    filled_gaps: [{ of: 'BTCUSDT-PERP/1d', ...filled }],
  })
})

test('a name in a book that is not UTF-8 is a problem with its line', async () => {
  const text = Buffer.from(catalogue([aLedger('ash')]).replace('A strategy', 'Fl?che'))
  text[text.indexOf('?')] = 0xe8
  const cwd = await temporaryFolder()
  await writeFiles(join(cwd, 'book'), { ...BOOK, [CATALOGUE]: text })
  const { err } = await run(['check', '--book', 'book'], { cwd })
  expect(err).toContain('catalogue.yaml:1: expected UTF-8')
  const [folder, file] = [
    Buffer.from(join(cwd, 'book/ledgers/')),
    Buffer.from([0xe8, 0x2e, 0x63, 0x73, 0x76]),
  ]
  await writeFile(Buffer.concat([folder, file]), '')
  const named = await run(['check', '--book', 'book'], { cwd })
  expect(named.err).toContain('ledgers/\uFFFD.csv: expected a name in UTF-8')
})
