import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  max,
  mean,
  median,
  min,
  sampleCorrelation,
  sampleKurtosis,
  sampleStandardDeviation,
  standardDeviation,
} from 'simple-statistics'
import { expect, test } from 'vitest'
import { toEpochDay } from '#core/calendar.ts'
import { dayOf, lastDay, type Series } from '#core/figures/series.ts'
import { markLedger } from '#core/replay/marks.ts'
import { replay } from '#core/replay/replay.ts'
import type { Trade } from '#core/replay/trade.ts'
import type { Book, StrategyEntry } from '#pipeline/book/book.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { computeProgram } from '#pipeline/night/compute-program.ts'
import {
  SAMPLE_AS_OF,
  SAMPLE_COSTS,
  SAMPLE_VERSION,
  writeSampleBook,
} from '#pipeline/sample/write-sample-book.ts'
import { programDocuments } from '#static-build/save-private.ts'
import { createFileStore } from '#storage/file-store.ts'
import { toJsonBytes } from '#storage/json-bytes.ts'
import { lastingFolder, temporaryFolder, writeFiles } from '#test/support/temporary-folder.ts'
import { describeDifferences, treeOf } from '../../static-build/tree.ts'

const dir = await lastingFolder()
await writeSampleBook(dir)
const book = await readBook(dir)
const file = book.bars.get('BTCUSDT-PERP/4h')
if (file === undefined) throw new Error('the sample book has no bars')
const { bars } = file
const funding = book.funding.get('BTCUSDT-PERP') ?? null

type History = { readonly id: string; readonly daily: Series; readonly trades: readonly Trade[] }

/** What a build makes of each source. */
async function historyOf({ id, source, inception, base_risk_pct }: StrategyEntry): Promise<History> {
  const own = { bars, funding, costs: SAMPLE_COSTS, ...(inception === null ? {} : { from: inception }) }
  switch (source.kind) {
    case 'module': {
      const { strategy } = await import(pathToFileURL(source.path).href)
      return { id, ...replay({ strategy, ...own }) }
    }
    case 'ledger':
      return { id, ...markLedger({ id, trades: source.trades, baseRisk: base_risk_pct, ...own }) }
    case 'returns':
      return { id, daily: source.daily, trades: source.ledger?.trades ?? [] }
  }
}

const histories = await Promise.all(book.strategies.map(historyOf))
const returnsOf = ({ daily }: History) => Array.from(daily.values)
const netOf = (history: History) => returnsOf(history).reduce((equity, ret) => equity * (1 + ret), 1) - 1

