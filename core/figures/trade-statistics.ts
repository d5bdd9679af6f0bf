import { max, mean, median, min, sampleStandardDeviation, sum } from 'simple-statistics'
import { DAY_MS, toEpochDay, toIsoDate } from '#core/calendar.ts'
import {
  type Figure,
  mapFigure,
  NEGLIGIBLE,
  percent,
  share,
  type UndefinedReason,
  undefinedBecause,
} from './figure.ts'
import { gainsOverLosses, isFlat, longestRun } from './moments.ts'
import { DAYS_PER_YEAR, FEWEST_DAYS, lastDay, type Series } from './series.ts'

/** The part of a closed trade that the statistics need. Times in epoch milliseconds. */
export type TradeOutcome = {
  readonly side: 'long' | 'short'
  readonly entry_time: number
  readonly exit_time: number
  /** Net return as a fraction of account equity at entry, at base risk. */
  readonly account_return: number
  /** Net return per unit of notional as it is published with the trade, percent. */
  readonly return_pct: number
}

/** A position that is still open at the end of the series. */
export type OpenTrade = Pick<TradeOutcome, 'side' | 'entry_time'>

const accountReturns = (trades: readonly TradeOutcome[]): number[] =>
  trades.map(({ account_return }) => account_return)

/** A statistic of trades; undefined without any (`no_trades`). */
const ofTrades = <T>(values: T[], statistic: (values: T[]) => Figure): Figure =>
  values.length === 0 ? undefinedBecause('no_trades') : statistic(values)

const HOUR_MS = 3_600_000

/**
 * The `trades` block. Without trades every figure is undefined (`no_trades`); figures of wins need a win
 * (`no_wins`), figures of losses a loss (`no_losses`), a deviation two trades, and the Kelly fraction and the trades of
 * a year 90 days (`too_few_points`). They depend on the ledger and not on the equity, so a ruined account keeps them.
 *
 * @param nDays days of the series, for trades per year
 * @param k factor on every outcome
 * @param baseRisk `base_risk_pct`, a fraction: one R at `k` = 1
 */
export function tradeStatistics(trades: readonly TradeOutcome[], nDays: number, k: number, baseRisk: number) {
  const outcomes = accountReturns(trades)
  const byExit = accountReturns(
    trades.toSorted((a, b) => a.exit_time - b.exit_time || a.entry_time - b.entry_time),
  )
  return {
    ...sideFigures(trades),
    ...outcomeFigures(outcomes, k, baseRisk),
    ...winLossFigures(outcomes, k, nDays),
    // By exit time; a trade of exactly 0 ends both.
    max_consecutive_wins: longestRun(byExit, 1),
    max_consecutive_losses: longestRun(byExit, -1),
    ...holdingHours(trades),
    trades_per_year: ofTrades(outcomes, ({ length }) =>
      nDays < FEWEST_DAYS ? undefinedBecause('too_few_points') : (length / nDays) * DAYS_PER_YEAR,
    ),
    long: sideFigures(trades.filter(({ side }) => side === 'long')),
    short: sideFigures(trades.filter(({ side }) => side === 'short')),
  }
}

function sideFigures(trades: readonly TradeOutcome[]) {
  const { trade_count, ...figures } = tradeFigures(trades)
  return { count: trade_count, ...figures }
}

function holdingHours(trades: readonly TradeOutcome[]) {
  const hours = trades.map(({ entry_time, exit_time }) => (exit_time - entry_time) / HOUR_MS)
  return {
    average_holding_hours: ofTrades(hours, mean),
    median_holding_hours: ofTrades(hours, median),
    max_holding_hours: ofTrades(hours, max),
  }
}

/**
 * Count, win rate and profit factor of closed trades, each weighted by its net return on account equity, and
 * the profit factor also with equal notionals (`profit_factor_notional`); they do not depend on the risk level, which
 * multiplies wins and losses alike. A trade of exactly 0 counts and is not a win. Undefined without trades
 * (`no_trades`).
 */
export function tradeFigures(trades: readonly TradeOutcome[]) {
  const outcomes = accountReturns(trades)
  return {
    trade_count: outcomes.length,
    win_rate_pct: winRatePct(outcomes),
    profit_factor: profitFactor(outcomes),
    profit_factor_notional: profitFactor(trades.map(({ return_pct }) => return_pct)),
  }
}

/** `100 * wins / trades`. */
export const winRatePct = (outcomes: number[]): Figure =>
  ofTrades(outcomes, all => percent(all.filter(outcome => outcome > 0).length / all.length))

/** Sum of the wins / sum of the losses: 0 without a win, undefined if losses `<= 1e-12` (`no_losses`). */
export const profitFactor = (outcomes: number[]): Figure => ofTrades(outcomes, gainsOverLosses)

/** The distribution of the outcomes. One R is the equity at risk in a trade, at any risk level. */
function outcomeFigures(values: number[], k: number, baseRisk: number) {
  const statisticPct = (of: (values: number[]) => number): Figure =>
    ofTrades(values, all => percent(k * of(all)))
  return {
    expectancy_pct: statisticPct(mean),
    expectancy_r: ofTrades(values, all => mean(all) / baseRisk),
    median_trade_pct: statisticPct(median),
    std_trade_pct:
      values.length === 1 ? undefinedBecause('too_few_points') : statisticPct(sampleStandardDeviation),
    best_trade_pct: statisticPct(max),
    worst_trade_pct: statisticPct(min),
    // The worst losing trade, negative.
    largest_loss_r: ofTrades(values, all =>
      min(all) < 0 ? min(all) / baseRisk : undefinedBecause('no_losses'),
    ),
    sqn: ofTrades(values, systemQuality),
  }
}

