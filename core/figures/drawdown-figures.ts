import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { type AccountPath, orTooFew, unlessRuined, worstReturn } from './account-path.ts'
import { type DrawdownEpisode, daysUnderwater, deepestEpisodes, drawdownEpisodes } from './drawdown.ts'
import { type Figure, percent, percentFigure, share, undefinedBecause } from './figure.ts'
import { longestRun } from './moments.ts'
import { tailMean } from './quantile.ts'
import type { Series } from './series.ts'

/** Rows of the table: the deepest drawdowns, deepest first, equal depths by date. */
const WORST_COUNT = 5

/** The averages leave shorter drawdowns out: a dip of one day would halve them and says nothing of how long losses last. */
const LASTING_DAYS = 2

/**
 * The `drawdowns` block. Counts, table and time under water are defined for a ruined account as well;
 * averages, tails and windows are not (`ruin`).
 */
export function drawdownFigures(path: AccountPath) {
  const { daily, depths, curve } = path
  const episodes = drawdownEpisodes(depths)
  const lasting = episodes.filter(({ underwaterDays }) => underwaterDays >= LASTING_DAYS)
  const last = episodes.at(-1)
  const sorted = depths.toSorted()
  return {
    worst: worstOf(daily, episodes),
    count: episodes.length,
    lasting_count: lasting.length,
    current_drawdown_pct: percent(depths.at(-1) ?? 0),
    current_underwater_days: last?.recovery === null ? last.underwaterDays : 0,
    pct_time_underwater: share(daysUnderwater(depths), depths.length),
    longest_days: longestRun(depths, -1),
    total_days: daysUnderwater(depths),
    ...unlessRuined(path, {
      ...averages(path, lasting),
      // Conditional drawdown at risk: the mean of the deepest 5 % and 1 % of the daily drawdowns.
      cdar_95_pct: percentFigure(tailMean(sorted, 20)),
      cdar_99_pct: percentFigure(tailMean(sorted, 100)),
      worst_7d_return_pct: percentFigure(worstReturn(curve, 7)),
      worst_30d_return_pct: percentFigure(worstReturn(curve, 30)),
      worst_90d_return_pct: percentFigure(worstReturn(curve, 90)),
      worst_365d_return_pct: percentFigure(worstReturn(curve, 365)),
    }),
  }
}

/** The table of the `drawdowns` block alone. */
export const worstDrawdowns = ({ daily, depths }: AccountPath) => worstOf(daily, drawdownEpisodes(depths))

const worstOf = ({ first }: Series, episodes: readonly DrawdownEpisode[]) =>
  deepestEpisodes(episodes, WORST_COUNT).map(episode => toRow(episode, first))

/** ISO dates; the peak may be the day before the first. Nulls while the drawdown is open. */
function toRow(episode: DrawdownEpisode, first: EpochDay) {
  const { peak, trough, recovery, depth, underwaterDays } = episode
  return {
    peak_t: toIsoDate(first + peak),
    trough_t: toIsoDate(first + trough),
    recovery_t: recovery === null ? null : toIsoDate(first + recovery),
    depth_pct: percent(depth),
    days_to_trough: trough - peak,
    days_to_recovery: recovery === null ? null : recovery - trough,
    underwater_days: underwaterDays,
  }
}

function averages(path: AccountPath, episodes: readonly DrawdownEpisode[]) {
  const average = (of: (episode: DrawdownEpisode) => number): Figure => {
    if (episodes.length === 0) return orTooFew(path, undefinedBecause('no_drawdown'))
    return episodes.reduce((sum, episode) => sum + of(episode), 0) / episodes.length
  }
  return {
    average_depth_pct: average(({ depth }) => percent(depth)),
    average_underwater_days: average(({ underwaterDays }) => underwaterDays),
  }
}
