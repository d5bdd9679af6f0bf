import { LARGEST_PUBLISHED } from './account-path.ts'
import { type Figure, percent, undefinedBecause } from './figure.ts'
import { quantile } from './quantile.ts'
import { DAYS_PER_YEAR, type Series } from './series.ts'

/** How the years are drawn: published beside the figures. */
export const YEAR_AHEAD = {
  draws: 2000,
  year_days: DAYS_PER_YEAR,
  block_days: 30,
  generator: 'xorshift32',
  seed: 2_463_534_242,
} as const

/** Percents of the drawn years. */
export const QUANTILES = [5, 25, 50, 75, 95] as const

/**
 * What years drawn from the days of a series were like at `k` times its base risk; it says nothing of days that are not in
 * it. Percent: quantiles (type 7) of the return of a year and of its max drawdown (`p5` is the deepest), the share of years in
 * which the equity is on any day at or below 90, 80 or 50 % of its start, and of those that end below their start. A day with
 * `1 + k * r <= 0` is ruin, which ends its year at 0. Undefined on fewer than 365 days (`less_than_one_year`). Throws a
 * RangeError if the equity of a year is larger than a published number may be.
 *
 * Circular block bootstrap: a year is 365 days in blocks of 30, the last cut to 5; a block is consecutive days from a drawn
 * one on, after the last day the first. The n-th block begins at day `floor(x_n * N / 2^32)` of the `N` days, where `x_n` is
 * the n-th number of `xorshift32` (Marsaglia, Xorshift RNGs, 2003): `x ^= x << 13; x ^= x >> 17; x ^= x << 5` in 32 bits,
 * from the seed 2463534242. The chance of a day differs from `1 / N` by at most `2^-31`. The draws are the same at each `k`. Source: Politis and Romano, A circular block-resampling procedure for stationary data, 1992.
 */
export function yearAheadFigures({ values }: Pick<Series, 'values'>, k: number) {
  const years = values.length < DAYS_PER_YEAR ? null : drawYears(values, k)
  const pct = (compute: (drawn: Years) => number): Figure =>
    years === null ? undefinedBecause('less_than_one_year') : percent(compute(years))
  const quantiles = <Name extends string>(name: Name, column: keyof Years) =>
    Object.fromEntries(
      QUANTILES.map(p => [`${name}_p${p}_pct`, pct(drawn => quantile(drawn[column], p / 100))]),
    ) as Record<`${Name}_p${(typeof QUANTILES)[number]}_pct`, Figure> // those names and no others
  const share = (column: keyof Years, isMember: (value: number) => boolean) =>
    pct(drawn => drawn[column].filter(isMember).length / YEAR_AHEAD.draws)
  return {
    ...quantiles('return', 'returns'),
    ...quantiles('max_drawdown', 'drawdowns'),
    loss_10_probability_pct: share('lows', low => low <= 0.9),
    loss_20_probability_pct: share('lows', low => low <= 0.8),
    loss_50_probability_pct: share('lows', low => low <= 0.5),
    below_start_probability_pct: share('returns', value => value < 0),
  }
}

type Years = ReturnType<typeof drawYears>

/** Of the drawn years: returns and max drawdowns, ascending, and in the order of the draws the lowest equities. */
function drawYears(values: Float64Array, k: number) {
  const { draws, year_days, block_days, seed } = YEAR_AHEAD
  const whole = blocksOf(values, k, block_days)
  const rest = blocksOf(values, k, year_days % block_days)
  const column = () => new Float64Array(draws)
  const years = { returns: column(), drawdowns: column(), lows: column() }
  let x: number = seed
  for (let year = 0; year < draws; year++) {
    let [level, peak, low, depth] = [1, 1, 1, 1]
    for (let left: number = year_days; left > 0; left -= block_days) {
      x ^= x << 13
      x ^= x >>> 17
      x ^= x << 5
      const block = left < block_days ? rest : whole
      const start = Math.floor(((x >>> 0) * values.length) / 2 ** 32)
      const lowest = level * block.low[start]!
      depth = Math.min(depth, block.depth[start]!, lowest / peak)
      low = Math.min(low, lowest)
      peak = Math.max(peak, level * block.high[start]!)
      level *= block.end[start]!
      if (!(peak <= LARGEST_PUBLISHED)) throw tooLarge(k)
    }
    years.returns[year] = level - 1
    years.drawdowns[year] = depth - 1
    years.lows[year] = low
  }
  years.returns.sort()
  years.drawdowns.sort()
  return years
}

/**
 * Of the block that begins on each day, from equity 1: its last, highest and lowest equity, and the lowest part of a peak that
 * was left. Years share blocks, so that each is compounded once.
 */
function blocksOf(values: Float64Array, k: number, days: number) {
  const n = values.length
  const growth = values.map(value => Math.max(1 + k * value, 0))
  const column = () => new Float64Array(n)
  const blocks = { end: column(), high: column(), low: column(), depth: column() }
  for (let start = 0; start < n; start++) {
    let [level, high, low, depth] = [1, 1, 1, 1]
    for (let i = start; i < start + days; i++) {
      level *= growth[i < n ? i : i - n]!
      high = Math.max(high, level)
      low = Math.min(low, level)
      depth = Math.min(depth, level / high)
    }
    if (!(high <= LARGEST_PUBLISHED)) throw tooLarge(k)
    blocks.end[start] = level
    blocks.high[start] = high
    blocks.low[start] = low
    blocks.depth[start] = depth
  }
  return blocks
}

const tooLarge = (k: number): RangeError =>
  new RangeError(
    `the equity of a year drawn from the returns times ${k} must be small enough to be published`,
  )
