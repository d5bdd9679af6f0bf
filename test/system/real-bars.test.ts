// Real bars through the whole command and as the service answers them: the reference strategies, and closes that are known.

import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toEpochDay, toIsoDate } from '#core/calendar.ts'
import { tableText } from '#pipeline/book/write-table.ts'
import { sampleModules } from '#pipeline/sample/write-sample-book.ts'
import { run } from '../cli/made-up.ts'
import { readRows } from '../core/replay/real-bars.ts'
import type { Stores } from '../support/books/publish-book.ts'
import { openHistoryApp } from '../support/history/history-app.ts'
import { sharedData } from '../support/shared-data.ts'
import { buildArgs, faultsOf, newStores } from '../support/stores/stores.ts'
import { lastingFolder, writeFiles } from '../support/temporary-folder.ts'

/** What `build --json` prints: one JSON document and nothing beside it. */
const buildSummary = z.object({
  version: z.string(),
  manifest_sha256: z.string(),
  window: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
  strategies: z.array(
    z.object({
      id: z.string(),
      verification_state: z.string(),
      days: z.int(),
      trades: z.int(),
      net_return_pct: z.number().nullable(),
      max_drawdown_pct: z.number().nullable(),
      sharpe_daily_annualized: z.number().nullable(),
    }),
  ),
  gaps: z.record(z.string(), z.int()),
  artifacts: z.object({ count: z.int(), bytes: z.int(), br_bytes: z.int(), gzip_bytes: z.int() }),
})

/** The six modules of the sample book, in the order of the catalogue; they trade the perpetual. */
const REFERENCE_IDS = ['alder', 'birch', 'cedar', 'hazel', 'larch', 'maple'] as const

/**
 * Two histories that buy once, with the whole account and at no cost, and hold to the end: what they publish shows the
 * closes that they were marked at, because equity = close / entry price.
 */
const HOLDERS = [
  { id: 'rowan', instrument: 'BTCUSDT-PERP', entry: '2019-09-09T00:00:00Z', entryPrice: 10_316.62 },
  { id: 'willow', instrument: 'BTCUSDT', entry: '2018-12-01T00:00:00Z', entryPrice: 4041.27 },
] as const

/** Writes the book into a folder, from the 4-hour bars of a perpetual and of a spot market. */
async function writeRealBook(folder: string, sharedData: string): Promise<void> {
  const bars = (market: string) => barsText(join(sharedData, `bars/${market}_BTCUSDT_4h.csv.gz`))
  await writeFiles(folder, {
    'catalogue.yaml': CATALOGUE,
    'bars/BTCUSDT-PERP/4h.csv': bars('binance-perp'),
    'bars/BTCUSDT/4h.csv': bars('binance-spot'),
    ...(await sampleModules()),
    ...Object.fromEntries(HOLDERS.map(({ id, ...holder }) => [`ledgers/${id}.csv`, ledgerText(holder)])),
  })
}

/** From `time_ms,time_utc,open,high,low,close,volume` to the columns of a book. */
function barsText(file: string): string {
  const rows = readRows(file).slice(1)
  return tableText(
    't,o,h,l,c,v',
    rows.map(row => row.toSpliced(1, 1)),
  )
}

const ledgerText = ({ entry, entryPrice }: { readonly entry: string; readonly entryPrice: number }): string =>
  `side,entry_time,entry_price,exit_time,exit_price,exit_reason,leverage\nlong,${entry},${entryPrice},,,,1\n`

const CATALOGUE = `service:
  name: Real bars
  methodology_url: https://example.org/method
  data_source: bars of an exchange, for a test alone
  engine: highwater
defaults: { mark: 4h, tick_size: 0.1 }
funding: { BTCUSDT-PERP: none, BTCUSDT: none }
strategies:
${REFERENCE_IDS.map(id => `  - { id: ${id}, name: ${id}, base_risk_pct: 0.02, source: module, timeframe: 4h }`).join('\n')}
${HOLDERS.map(
  ({ id, instrument }) =>
    `  - { id: ${id}, name: ${id}, base_risk_pct: 0.02, source: ledger, instrument: ${instrument}, commission_bps_per_side: 0, slippage_ticks: 0, engine: by hand }`,
).join('\n')}
`

