import { type AccountPath, LARGEST_PUBLISHED } from './account-path.ts'
import { benchmarkOver, beta } from './benchmark.ts'
import { isUndefined, percent } from './figure.ts'
import { sampleDeviation } from './moments.ts'
import { DAYS_PER_YEAR, type Series } from './series.ts'

const WINDOW = 365

/**
 * Return, volatility, Sharpe ratio and beta of the 365 days up to and including each day from the 365th on, NaN where one is
 * undefined. Each is as the figure of the same name is defined for a whole series: the Sharpe ratio is undefined if the
 * window is flat, beta if the benchmark is, or without a benchmark, and all but the return of a window that ends after
 * ruin. The return of a window that begins after ruin is undefined too.
 *
 * Cost: a few operations a day, because a window is the end of one block of 365 days and the start of the
 * next, whose moments are accumulated once from their common border. Nothing is ever subtracted, so no errors
 * accumulate. Windows that are nearly flat, where accumulated moments lose digits, are computed from their days.
 */
export function rollingFigures(path: AccountPath, benchmark: Series | null) {
  const { daily, k, curve, ruinDay } = path
  const { values } = daily
  const market = benchmarkOver(daily, benchmark)?.values ?? null
  const count = Math.max(values.length - WINDOW + 1, 0)
  const column = () => new Float64Array(count).fill(Number.NaN)
  const figures = {
    first: daily.first + WINDOW - 1,
    return_pct: column(),
    volatility_pct: column(),
    sharpe: column(),
    beta: column(),
  }
  for (let from = 0; from < count; from++) figures.return_pct[from] = returnPct(curve, from)
  const living = ruinDay === null ? count : Math.min(count, Math.max(ruinDay - WINDOW + 1, 0))
  eachWindow(values, market ?? values, living, (from, moments) => {
    const deviation = deviationIn(values, from, moments)
    figures.volatility_pct[from] = publishable(percent(k * deviation * YEAR))
    if (deviation > 0) figures.sharpe[from] = (moments.x / deviation) * YEAR
    if (market !== null) figures.beta[from] = k * betaIn(values, market, from, moments)
  })
  return figures
}

const YEAR = Math.sqrt(DAYS_PER_YEAR)

function returnPct(curve: Float64Array, from: number): number {
  const before = curve[from]!
  return before > 0 ? publishable(percent(curve[from + WINDOW]! / before - 1)) : Number.NaN
}

function publishable(value: number): number {
  if (value <= LARGEST_PUBLISHED) return value
  throw new RangeError(`a figure of ${WINDOW} days must be small enough to be published, got ${value}`)
}

const deviationIn = (values: Float64Array, from: number, { x, xx }: Moments): number =>
  isNearlyFlat(x, xx) ? sampleDeviation(values.subarray(from, from + WINDOW)) : Math.sqrt(xx / (WINDOW - 1))

function betaIn(values: Float64Array, market: Float64Array, from: number, { y, yy, xy }: Moments): number {
  if (!isNearlyFlat(y, yy)) return xy / yy
  const slope = beta(values.subarray(from, from + WINDOW), market.subarray(from, from + WINDOW))
  return isUndefined(slope) ? Number.NaN : slope
}

/** Whether a window is flat, or its deviation less than a ten thousandth of its mean. */
const isNearlyFlat = (mean: number, squares: number): boolean =>
  squares <= WINDOW * (1e-24 + 1e-8 * mean * mean)

/** Means, and sums of the squares and products of the deviations from them. */
type Moments = { count: number; x: number; y: number; xx: number; yy: number; xy: number }

const NONE: Moments = { count: 0, x: 0, y: 0, xx: 0, yy: 0, xy: 0 }

/** Calls `visit` with the first day and the moments of each of the first `count` windows. */
function eachWindow(
  x: Float64Array,
  y: Float64Array,
  count: number,
  visit: (from: number, moments: Moments) => void,
): void {
  for (let block = 0; block < count; block += WINDOW) {
    const border = block + WINDOW
    const before = momentsUpTo(x, y, block)
    let after = NONE
    for (let from = block; from < Math.min(border, count); from++) {
      visit(from, merged(before[from - block]!, after))
      after = added(after, x[from + WINDOW]!, y[from + WINDOW]!)
    }
  }
}

/** The moments from each day of a block to its last. */
function momentsUpTo(x: Float64Array, y: Float64Array, block: number): Moments[] {
  const all = new Array<Moments>(WINDOW)
  let moments = NONE
  for (let i = WINDOW - 1; i >= 0; i--) {
    moments = added(moments, x[block + i]!, y[block + i]!)
    all[i] = moments
  }
  return all
}

const added = (moments: Moments, x: number, y: number): Moments =>
  merged(moments, { count: 1, x, y, xx: 0, yy: 0, xy: 0 })

/** The moments of two parts together (Chan, Golub and LeVeque, The American Statistician 37, 1983). */
function merged(a: Moments, b: Moments): Moments {
  const count = a.count + b.count
  const part = b.count / count
  const weight = a.count * part
  const [dx, dy] = [b.x - a.x, b.y - a.y]
  return {
    count,
    x: a.x + dx * part,
    y: a.y + dy * part,
    xx: a.xx + b.xx + dx * dx * weight,
    yy: a.yy + b.yy + dy * dy * weight,
    xy: a.xy + b.xy + dx * dy * weight,
  }
}