/** System quality number, `sqrt(N) * mean / std` (Van K. Tharp, Trade Your Way to Financial Freedom). */
function systemQuality(values: number[]): Figure {
  if (values.length === 1) return undefinedBecause('too_few_points')
  if (isFlat(Float64Array.from(values))) return undefinedBecause('zero_variance')
  return (Math.sqrt(values.length) * mean(values)) / sampleStandardDeviation(values)
}

/**
 * Wins against losses; outcomes of exactly 0 are neither. The Kelly fraction, `p - (1 - p) / payoff` with the
 * win rate p, is the fraction of equity to risk per trade if one loss is 1 R. The ratios ignore `k`.
 */
function winLossFigures(outcomes: readonly number[], k: number, nDays: number) {
  const wins = outcomes.filter(outcome => outcome > 0)
  const losses = outcomes.filter(outcome => outcome < 0)
  const none = (reason: UndefinedReason) => (outcomes.length === 0 ? 'no_trades' : reason)
  const averageWin = average(wins, none('no_wins'))
  const averageLoss = average(losses, none('no_losses'))
  const payoff = payoffRatio(averageWin, averageLoss)
  const winRate = wins.length / outcomes.length
  const best = wins.toSorted((a, b) => b - a).slice(0, 5)
  return {
    wins: wins.length,
    losses: losses.length,
    breakeven: outcomes.length - wins.length - losses.length,
    average_win_pct: mapFigure(averageWin, win => percent(k * win)),
    average_loss_pct: mapFigure(averageLoss, loss => percent(k * loss)),
    payoff_ratio: payoff,
    kelly_fraction: mapFigure(payoff, ratio =>
      nDays < FEWEST_DAYS ? undefinedBecause('too_few_points') : winRate - (1 - winRate) / ratio,
    ),
    top5_wins_share_of_gross_profit_pct: mapFigure(averageWin, () => percent(sum(best) / sum(wins))),
  }
}

const average = (outcomes: number[], ifNone: UndefinedReason): Figure =>
  outcomes.length === 0 ? undefinedBecause(ifNone) : mean(outcomes)

/** Negligible wins and losses are not counted, so that the ratio and its inverse are finite. */
const payoffRatio = (averageWin: Figure, averageLoss: Figure): Figure =>
  mapFigure(averageWin, win => {
    if (win <= NEGLIGIBLE) return undefinedBecause('no_wins')
    return mapFigure(averageLoss, loss => (-loss > NEGLIGIBLE ? win / -loss : undefinedBecause('no_losses')))
  })

/**
 * The `exposure` block: the share of the window in which positions are open; the window is the days of the
 * series from midnight to midnight. Undefined without positions (`no_trades`), because a strategy that only
 * reports its returns has positions too. It does not depend on the equity, so it is the same at every risk
 * level. A position that is open at the end of the series lasts to the end of the window.
 */
export function exposureFigures(daily: Series, trades: readonly Position[], open: readonly OpenTrade[]) {
  const positions = [...trades, ...open.map(position => ({ ...position, exit_time: Infinity }))]
  const begin = daily.first * DAY_MS
  const end = (lastDay(daily) + 1) * DAY_MS
  const timeOf = (some: readonly Position[]) => positionTime(some, begin, end)
  const ofWindow = (value: number): Figure => {
    if (positions.length === 0) return undefinedBecause('no_trades')
    return end > begin ? value : undefinedBecause('too_few_points')
  }
  const marketPct = ({ unionMs }: { unionMs: number }): Figure => ofWindow(percent(unionMs / (end - begin)))
  const all = timeOf(positions)
  return {
    active_days_pct: share(daily.values.filter(value => value !== 0).length, daily.values.length),
    time_in_market_pct: marketPct(all),
    long_time_pct: marketPct(timeOf(positions.filter(({ side }) => side === 'long'))),
    short_time_pct: marketPct(timeOf(positions.filter(({ side }) => side === 'short'))),
    average_concurrent_positions: ofWindow(all.totalMs / (end - begin)),
    max_concurrent_positions: ofWindow(all.maxConcurrent),
    open_since: openSince(daily, open),
  }
}

/** The day of the oldest position that is open at the end of the series, an ISO date, or null. */
function openSince(daily: Series, open: readonly OpenTrade[]): string | null {
  const oldest = Math.min(...open.map(({ entry_time }) => toEpochDay(entry_time)))
  return oldest <= lastDay(daily) ? toIsoDate(oldest) : null
}

export type Position = Pick<TradeOutcome, 'side' | 'entry_time' | 'exit_time'>
type Interval = Omit<Position, 'side'>

/**
 * The time in the window `[beginMs, endMs)` during which positions are open; the parts outside are cut off. A
 * position is open over `[entry, exit)`. At equal instants exits come before entries, so a reversal never
 * counts as two positions at once.
 */
export function positionTime(positions: readonly Interval[], beginMs: number, endMs: number) {
  const inside = positions
    .map(p => [Math.max(p.entry_time, beginMs), Math.min(p.exit_time, endMs)] as const)
    .filter(([entry, exit]) => entry < exit)
  const events = inside
    .flatMap(([entry, exit]) => [[entry, 1] as const, [exit, -1] as const])
    .sort(([a, opened], [b, alsoOpened]) => a - b || opened - alsoOpened)
  // The time with at least one position, and the sum of the times of all: two at once count twice.
  const result = { unionMs: 0, totalMs: 0, maxConcurrent: 0 }
  let [open, now] = [0, beginMs]
  for (const [instant, change] of events) {
    if (open > 0) result.unionMs += instant - now
    result.totalMs += open * (instant - now)
    open += change
    now = instant
    result.maxConcurrent = Math.max(result.maxConcurrent, open)
  }
  return result
}
