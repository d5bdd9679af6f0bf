/**
 * The equity is under water if it is below the peak by more than this part of it. Compounding leaves errors
 * of a few units in the last place; without a tolerance they would be drawdowns of 1e-16.
 */
const UNDERWATER_TOLERANCE = 1e-12

/**
 * Drawdown of every day: `E_i / peak_i - 1` if the equity is under water, `E_i < peak_{i-1} * (1 - 1e-12)`,
 * and exactly 0 on every other day. Fractions, never positive; -1 after ruin.
 *
 * @param curve equity with its baseline first (`n + 1` points); the baseline is the first peak
 * @returns `n` depths, one a day
 */
export function drawdowns(curve: Float64Array): Float64Array {
  const depths = new Float64Array(curve.length - 1)
  let peak = curve[0]!
  for (let i = 1; i < curve.length; i++) {
    const level = curve[i]!
    if (level < peak * (1 - UNDERWATER_TOLERANCE)) depths[i - 1] = level / peak - 1
    else if (level > peak) peak = level
  }
  return depths
}

/** The deepest of the daily drawdowns, a fraction; 0 if the equity was never under water. */
export const maxDrawdown = (depths: Float64Array): number =>
  depths.reduce((deepest, depth) => Math.min(deepest, depth), 0)

/** Days under water. */
export const daysUnderwater = (depths: Float64Array): number => depths.filter(depth => depth < 0).length

/**
 * Ulcer index, a fraction: the root mean square of the drawdowns of all days, those at a peak included. At
 * least one day. Source: Peter G. Martin and Byron B. McCann, The Investor's Guide to Fidelity Funds, 1989.
 */
export const ulcerIndex = (depths: Float64Array): number =>
  Math.sqrt(depths.reduce((sum, depth) => sum + depth * depth, 0) / depths.length)

/** Pain index, a fraction: the mean absolute drawdown of all days. At least one day. */
export const painIndex = (depths: Float64Array): number =>
  depths.reduce((sum, depth) => sum - depth, 0) / depths.length

/**
 * A run of days under water, as indices of days: day `i` is that of return `i`, so -1 is the day of the
 * baseline. The peak is the day before the first day under water, the recovery the first day after the last,
 * or null while the episode is open.
 */
export type DrawdownEpisode = {
  readonly peak: number
  readonly trough: number
  readonly recovery: number | null
  /** At the trough, a negative fraction. The first of equal depths is the trough. */
  readonly depth: number
  readonly underwaterDays: number
}

/** The episodes of a series of daily drawdowns, in order of time. */
export function drawdownEpisodes(depths: Float64Array): DrawdownEpisode[] {
  const episodes: DrawdownEpisode[] = []
  for (let day = 0; day < depths.length; day++) {
    if (depths[day]! >= 0) continue
    const episode = episodeFrom(depths, day)
    episodes.push(episode)
    day += episode.underwaterDays
  }
  return episodes
}

/** The deepest episodes, deepest first, equal depths by date. */
export const deepestEpisodes = (episodes: readonly DrawdownEpisode[], count: number): DrawdownEpisode[] =>
  episodes.toSorted((a, b) => a.depth - b.depth || a.peak - b.peak).slice(0, count)

function episodeFrom(depths: Float64Array, start: number): DrawdownEpisode {
  let trough = start
  let end = start
  for (; end < depths.length && depths[end]! < 0; end++) if (depths[end]! < depths[trough]!) trough = end
  return {
    peak: start - 1,
    trough,
    recovery: end < depths.length ? end : null,
    depth: depths[trough]!,
    underwaterDays: end - start,
  }
}
