import { dailyPath } from './account-path.ts'
import { type Figure, undefinedBecause } from './figure.ts'
import { headlineFigures } from './performance.ts'
import type { Series } from './series.ts'
import { splitFigures } from './split-figures.ts'

/** How many entries a module asked for in a replay, and how many of them the leverage cap refused. */
export type Entries = { readonly asked: number; readonly refused: number }

/** A replay of a module at another risk level, a fraction. */
export type LevelReplay = {
  readonly risk_pct: number
  readonly daily: Series
  /** Closed trades. */
  readonly trade_count: number
  readonly entries: Entries
}

/** The replays of a module: the entries at base risk, and what was replayed at other levels. */
export type ReplayData = { readonly entries: Entries; readonly levels: readonly LevelReplay[] }

/**
 * The `replays` block: what a replay at another risk level gives, beside the rescale to that level. The rescale lets a
 * position grow and shrink with the account every day, and knows no leverage cap. The entries are undefined without a
 * module (`no_module`).
 *
 * @param daily returns at base risk
 */
export const replayFigures = (data: ReplayData | null, daily: Series, baseRisk: number) => ({
  entries_asked: ofModule(data?.entries.asked),
  entries_refused: ofModule(data?.entries.refused),
  table: (data?.levels ?? []).map(level => ({
    risk_pct: level.risk_pct,
    replayed: {
      ...valuesOf(level.daily, 1),
      trade_count: level.trade_count,
      entries_asked: level.entries.asked,
      entries_refused: level.entries.refused,
    },
    rescaled: valuesOf(daily, level.risk_pct / baseRisk),
  })),
})

const ofModule = (count: number | undefined): Figure => count ?? undefinedBecause('no_module')

/** The row has the values alone: tables give no reasons. */
const valuesOf = (daily: Series, k: number) => splitFigures(headlineFigures(dailyPath(daily, k))).values