test('the sample book is the same to the byte at every call', async () => {
  const again = await temporaryFolder()
  await writeSampleBook(again)
  const names = (await readdir(dir, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
  expect(names).toHaveLength(18)
  for (const { parentPath, name } of names) {
    const path = join(parentPath, name)
    expect([path, await readFile(path)]).toEqual([path, await readFile(path.replace(dir, again))])
  }
})

test('the sample book has the same prices on every machine', async () => {
  const bytes = await readFile(join(dir, 'bars/BTCUSDT-PERP/4h.csv'))
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(PRICES_SHA256)
})

test('the sample book is sound, and has nothing in it that a reader would wonder at', () => {
  expect(book.warnings).toEqual([])
  expect(book.strategies.map(({ id, source }) => `${id} ${source.kind}`).join()).toBe(
    'alder module,birch module,cedar module,hazel module,larch module,maple module,rowan ledger,willow returns',
  )
})

test('the sample book says that it is synthetic in every text that describes it', () => {
  const { name, data_source, engine, disclaimer } = book.service
  const texts = [name, data_source, engine, disclaimer, ...book.strategies.flatMap(describingTexts)]
  for (const text of texts) expect(text).toMatch(/synthetic/i)
})

test('the sample book ends on the day of which the sample version is built', () => {
  expect(bars.t.at(-1)).toBe(Date.UTC(2026, 5, 30, 20))
  for (const { daily } of histories) expect(lastDay(daily)).toBe(SAMPLE_AS_OF)
  expect(toEpochDay(Date.parse(SAMPLE_VERSION))).toBe(SAMPLE_AS_OF + 1)
})

const data = computeProgram(book, {
  nowMs: Date.parse(SAMPLE_VERSION),
  asOf: SAMPLE_AS_OF,
  allowStale: false,
})

test('the program of the sample book buys the synthetic spot market by the day, which has all of its days, and says that it is synthetic', async () => {
  expect(data?.plan.instrument).toMatch(/synthetic/i)
  expect(await readFile(join(dir, 'program.yaml'), 'utf8')).toMatch(/synthetic/i)
  expect(book.program?.bars.gaps).toEqual([])
  expect(book.program?.bars.bars.c.at(-1)).toBe(bars.c.at(-1))
  expect(book.program?.bars.bars.t.length).toBe(SAMPLE_AS_OF - toEpochDay(bars.t[0]!) + 1)
})

// The git diff of that folder is the review of every change. Where one is meant: UPDATE_GOLDEN=1 vitest run sample-book
test('the program of the sample book makes the records that are written down in test/golden/program', async () => {
  const { data: _, deploys, ...records } = programDocuments(data!, SAMPLE_VERSION)
  const list = Array.isArray(deploys) ? deploys : []
  const ends = { count: list.length, first: list.slice(0, 5), last: list.slice(-5) }
  const files = Object.entries({ ...records, 'deploys-ends': ends }).map(
    ([name, record]) => [`${name}.json`, new TextDecoder().decode(toJsonBytes(record))] as const,
  )
  if (process.env.UPDATE_GOLDEN === '1') await writeFiles(GOLDEN, Object.fromEntries(files))
  expect(describeDifferences(await treeOf(createFileStore(GOLDEN)), new Map(files))).toEqual([])
})

const GOLDEN = join(import.meta.dirname, '../../golden/program')

const closes = [...new Map(Array.from(bars.t, (t, i) => [toEpochDay(t), bars.c[i]!])).values()]
const daily = closes.slice(1).map((close, i) => close / closes[i]! - 1)

test('the market of the sample book is as hard as a real one: it has volatility that clusters, fat tails, a fall by more than half, and outages', () => {
  expectWithin(sampleStandardDeviation(daily) * Math.sqrt(365), 0.45, 0.9)
  expect(sampleKurtosis(daily)).toBeGreaterThan(5)
  const sizes = daily.map(Math.abs)
  expect(sampleCorrelation(sizes.slice(20), sizes.slice(0, -20))).toBeGreaterThan(0.05)
  let peak = 0
  const falls = Array.from(bars.c, close => {
    peak = Math.max(peak, close)
    return close / peak - 1
  })
  expect(min(falls)).toBeLessThan(-0.5)
  expectWithin(file.gaps.length, 5, 30)
})

test('the strategies of the sample book have pairwise correlations between -0.3 and 0.7', () => {
  const pairs = histories.flatMap((a, i) => histories.slice(i + 1).map(b => correlationOf(a, b)))
  expect(pairs).toHaveLength(28)
  expectWithin(min(pairs), -0.3, 0.7)
  expectWithin(max(pairs), -0.3, 0.7)
})

test('the strategies of the sample book have a median leverage of 0.3 to 3, none above the cap, and an unknown one only where it was not reported', () => {
  for (const { id, trades } of histories.filter(({ id }) => id !== 'willow')) {
    const leverages = trades.flatMap(({ leverage }) => (leverage === null ? [] : [leverage]))
    expect([id, leverages.length]).toEqual([id, trades.length])
    expectWithin(median(leverages), 0.3, 3)
    expect(max(leverages)).toBeLessThanOrEqual(SAMPLE_COSTS.max_leverage)
  }
  expect(histories.at(-1)?.trades.every(({ leverage }) => leverage === null)).toBe(true)
})

test('as many strategies of the sample book lose as gain, and none looks too good', () => {
  expect(histories.map(netOf).filter(net => net > 0)).toHaveLength(4)
  for (const history of histories) {
    const returns = returnsOf(history)
    expectWithin((mean(returns) / standardDeviation(returns)) * Math.sqrt(365), -1, 1)
    expectWithin(netOf(history), -0.9, 5)
  }
})

test('the strategies of the sample book have histories that begin on different days, and all have trades, the weekly one from Mondays on', () => {
  expect(new Set(histories.map(({ daily }) => daily.first)).size).toBeGreaterThanOrEqual(5)
  for (const { trades } of histories) expect(trades.length).toBeGreaterThan(50)
  const { trades = [] } = histories.find(({ id }) => id === 'rowan') ?? {}
  expect(new Set(trades.map(trade => new Date(trade.entry_time).getUTCDay()))).toEqual(new Set([1]))
})

/** Of the market of seed 4. If the price process changes, review the new prices and replace this. */
const PRICES_SHA256 = '184ad548e0e84d19a924a66ad02fd14d0a852e64cd805b54835f61cad3251807'

const describingTexts = ({ name, blurb, denomination }: Book['strategies'][number]) => [
  name,
  blurb ?? '',
  denomination,
]

function expectWithin(value: number, low: number, high: number): void {
  expect(value).toBeGreaterThanOrEqual(low)
  expect(value).toBeLessThanOrEqual(high)
}

/** Over the days that both have. */
function correlationOf(a: History, b: History): number {
  const first = Math.max(a.daily.first, b.daily.first)
  const tail = (history: History) => returnsOf(history).filter((_, i) => dayOf(history.daily, i) >= first)
  return sampleCorrelation(tail(a), tail(b))
}
