import { type AccountPath, LARGEST_PUBLISHED } from './account-path.ts'
import { benchmarkOver } from './benchmark.ts'
import { percent } from './figure.ts'
import { isFlat } from './moments.ts'
import { products } from './pearson.ts'
import { DAYS_PER_YEAR, type Series } from './series.ts'

const WINDOW = 365

/**
 * Return, volatility, Sharpe ratio and beta of the 365 days up to and including each day from the 365th on, NaN where one is
 * undefined. Each is as the figure of the same name is defined for a whole series: the Sharpe ratio is undefined if the
 * window is flat, beta if the benchmark is, or without a benchmark, and all but the return of a window that ends after
 * ruin. The return of a window that begins after ruin is undefined too.
 */
export function rollingFigures(path: AccountPath, benchmark: Series | null) {
  const { daily, k, curve, ruinDay } = path
  const market = benchmarkOver(daily, benchmark)?.values ?? null
  const count = Math.max(daily.values.length - WINDOW + 1, 0)
  const column = () => new Float64Array(count).fill(Number.NaN)
  const figures = {
    first: daily.first + WINDOW - 1,
    return_pct: column(),
    volatility_pct: column(),
    sharpe: column(),
    beta: column(),
  }
  for (let from = 0; from < count; from++) {
    const before = curve[from]!
    if (before > 0) figures.return_pct[from] = publishable(percent(curve[from + WINDOW]! / before - 1))
    if (ruinDay !== null && from + WINDOW > ruinDay) continue
    const own = daily.values.subarray(from, from + WINDOW)
    const its = market?.subarray(from, from + WINDOW) ?? own
    const { xMean, xx, yy, xy } = products(own, its)
    const deviation = isFlat(own) ? 0 : Math.sqrt(xx / (WINDOW - 1))
    figures.volatility_pct[from] = publishable(percent(k * deviation * YEAR))
    if (deviation > 0) figures.sharpe[from] = (xMean / deviation) * YEAR
    if (market !== null && !isFlat(its)) figures.beta[from] = k * (xy / yy)
  }
  return figures
}

const YEAR = Math.sqrt(DAYS_PER_YEAR)

function publishable(value: number): number {
  if (value <= LARGEST_PUBLISHED) return value
  throw new RangeError(`a figure of ${WINDOW} days must be small enough to be published, got ${value}`)
}
