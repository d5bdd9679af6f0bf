import { z } from 'zod'
import type { Artifact } from '#core/contract/manifest.ts'
import { renderDeploys, renderPreview } from '#core/dataset/resources/program/records.ts'
import type { StrategyData } from '#core/dataset/snapshot.ts'
import type { ProgramData } from '#core/program/program.ts'
import { printReport } from '../print/data-report.ts'
import { type Terminal, toTable, twoDecimals } from '../print/terminal.ts'
import type { BuildResult } from './build-version.ts'

/** The result of a build, for people and for `--json`. */
export type BuildSummary = Awaited<ReturnType<typeof toSummary>>

export async function toSummary(result: BuildResult) {
  const { snapshot, program, manifest, manifestSha256, timings, book, records, fleet, live, missing } = result
  const { artifacts } = manifest
  const sum = (bytes: (artifact: Artifact) => number): number =>
    artifacts.reduce((all, each) => all + bytes(each), 0)
  return {
    version: manifest.version,
    manifest_sha256: manifestSha256,
    window: manifest.window,
    strategies: snapshot.strategies.map(toStrategySummary),
    /** Null in a book without one. */
    program: program && toProgramSummary(program),
    /** Calendar years in percent, a row for each strategy. */
    yearly_returns_pct: await yearlyReturns(snapshot.strategies),
    data: [...book.report, ...records],
    gaps: Object.fromEntries([...book.bars].map(([key, { gaps }]) => [key, gaps.length])),
    /** What a vendor may still bring. */
    missing_bars: missing,
    artifacts: {
      count: artifacts.length,
      bytes: sum(({ bytes }) => bytes),
      br_bytes: sum(({ encodings }) => encodings.br?.bytes ?? 0),
      gzip_bytes: sum(({ encodings }) => encodings.gzip?.bytes ?? 0),
    },
    timings_ms: timings,
    /** Who rendered it; null for one machine. */
    fleet,
    /** How live signals compare with the replay; null without a Redis of live signals. */
    live,
  }
}

const toStrategySummary = ({ id, verification_state, daily, trades, figures }: StrategyData) => ({
  id,
  verification_state,
  days: daily.values.length,
  trades: trades.entry_time.length,
  net_return_pct: figures.values.net_return_pct,
  max_drawdown_pct: figures.values.max_drawdown_pct,
  sharpe_daily_annualized: figures.values.sharpe_daily_annualized,
})

function toProgramSummary(data: ProgramData) {
  const { alias, deployment_state, avg_cost_basis, pct_deployed, benchmarks, rolling } = renderPreview(data)
  return {
    alias,
    deployment_state,
    deployments: renderDeploys(data).length,
    avg_cost_basis,
    pct_deployed,
    /** Compared with equal contributions spent at once. */
    pct_cheaper_than_dca: benchmarks.dca.pct_cheaper,
    rolling_win_rate_pct: rolling?.win_rate_pct ?? null,
  }
}

export function printSummary(summary: BuildSummary, { print }: Terminal): void {
  print(`published ${summary.version}   ${summary.window.from} to ${summary.window.to}`)
  print('')
  for (const line of toTable(strategyRows(summary), 18, 12)) print(line)
  print('')
  for (const line of toTable(yearRows(summary), 18, 9)) print(line)
  if (summary.data.length > 0) print('')
  printReport(summary.data, print)
  for (const line of summary.missing_bars) print(`warning: ${line}`)
  print('')
  if (summary.program !== null) print(`${programLine(summary.program)}\n`)
  const { count, bytes, br_bytes, gzip_bytes } = summary.artifacts
  print(`${count} artifacts: ${size(bytes)} plain, ${size(br_bytes)} brotli, ${size(gzip_bytes)} gzip`)
  const steps = Object.entries(summary.timings_ms)
  print(steps.map(([step, ms]) => `${step} ${(ms / 1000).toFixed(1)} s`).join(', '))
}

const strategyRows = ({ strategies }: BuildSummary): string[][] => [
  ['strategy', 'verified', 'days', 'trades', 'net %', 'drawdown %', 'Sharpe'],
  ...strategies.map(each => [
    each.id,
    each.verification_state.replace('_verified', ''),
    String(each.days),
    String(each.trades),
    ...[each.net_return_pct, each.max_drawdown_pct, each.sharpe_daily_annualized].map(twoDecimals),
  ]),
]

function yearRows({ yearly_returns_pct: rows }: BuildSummary): string[][] {
  const years = Object.keys(rows[0] ?? {}).filter(column => column !== 'strategy')
  return [
    ['year %', ...years],
    ...rows.map(each => [String(each.strategy), ...years.map(year => twoDecimals(each[year]))]),
  ]
}

/** `program accumulation: accumulating, 618 deployments at 6140.56 on average, 83.78 % deployed, ...`. */
const programLine = (program: ReturnType<typeof toProgramSummary>): string =>
  `program ${program.alias}: ${program.deployment_state}, ${program.deployments} deployments at ` +
  `${twoDecimals(program.avg_cost_basis)} on average, ${twoDecimals(program.pct_deployed)} % deployed, ` +
  `${againstDca(program.pct_cheaper_than_dca)} than dca; cheaper in ` +
  `${twoDecimals(program.rolling_win_rate_pct)} % of rolling years`

/** `0.55 % dearer`. */
const againstDca = (pctCheaper: number | null): string =>
  pctCheaper === null
    ? '- % cheaper'
    : `${twoDecimals(Math.abs(pctCheaper))} % ${pctCheaper < 0 ? 'dearer' : 'cheaper'}`

const size = (bytes: number): string =>
  bytes < 1 << 20 ? `${(bytes / 1024).toFixed(0)} kB` : `${(bytes / (1 << 20)).toFixed(1)} MB`

/** A row for each strategy: `{strategy: 'alder', 2024: 12.5}`; percent, null for a year without days. */
type YearlyReturns = readonly Readonly<Record<string, string | number | null>>[]

export async function yearlyReturns(strategies: readonly StrategyData[]): Promise<YearlyReturns> {
  const years = strategies.flatMap((strategy, position) =>
    yearsOf(strategy).map(({ year, return_pct }) => ({ position, strategy: strategy.id, year, return_pct })),
  )
  if (years.length === 0) return []
  const { from, not } = await import('arquero') // a quarter of a second, which only a build needs
  const wide = from(years.toSorted((a, b) => a.year - b.year)) // a pivot orders its columns as it meets them
    .groupby('position', 'strategy')
    .pivot('year', 'return_pct')
    .ungroup()
    .orderby('position')
    .select(not('position'))
  return wide
    .objects()
    .map(row => Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, cell ?? null])))
}

const annual = z.object({
  annual: z.object({ table: z.array(z.object({ year: z.number(), return_pct: z.number().nullable() })) }),
})

const yearsOf = ({ figures }: StrategyData) =>
  annual.safeParse(figures.values.fund_dd).data?.annual.table ?? []
