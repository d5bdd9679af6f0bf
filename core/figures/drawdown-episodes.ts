/**
 * A run of days under water, as indices of days: day `i` is that of return `i`, so -1 is the day of the baseline. The
 * peak is the day before the first day under water, the recovery the first day after the last; null while it is open.
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
