import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import type { Terminal } from './terminal.ts'

const FIGURES = [
  ['net %', 'net_return_pct'],
  ['CAGR %', 'cagr_pct'],
  ['drawdown %', 'max_drawdown_pct'],
  ['Sharpe', 'sharpe_daily_annualized'],
  ['trades', 'trade_count'],
] as const

const NAME_WIDTH = 18
const CELL_WIDTH = 20

/** A line a strategy; a figure that differs from the published one is shown with it. */
export function printPreview(
  published: Snapshot | null,
  { strategies }: Pick<Snapshot, 'strategies'>,
  elapsedMs: number,
  { print }: Pick<Terminal, 'print'>,
): void {
  const old = new Map(published?.strategies.map(strategy => [strategy.id, strategy]))
  const row = (name: string, cells: readonly string[]): string =>
    name.padEnd(NAME_WIDTH) + cells.map(cell => cell.padStart(CELL_WIDTH)).join('')
  const against =
    published === null ? 'nothing published to compare with' : `published ${published.dataset.version} -> now`
  print(`${against} (${(elapsedMs / 1000).toFixed(1)} s)`)
  print(
    row(
      'strategy',
      FIGURES.map(([name]) => name),
    ),
  )
  for (const strategy of strategies) print(row(strategy.id, cellsOf(old.get(strategy.id), strategy)))
}

const cellsOf = (old: StrategyData | undefined, now: StrategyData): string[] =>
  FIGURES.map(([, name]) => {
    const [before, after] = [spell(old?.figures.values[name]), spell(now.figures.values[name])]
    return old === undefined || before === after ? after : `${before} -> ${after}`
  })

const spell = (value: unknown): string =>
  typeof value === 'number' ? (Number.isInteger(value) ? String(value) : value.toFixed(2)) : '-'
