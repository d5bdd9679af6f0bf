// Figures whose definition changed, computed a second time from what is published: naive code that follows the text of
// docs/figures.md and shares nothing with core/figures. The book is the sample book with two more reported histories,
// one that shares no days with the others and one that shares days with some of them.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { renderAnswer } from '#core/dataset/resources/render-answer.ts'
import type { ResourceId } from '#core/dataset/resources/resource.ts'
import { canonicalPoints, routeOf } from '#core/dataset/resources/routes.ts'
import { replay } from '#core/replay/replay.ts'
import type { Book, StrategyEntry } from '#pipeline/book/book.ts'
import { readBook } from '#pipeline/book/read-book.ts'
import { SAMPLE_COSTS, SAMPLE_VERSION, writeSampleBook } from '#pipeline/sample/write-sample-book.ts'
import { lastingFolder } from '../../support/temporary-folder.ts'
import { computeNight } from '../night/night-book.ts'

const DAY_MS = 86_400_000

const yew = { id: 'yew', from: '2017-01-01', to: '2017-12-31' }
const elm = { id: 'elm', from: '2017-06-01', to: '2018-12-31' }

const dir = await lastingFolder()
await writeSampleBook(dir)
for (const each of [yew, elm]) await addReported(each)
const book = await readBook(dir)
const { snapshot } = await computeNight(book, { version: SAMPLE_VERSION })

async function addReported({ id, from, to }: typeof yew): Promise<void> {
  const catalogue = join(dir, 'catalogue.yaml')
  const entry = `  - { id: ${id}, name: ${id}, base_risk_pct: 0.02, source: returns, engine: none, `
  const text = await readFile(catalogue, 'utf8')
  await writeFile(catalogue, `${text}${entry}commission_bps_per_side: 0, slippage_ticks: 0 }\n`)
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  const rows = Array.from({ length: days }, (_, i) => {
    const day = new Date(Date.parse(from) + i * DAY_MS).toISOString().slice(0, 10)
    return `${day},${(Math.sin(i * i) / 100).toFixed(6)}`
  })
  await writeFile(join(dir, `returns/${id}.csv`), ['t,ret', ...rows, ''].join('\n'))
}

const envelope = z.object({ data: z.unknown() })

/** What is published at base risk, in JSON. */
function published(id: ResourceId, sid = ''): unknown {
  const params = canonicalPoints(routeOf(id), sid === '' ? [] : [sid]).find(
    each => each.format === 'json' && (id !== 'returns' || each.period === 'daily'),
  )
  if (params === undefined) throw new Error(`${id} is not published as JSON`)
  const { bytes } = renderAnswer(id, snapshot, params)
  return envelope.parse(JSON.parse(new TextDecoder().decode(bytes))).data
}

const points = z.array(z.object({ t: z.string(), ret: z.number() }))
const trades = z.array(
  z.object({
    side: z.enum(['long', 'short']),
    entry_time: z.number(),
    exit_time: z.number(),
    return_pct: z.number(),
  }),
)
const statistics = z.object({
  profit_factor_notional: z.number().nullable(),
  fund_dd: z.object({
    exposure: z.record(z.string(), z.unknown()),
    drawdowns: z.looseObject({
      lasting_count: z.number(),
      average_depth_pct: z.number(),
      average_underwater_days: z.number(),
    }),
  }),
})
const summary = z.object({
  equal_weight_book: z.record(z.string(), z.unknown()),
  diversification: z.record(z.string(), z.unknown()),
})

type Strategy = Awaited<ReturnType<typeof strategyOf>>

async function strategyOf(entry: StrategyEntry) {
  return {
    id: entry.id,
    returns: points.parse(published('returns', entry.id)),
    trades: trades.parse(published('trades', entry.id)),
    open: await openPosition(entry, book),
    stats: statistics.parse(published('stats', entry.id)),
  }
}

/** The position at the end, which is not published: as the module or the ledger has it. */
async function openPosition(
  { source, bars, instrument, inception }: StrategyEntry,
  { bars: sets, funding }: Book,
) {
  const file = bars === null ? undefined : sets.get(bars)
  if (source.kind !== 'module') {
    const ledger = source.kind === 'ledger' ? source : source.ledger
    return ledger?.trades.filter(({ exit_time }) => exit_time === null) ?? []
  }
  if (file === undefined) throw new Error('a module is replayed on bars')
  const { strategy } = await import(pathToFileURL(source.path).href)
  const replayed = replay({
    strategy,
    bars: file.bars,
    funding: funding.get(instrument) ?? null,
    costs: SAMPLE_COSTS,
    ...(inception === null ? {} : { from: inception }),
  })
  return replayed.trades.filter(({ exit_time }) => exit_time === null)
}

const strategies = await Promise.all(book.strategies.map(strategyOf))
const traded = strategies.filter(each => each.trades.length > 0)
const summarised = summary.parse(published('summary'))

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const average = (values: readonly number[]): number => sum(values) / values.length

test('the book of the second computation has what the definitions are about', () => {
  expect(strategies.filter(({ open }) => open.length > 0).length).toBeGreaterThan(0)
  expect(traded.length).toBeGreaterThan(5)
  const runs = strategies.flatMap(({ returns }) => drawdownRuns(returns.map(({ ret }) => ret)))
  expect(runs.filter(run => run.length === 1).length).toBeGreaterThan(20)
  expect(definedPairs().length).toBeLessThan((strategies.length * (strategies.length - 1)) / 2)
})