const skip = sharedData === null ? ' (skipped: no real bars on this machine)' : ''
const VERSION = '2026-06-21T00:15:00Z'

/** The closes of UTC days, by the id of the history that shows them. */
const KNOWN_CLOSES = {
  rowan: { '2020-03-12': 4764.65 },
  willow: {
    '2018-12-15': 3211.72,
    '2020-03-12': 4800,
    '2021-11-10': 64_882.43,
    '2022-11-09': 15_922.81,
    '2024-03-13': 73_072.41,
  },
} as const

const returnsAnswer = z.object({ data: z.array(z.object({ t: z.string(), ret: z.number() })) })
const curveAnswer = z.object({ data: z.array(z.object({ t: z.string(), equity: z.number() })) })

describe.skipIf(sharedData === null)(`a build of real bars${skip}`, () => {
  let stores: Stores
  let app: Awaited<ReturnType<typeof openHistoryApp>>['app']
  let summary: z.output<typeof buildSummary>

  beforeAll(async () => {
    stores = await newStores()
    const book = await lastingFolder()
    await writeRealBook(book, sharedData ?? '')
    const order = { book, version: VERSION, asOf: null, threads: 2 }
    const args = [...buildArgs(stores, order), '--allow-stale', '--json']
    const exit = await run(args, { now: () => Date.now() })
    expect(exit.code, exit.err).toBe(0)
    summary = buildSummary.parse(JSON.parse(exit.out))
    app = (await openHistoryApp(stores)).app
  })

  const get = async <T>(path: string, answer: z.ZodType<T>): Promise<T> =>
    answer.parse(await (await app.request(path)).json())

  test('a build of real bars verifies each of the six reference strategies by two independent computations of its days', () => {
    const states = summary.strategies.map(({ id, verification_state }) => [id, verification_state])
    expect(states).toEqual([
      ...REFERENCE_IDS.map(id => [id, 'dual_verified']),
      ...HOLDERS.map(({ id }) => [id, 'unverified']), // neither has closed its trade
    ])
    const trades = summary.strategies.slice(0, REFERENCE_IDS.length).map(strategy => strategy.trades)
    expect(Math.min(...trades)).toBeGreaterThan(40) // the slowest rule trades every two months
  })

  test('a build of real bars publishes files that are what the manifest says', async () => {
    expect(await faultsOf(stores)).toEqual([])
  })

  test('a build of real bars counts the eight outages of the spot market, and none of the perpetual', () => {
    expect(summary.gaps).toEqual({ 'BTCUSDT-PERP/4h': 0, 'BTCUSDT/4h': 8 })
  })

  // The perpetual's bars begin at 16:00 of 2019-09-08, and the spot market's end within 2026-06-20.
  test.each(REFERENCE_IDS)(
    'a build of real bars has a return of %s for every day from the first whole one to the last that both markets cover',
    async id => {
      const { data } = await get(`/v1/strategies/${id}/returns`, returnsAnswer)
      const [first, last] = [toEpochDay(Date.parse('2019-09-09')), toEpochDay(Date.parse('2026-06-19'))]
      expect(data.map(({ t }) => t)).toEqual(
        Array.from({ length: last - first + 1 }, (_, i) => toIsoDate(first + i)),
      )
    },
  )

  test.each(HOLDERS)(
    'a build of real bars shows the known closes of $instrument',
    async ({ id, entryPrice }) => {
      const { data } = await get(`/v1/strategies/${id}/curve`, curveAnswer)
      const closes = new Map(data.map(({ t, equity }) => [t, equity * entryPrice]))
      for (const [day, close] of Object.entries(KNOWN_CLOSES[id])) {
        expect(closes.get(day), day).toBeCloseTo(close, 4) // equity is published to ten digits
      }
    },
  )
})
