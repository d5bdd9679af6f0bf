// The blocks that are computed from bars or a module beside the ledger: costs, excursions, replays.
import { allUndefined, dailyPath } from './account-path.ts'
import { type Figure, mapFigure, NEGLIGIBLE, percent, splitFigures, undefinedBecause } from './figure.ts'
import { mean } from './moments.ts'
import { headlineFigures } from './performance.ts'
import { quantile } from './quantile.ts'
import { NO_DAYS, type Series } from './series.ts'
import { QUANTILES } from './year-ahead.ts'

/** A closed trade and what its costs took, fractions of account equity at entry. */
export type TradeCosts = {
  /** All costs in. */
  readonly result: number
  /** The commissions of both fills. */
  readonly fees: number
  /** The slippage of both fills. */
  readonly slippage: number
  /** Negative if received. */
  readonly funding: number
}

export type CostData = {
  readonly trades: readonly TradeCosts[]
  /** The daily returns at twice the costs. */
  readonly doubled: Series
}

/**
 * The `costs` block: what each cost took of the gross profit, which is the sum of the results that are positive before
 * costs, and what is left at twice the costs. The shares are undefined without trades (`no_trades`) and without a gross
 * profit (`no_wins`); all of it without the costs of every trade (`unknown_leverage`).
 *
 * @param k factor on the returns at twice the costs; the shares do not depend on it
 */
export function costFigures(data: CostData | null, k: number) {
  const trades = data?.trades ?? []
  const gross = data === null ? undefinedBecause('unknown_leverage') : grossProfit(trades)
  const shareOf = (part: 'fees' | 'slippage' | 'funding'): Figure =>
    mapFigure(gross, profit => percent(trades.reduce((sum, trade) => sum + trade[part], 0) / profit))
  const twice = headlineFigures(dailyPath(data?.doubled ?? NO_DAYS, k))
  return {
    fees_pct_of_gross_profit: shareOf('fees'),
    slippage_pct_of_gross_profit: shareOf('slippage'),
    funding_pct_of_gross_profit: shareOf('funding'),
    at_twice_the_costs: data === null ? allUndefined(twice, 'unknown_leverage') : twice,
  }
}

function grossProfit(trades: readonly TradeCosts[]): Figure {
  if (trades.length === 0) return undefinedBecause('no_trades')
  let sum = 0
  for (const { result, fees, slippage, funding } of trades) {
    sum += Math.max(result + fees + slippage + funding, 0)
  }
  return sum > NEGLIGIBLE ? sum : undefinedBecause('no_wins')
}

/** How far the price went against a closed trade and for it, in R: `adverse <= 0 <= favourable`. */
export type Excursion = { readonly adverse: number; readonly favourable: number }

/** With fewer trades a distribution would almost be a list of them. */
const FEWEST_TRADES = 20

/**
 * The `excursions` block: mean and quantiles (type 7) of the maximum adverse and the maximum favourable excursion of the
 * closed trades, in R. A single trade is never published. Undefined below 20 trades (`too_few_points`), and if they
 * cannot be followed on bars (`unknown_leverage`). Source: Sweeney, Maximum Adverse Excursion, 1997.
 */
export const excursionFigures = (excursions: readonly Excursion[] | null) => ({
  mae_r: distribution(excursions?.map(({ adverse }) => adverse)),
  mfe_r: distribution(excursions?.map(({ favourable }) => favourable)),
})

function distribution(values: readonly number[] | undefined) {
  const sorted = Float64Array.from(values ?? []).sort()
  const of = (statistic: () => number): Figure => {
    if (values === undefined) return undefinedBecause('unknown_leverage')
    return values.length < FEWEST_TRADES ? undefinedBecause('too_few_points') : statistic()
  }
  return {
    mean: of(() => mean(sorted)),
    ...Object.fromEntries(QUANTILES.map(p => [`p${p}`, of(() => quantile(sorted, p / 100))])),
  }
}

/** How many entries a module asked for in a replay, and how many of them the leverage cap refused. */
export type Entries = { readonly asked: number; readonly refused: number }

/** A replay of a module at another risk level, a fraction. */
export type LevelReplay = {
  readonly risk_pct: number
  readonly daily: Series
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
