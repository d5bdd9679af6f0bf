import type { Artifact } from '#core/contract/manifest.ts'
import type { StrategyData } from '#core/snapshot/snapshot.ts'
import type { BuildResult } from './build-version.ts'
import type { Terminal } from './terminal.ts'

/** What a build made, for people and, with `--json`, for machines. */
export type BuildSummary = {
  readonly version: string
  readonly manifest_sha256: string
  readonly window: { readonly from: string | null; readonly to: string | null }
  readonly strategies: readonly StrategySummary[]
  readonly gaps: Readonly<Record<string, number>>
  readonly artifacts: {
    readonly count: number
    readonly bytes: number
    readonly br_bytes: number
    readonly gzip_bytes: number
  }
  readonly timings_ms: Readonly<Record<string, number>>
}

type StrategySummary = {
  readonly id: string
  readonly verification_state: string
  readonly days: number
  readonly trades: number
  readonly net_return_pct: unknown
  readonly max_drawdown_pct: unknown
  readonly sharpe_daily_annualized: unknown
}

export function toSummary({ snapshot, manifest, manifestSha256, timings, book }: BuildResult): BuildSummary {
  const { artifacts } = manifest
  const sum = (bytes: (artifact: Artifact) => number): number =>
    artifacts.reduce((all, each) => all + bytes(each), 0)
  return {
    version: manifest.version,
    manifest_sha256: manifestSha256,
    window: manifest.window,
    strategies: snapshot.strategies.map(toStrategySummary),
    gaps: Object.fromEntries([...book.bars].map(([key, { gaps }]) => [key, gaps.length])),
    artifacts: {
      count: artifacts.length,
      bytes: sum(({ bytes }) => bytes),
      br_bytes: sum(({ encodings }) => encodings.br.bytes),
      gzip_bytes: sum(({ encodings }) => encodings.gzip.bytes),
    },
    timings_ms: timings,
  }
}

const toStrategySummary = ({
  id,
  verification_state,
  daily,
  trades,
  figures,
}: StrategyData): StrategySummary => ({
  id,
  verification_state,
  days: daily.values.length,
  trades: trades.entry_time.length,
  net_return_pct: figures.values.net_return_pct,
  max_drawdown_pct: figures.values.max_drawdown_pct,
  sharpe_daily_annualized: figures.values.sharpe_daily_annualized,
})

/** A table of the strategies and a line each on what was published and how long it took. */
export function printSummary(summary: BuildSummary, { print }: Terminal): void {
  print(`published ${summary.version}   ${summary.window.from} to ${summary.window.to}`)
  print('')
  print(row(['strategy', 'verified', 'days', 'trades', 'net %', 'drawdown %', 'Sharpe']))
  for (const each of summary.strategies) {
    const { id, verification_state, days, trades } = each
    const figures = [each.net_return_pct, each.max_drawdown_pct, each.sharpe_daily_annualized].map(
      twoDecimals,
    )
    print(row([id, verification_state.replace('_verified', ''), String(days), String(trades), ...figures]))
  }
  print('')
  const { count, bytes, br_bytes, gzip_bytes } = summary.artifacts
  print(`${count} artifacts: ${size(bytes)} plain, ${size(br_bytes)} brotli, ${size(gzip_bytes)} gzip`)
  print(
    Object.entries(summary.timings_ms)
      .map(([step, ms]) => `${step} ${(ms / 1000).toFixed(1)} s`)
      .join(', '),
  )
}

const WIDTHS = [18, 12, 7, 8, 12, 12, 8]

const row = (cells: readonly string[]): string =>
  cells.map((cell, i) => (i < 2 ? cell.padEnd(WIDTHS[i] ?? 0) : cell.padStart(WIDTHS[i] ?? 0))).join('')

const twoDecimals = (value: unknown): string => (typeof value === 'number' ? value.toFixed(2) : '-')

const size = (bytes: number): string =>
  bytes < 1 << 20 ? `${(bytes / 1024).toFixed(0)} kB` : `${(bytes / (1 << 20)).toFixed(1)} MB`