test.each(traded)('the published exposure of $id includes the position that is open at the end', strategy => {
  const begin = Date.parse(strategy.returns[0]!.t)
  const end = Date.parse(strategy.returns.at(-1)!.t) + DAY_MS
  const positions = [
    ...strategy.trades,
    ...strategy.open.map(({ side, entry_time }) => ({ side, entry_time, exit_time: end })),
  ]
  const isOpenAt = (ms: number) => positions.filter(p => p.entry_time <= ms && ms < p.exit_time)
  // Fills are at the opens of bars of 4 hours, so the middle of each such bar speaks for all of it.
  const bars = Array.from({ length: (end - begin) / 14_400_000 }, (_, i) =>
    isOpenAt(begin + (i + 0.5) * 14_400_000),
  )
  const shareOf = (isIn: (open: typeof positions) => boolean) =>
    (100 * bars.filter(isIn).length) / bars.length
  const expected = {
    time_in_market_pct: shareOf(open => open.length > 0),
    long_time_pct: shareOf(open => open.some(({ side }) => side === 'long')),
    short_time_pct: shareOf(open => open.some(({ side }) => side === 'short')),
    average_concurrent_positions: average(bars.map(open => open.length)),
    max_concurrent_positions: Math.max(...bars.map(open => open.length)),
  }
  expectNear(strategy.stats.fund_dd.exposure, expected)
})

test.each(traded)(
  'the profit factor per unit of notional of $id follows from return_pct of /trades',
  strategy => {
    const results = strategy.trades.map(({ return_pct }) => return_pct)
    const gains = sum(results.filter(y => y > 0))
    const losses = -sum(results.filter(y => y < 0))
    expectNear(strategy.stats, { profit_factor_notional: gains / losses })
  },
)

test.each(strategies)('the average drawdown of $id leaves dips of one day out', ({ returns, stats }) => {
  const runs = drawdownRuns(returns.map(({ ret }) => ret))
  const lasting = runs.filter(run => run.length > 1)
  expectNear(stats.fund_dd.drawdowns, {
    lasting_count: lasting.length,
    average_depth_pct: 100 * average(lasting.map(run => Math.min(...run))),
    average_underwater_days: average(lasting.map(run => run.length)),
  })
})

/** The drawdowns of each run of days under water. */
function drawdownRuns(returns: readonly number[]): number[][] {
  const runs: number[][] = []
  let [equity, peak, run] = [1, 1, [] as number[]]
  for (const ret of returns) {
    equity *= 1 + ret
    if (equity < peak * (1 - 1e-12)) run.push(equity / peak - 1)
    else {
      if (run.length > 0) runs.push(run)
      run = []
      peak = Math.max(peak, equity)
    }
  }
  return run.length > 0 ? [...runs, run] : runs
}

/** The correlations of the pairs that have at least 30 common days and are not flat over them. */
function definedPairs(): { readonly pair: readonly [Strategy, Strategy]; readonly rho: number }[] {
  return strategies.flatMap((a, i) =>
    strategies.slice(i + 1).flatMap(b => {
      const other = new Map(b.returns.map(({ t, ret }) => [t, ret]))
      const common = a.returns.flatMap(({ t, ret }) => (other.has(t) ? [[ret, other.get(t)!] as const] : []))
      if (common.length < 30) return []
      const [x, y] = [average(common.map(([each]) => each)), average(common.map(([, each]) => each))]
      const covariance = sum(common.map(([u, v]) => (u - x) * (v - y)))
      const variances = sum(common.map(([u]) => (u - x) ** 2)) * sum(common.map(([, v]) => (v - y) ** 2))
      return variances === 0 ? [] : [{ pair: [a, b] as const, rho: covariance / Math.sqrt(variances) }]
    }),
  )
}

test('the published effective bets are those of the pairs that have a correlation', () => {
  const pairs = definedPairs()
  const n = new Set(pairs.flatMap(({ pair }) => pair)).size
  const mean = average(pairs.map(({ rho }) => rho))
  expectNear(summarised.diversification, {
    n_strategies_used: n,
    mean_correlation: mean,
    effective_bets: n / (1 + (n - 1) * Math.max(mean, 0)),
  })
})

test('the published equal-weight book holds the strategies alive on each day', () => {
  const byDay = Map.groupBy(
    strategies.flatMap(({ returns }) => returns),
    ({ t }) => t,
  )
  const days = [...byDay.keys()].sort()
  const all = (Date.parse(days.at(-1)!) - Date.parse(days[0]!)) / DAY_MS + 1
  let [equity, peak, deepest] = [1, 1, 0]
  const means = Array.from({ length: all }, (_, i) => {
    const day = new Date(Date.parse(days[0]!) + i * DAY_MS).toISOString().slice(0, 10)
    return average(byDay.get(day)?.map(({ ret }) => ret) ?? [0])
  })
  for (const mean of means) {
    equity *= 1 + mean
    peak = Math.max(peak, equity)
    deepest = Math.min(deepest, equity / peak - 1)
  }
  const center = average(means)
  const deviation = Math.sqrt(sum(means.map(mean => (mean - center) ** 2)) / (all - 1))
  expectNear(summarised.equal_weight_book, {
    n_days: all,
    net_return_pct: 100 * (equity - 1),
    cagr_pct: 100 * (equity ** (365 / all) - 1),
    max_drawdown_pct: 100 * deepest,
    sharpe_daily_annualized: (center / deviation) * Math.sqrt(365),
  })
})

/** Equal to five decimals, because returns are published with ten. */
function expectNear(
  actual: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, number>>,
): void {
  const near = Object.entries(expected).map(([name, value]) => [name, expect.closeTo(value, 5)])
  expect(actual).toMatchObject(Object.fromEntries(near))
}
