// What must not be published without a word: each is a fault in a book that is sound otherwise.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { toIsoDate } from '#core/calendar.ts'
import { currentVersionOf } from '#static-build/publish-version.ts'
import { openStore } from '#storage/open-store.ts'
import { aLedger, catalogue, csv, dailyBars, FIRST_DAY, reported } from '#test/pipeline/night/night-book.ts'
import { temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { run } from './made-up.ts'

const DAYS = 200

/** Up to the day before now: a wave, of which no bar stands out. */
const FIRST = FIRST_DAY + 14 - DAYS
const CLOSES = Array.from({ length: DAYS }, (_, i) => Math.round(100_000 + 20_000 * Math.sin(i / 9)) / 1000)
const BARS = dailyBars(CLOSES, FIRST)
const dayOf = (i: number): string => toIsoDate(FIRST + i)

const LEDGER_HEADER = 'side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage,account_return'
const trade = (entry: string, exit: string, { leverage = 1 } = {}): string =>
  csv(
    LEDGER_HEADER,
    `long,${entry}T00:00:00Z,${CLOSES[99]},${exit}T00:00:00Z,${CLOSES[99]},signal,${leverage},0`,
  )

const [FILE, LEDGER] = ['bars/BTCUSDT-PERP/1d.csv', 'ledgers/ash.csv']

const BOOK = {
  'catalogue.yaml': catalogue([aLedger('ash')]),
  [FILE]: BARS,
  [LEDGER]: trade(dayOf(100), dayOf(100)),
}

/** A book and what is published of it; `change` writes more of its files. */
async function aBook(changes: Readonly<Record<string, string>> = {}) {
  const cwd = await temporaryFolder()
  const change = (files: Readonly<Record<string, string>>) => writeFiles(join(cwd, 'book'), files)
  await change({ ...BOOK, ...changes })
  const store = pathToFileURL(join(cwd, 'store')).href
  const build = (...more: readonly string[]) =>
    run(['build', '--book', 'book', '--store', store, '--effort', 'quick', ...more], { cwd })
  const check = (...more: readonly string[]) => run(['check', '--book', 'book', ...more], { cwd })
  const served = async () => (await currentVersionOf(await openStore(store)))?.version ?? null
  const publishedFile = async (name: string) => {
    const version = (await served())!.replace(/[-:]/g, '')
    return JSON.parse(await readFile(join(cwd, 'store/v1/snapshots', version, name), 'utf8'))
  }
  return { build, check, change, served, publishedFile }
}

/** The bars with one row changed, or without some. */
const rows = BARS.trimEnd().split('\n')
const tenfold = (row: string): string => {
  const [t, ...prices] = row.split(',')
  return [t, ...prices.slice(0, 4).map(price => Number(price) * 10), 1].join()
}
const SPIKED = csv(...rows.with(120, tenfold(rows[120]!)))
const HOLED = csv(...rows.toSpliced(121, 30))
const GAP = { from: dayOf(120), to: dayOf(149) }
const acceptGap = (changes: object = {}) =>
  JSON.stringify({
    ...JSON.parse(catalogue([aLedger('ash')])),
    accept: [
      {
        ...{ finding: 'gap', of: 'BTCUSDT-PERP/1d', ...GAP, count: 30 },
        ...{ reason: 'the exchange was closed', ...changes },
      },
    ],
  })

const FAULTS = [
  ['a bar with ten times the price', { [FILE]: SPIKED }, `${FILE}:121: spike of BTCUSDT-PERP/1d: `],
  ['thirty missing bars', { [FILE]: HOLED }, `${FILE}:122: gap of BTCUSDT-PERP/1d: `],
  [
    'a leverage of 95 under a cap of 15',
    { [LEDGER]: trade(dayOf(100), dayOf(100), { leverage: 95 }) },
    `${LEDGER}:2: leverage_over_cap of ash: `,
  ],
  [
    'trades of the future',
    { [LEDGER]: trade('2031-01-01', '2031-01-05') },
    `${LEDGER}:2: future_trades of ash: `,
  ],
  [
    'bars of the future',
    { [FILE]: dailyBars(CLOSES, FIRST + 3) },
    `${FILE}:200: future_bars of BTCUSDT-PERP/1d: `,
  ],
  [
    'returns of the future',
    {
      'catalogue.yaml': catalogue([reported('ash')]),
      'returns/ash.csv': csv('t,ret', '2024-01-14,0', '2024-01-15,0.01'),
    },
    'returns/ash.csv:3: future_returns of ash: ',
  ],
] as const

test.each(FAULTS)('%s in a book is refused by a build and by a check', async (_, changes, problem) => {
  const { build, check, served } = await aBook(changes)
  for (const command of [build, check]) {
    const { code, err } = await command()
    expect(code).toBe(1)
    expect(err).toContain(`  ${problem}`)
  }
  expect(await served()).toBeNull()
})

test('a sound book is published with its report, which names no finding', async () => {
  const { build } = await aBook()
  const { code, out } = await build()
  expect(code).toBe(0)
  expect(out).toContain(
    `data BTCUSDT-PERP/1d: 200 bars from ${dayOf(0)}T00:00:00Z to 2024-01-14T00:00:00Z (bars/BTCUSDT-PERP/1d.csv), no findings\n`,
  )
})

test('a repair in a file from elsewhere is a note of the data report', async () => {
  const named = {
    ...JSON.parse(BOOK['catalogue.yaml']),
    bars: { 'BTCUSDT-PERP/1d': { path: 'raw/days.csv' } },
  }
  const [, ...days] = rows
  const { check } = await aBook({
    'catalogue.yaml': JSON.stringify({
      ...named,
      defaults: { ...named.defaults, instrument: 'BTC' },
    }).replace('BTCUSDT-PERP/', 'BTC/'),
    'raw/days.csv': csv('time,open,high,low,close,volume', ...days.toReversed()),
  })
  const { out } = await check()
  expect(out).toMatch(
    /^data BTC\/1d: 200 bars from .* \(raw\/days\.csv\)\n {2}note newest_first: the rows are newest first: reversed\n {2}note last_bar: the last bar may not have been over .* --drop-last/m,
  )
})

test('a refusal contains the entry that accepts the finding, and a build with that entry and a reason is published', async () => {
  const { build, check, change, publishedFile } = await aBook({ [FILE]: HOLED })
  const { err } = await build()
  const [, entry] = /accept: \[(\{.*\})\]/.exec(err) ?? []
  expect(entry).toBe(
    `{finding: gap, of: BTCUSDT-PERP/1d, from: ${GAP.from}, to: ${GAP.to}, count: 30, reason: "..."}`,
  )

  await change({ 'catalogue.yaml': acceptGap() })
  expect((await check()).out).toMatch(
    /^ {2}accepted gap \(row 122, \.\.\.\): .*30 bars missing: the exchange was closed$/m,
  )
  expect((await build()).code).toBe(0)
  expect((await publishedFile('dataset.json')).data.accepted_findings).toEqual([
    {
      finding: 'gap',
      of: 'BTCUSDT-PERP/1d',
      from: `${GAP.from}T00:00:00Z`,
      to: `${GAP.to}T00:00:00Z`,
      count: 30,
      what: expect.stringContaining('30 bars missing'),
      reason: 'the exchange was closed',
      strategies: ['ash'],
    },
  ])
})

test.each([
  ['of other days', { from: dayOf(121) }],
  ['of another kind', { finding: 'gaps' }],
  ['of other bars', { of: 'BTCUSDT-PERP/4h' }],
])('an accept entry %s accepts nothing, and a check warns of it', async (_, changes) => {
  const { check } = await aBook({ [FILE]: HOLED, 'catalogue.yaml': acceptGap(changes) })
  expect((await check()).err).toContain('gap of BTCUSDT-PERP/1d: ')
  const sound = await aBook({ 'catalogue.yaml': acceptGap(changes) })
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
  const sound = await aBook({ [FILE]: before, 'catalogue.yaml': acceptGap(entry) })
  expect((await sound.check()).code).toBe(0)
  for (const [bars, accept, count] of [
    [before, { ...entry, ...changes }, 10],
    [after, entry, 15],
  ] as const) {
    await sound.change({ [FILE]: bars, 'catalogue.yaml': acceptGap(accept) })
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
  const { check } = await aBook({ 'catalogue.yaml': acceptGap({ to: '2999-12-31' }) })
  expect((await check()).err).toContain(
    'catalogue.yaml: accept: expected `to` of the gap of BTCUSDT-PERP/1d up to 2024-01-14, the last day of the data, got 2999-12-31',
  )
})

test('findings of the same days need an accept entry each: one entry does not accept two', async () => {
  // Two bars of other prices, which are two findings within the days of both entries.
  const spiked = csv(...rows.with(120, tenfold(rows[120]!)).with(130, tenfold(rows[130]!)))
  const days = { from: dayOf(110), to: dayOf(140) }
  const spike = { finding: 'spike', of: 'BTCUSDT-PERP/1d', ...days, count: 1, reason: 'so' }
  const book = await aBook({ [FILE]: spiked, 'catalogue.yaml': acceptGap(spike) })
  expect((await book.check()).err).toContain('spike of BTCUSDT-PERP/1d')
  await book.change({
    'catalogue.yaml': JSON.stringify({
      ...JSON.parse(acceptGap()),
      accept: [spike, { ...spike, to: dayOf(139) }],
    }),
  })
  expect((await book.check()).code).toBe(0)
})

test.each([
  [
    'finding: spike_of_joy',
    { finding: 'spike_of_joy' },
    'accept[0].finding: expected one of gap, gaps, spike',
  ],
  ['no reason', { reason: ' ' }, 'accept[0].reason: expected a reason'],
  ['no count', { count: undefined }, 'accept[0].count: expected a whole number'],
  ['a blocking finding', { finding: 'future_bars' }, 'accept[0].finding: expected one of'],
])('an accept entry with %s is a problem', async (_, changes, message) => {
  const { check } = await aBook({ 'catalogue.yaml': acceptGap(changes) })
  expect((await check()).err).toContain(message)
})

test('filling an accepted gap is published as an explained change; another change of the past is refused', async () => {
  const holed = {
    'catalogue.yaml': acceptGap(),
    [FILE]: HOLED,
    [LEDGER]: trade(dayOf(100), dayOf(160)).replace(
      `${CLOSES[99]},signal,1,0`,
      `${CLOSES[159]},signal,1,${CLOSES[159]! / CLOSES[99]! - 1}`,
    ),
  }
  const { build, change, publishedFile, served } = await aBook(holed)
  expect(await build('--version', '2024-01-15T00:15:00Z')).toMatchObject({ code: 0 })

  // An earlier close is altered together with the gap.
  const altered = rows.with(110, rows[110]!.replace(/,[^,]+,1$/, `,${CLOSES[108]},1`))
  await change({ 'catalogue.yaml': catalogue([aLedger('ash')]), [FILE]: csv(...altered) })
  const refused = await build('--version', '2024-01-15T00:30:00Z')
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('would alter history')

  await change({ [FILE]: BARS })
  expect(await build('--version', '2024-01-15T00:45:00Z')).toMatchObject({ code: 0 })
  expect(await served()).toBe('2024-01-15T00:45:00Z')
  expect(await publishedFile('changes.json')).toMatchObject({
    history_restated: true,
    filled_gaps: [
      {
        of: 'BTCUSDT-PERP/1d',
        from: `${GAP.from}T00:00:00Z`,
        reason: 'the exchange was closed',
        strategies: ['ash'],
      },
    ],
  })
})

test('a name in a book that is not UTF-8 is a problem with its line', async () => {
  const text = Buffer.from(catalogue([aLedger('ash')]).replace('A strategy', 'Fl?che'))
  text[text.indexOf('?')] = 0xe8
  const cwd = await temporaryFolder()
  await writeFiles(join(cwd, 'book'), { ...BOOK, 'catalogue.yaml': text })
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
