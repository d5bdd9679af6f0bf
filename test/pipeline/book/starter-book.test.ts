import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { toEpochDay } from '#core/calendar.ts'
import { lastDay } from '#core/figures/series.ts'
import { replay } from '#core/replay/replay.ts'
import type { Book } from '#pipeline/book/book.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { SAMPLE_COSTS } from '#pipeline/sample/write-sample-book.ts'
import { writeStarterBook } from '#pipeline/starter/write-starter-book.ts'
import { lastingFolder, temporaryFolder } from '#test/support/temporary-folder.ts'
import { writeFolder } from './book-folder.ts'

const LAST_DAY = 20_634

let dir: string
let book: Book

beforeAll(async () => {
  dir = await lastingFolder()
  await writeStarterBook(dir, LAST_DAY)
  book = await readBook(dir)
})

test('the starter book is sound as it is', () => {
  expect(book.warnings).toEqual([])
  expect(book.strategies.map(({ id, source }) => [id, source.kind])).toEqual([['oak', 'module']])
})

test.each([LAST_DAY, LAST_DAY + 200, LAST_DAY + 4_000])(
  'the starter book written for day %i ends on it, and has warm bars at its inception',
  async day => {
    const written = await temporaryFolder()
    await writeStarterBook(written, day)
    const later = await readBook(written)
    const bars = later.bars.get('BTCUSDT-PERP/4h')!.bars
    const firstBarDay = toEpochDay(bars.t[0]!)
    expect(bars.t.at(-1)).toBe((day + 1) * 86_400_000 - 14_400_000)
    expect(later.strategies[0]?.inception).toBeGreaterThan(firstBarDay + 25)
    expect(later.strategies[0]?.inception).toBeLessThan(firstBarDay + 60)
  },
)

test('the starter book shows in its catalogue the defaults that hold without it', async () => {
  const text = await readFile(join(dir, 'catalogue.yaml'), 'utf8')
  const bare = await temporaryFolder()
  await writeStarterBook(bare, LAST_DAY)
  await writeFile(join(bare, 'catalogue.yaml'), text.replace(/^defaults:\n(?: {2}.*\n)*/m, ''))
  const [shown, builtIn] = [book.strategies[0], (await readBook(bare)).strategies[0]]
  const apart = { mark: null, source: null, inceptionPlace: null }
  expect({ ...shown, ...apart }).toEqual({ ...builtIn, ...apart })
})

test('the starter book has a module that the engine runs, and that agrees with the catalogue', async () => {
  const [entry] = book.strategies
  const bars = book.bars.get('BTCUSDT-PERP/4h')?.bars
  if (entry?.source.kind !== 'module' || bars === undefined) throw new Error('the starter book has no module')
  const { strategy } = await import(pathToFileURL(entry.source.path).href)
  expect(strategy).toMatchObject({
    id: entry.id,
    timeframeMs: bars.timeframeMs,
    baseRisk: entry.base_risk_pct,
  })
  const { trades, daily } = replay({ strategy, bars, funding: null, costs: SAMPLE_COSTS })
  expect(trades.length).toBeGreaterThan(20)
  expect(daily.values).toHaveLength(730)
})

test('the README of the starter book shows every kind of table, and each example is one that the reader takes', async () => {
  const readme = await readFile(join(dir, 'README.md'), 'utf8')
  const examples = Object.fromEntries(
    [...readme.matchAll(/`((?:bars|funding|ledgers|returns)\/[^`<]+\.csv)`[^`]*```csv\n(.*?)```/gs)].map(
      ([, path = '', text = '']) => [path, text],
    ),
  )
  expect(Object.keys(examples)).toEqual([
    'bars/BTCUSDT-PERP/4h.csv',
    'funding/BTCUSDT-PERP.csv',
    'ledgers/elm.csv',
    'returns/yew.csv',
  ])
  const catalogue = await readFile(join(dir, 'catalogue.yaml'), 'utf8')
  const shown = await readBook(
    await writeFolder({
      ...examples,
      'catalogue.yaml': uncommented(catalogue)
        .replace('mark: 1d ', 'mark: 4h ')
        .replace(/inception: .*/, ''),
      'strategies/oak.ts': 'export const strategy = null\n',
    }),
  )
  expect(shown.warnings).toEqual([])
  expect(shown.strategies.map(({ id }) => id)).toEqual(['oak', 'elm', 'yew'])
  expect(shown.strategies[1]?.source).toMatchObject({ trades: { length: 3 } })
  const { source } = shown.strategies[2] ?? {}
  expect(source?.kind === 'returns' && lastDay(source.daily)).toBe(Date.UTC(2026, 5, 30) / 86_400_000)
})

/** The catalogue with its two commented strategies in force. */
const uncommented = (catalogue: string) => catalogue.replaceAll(/^ {2}# ( *- id| {2})/gm, '  $1')
