import { mean, sum } from 'simple-statistics'
import { type Figure, mapFigure, type UndefinedReason, undefinedBecause } from './figure.ts'
import { NEGLIGIBLE } from './negligible.ts'
import { percent } from './percent.ts'

/** Winning trades against losing ones. */
export type WinLossFigures = {
  readonly wins: number
  readonly losses: number
  /** Outcomes of exactly 0. */
  readonly breakeven: number
  readonly average_win_pct: Figure
  readonly average_loss_pct: Figure
  /** Average win / average loss. */
  readonly payoff_ratio: Figure
  /** `p - (1 - p) / payoff` with the win rate p: the fraction of equity to risk per trade, if one loss is 1 R. */
  readonly kelly_fraction: Figure
  /** What the five best trades are of all that was won. */
  readonly top5_wins_share_of_gross_profit_pct: Figure
}

const TOP_WINS = 5

/**
 * Figures of the wins and the losses among the outcomes of trades, fractions of account equity at base risk.
 *
 * @param k factor on every outcome; the ratios ignore it
 */
export function winLossFigures(outcomes: readonly number[], k: number): WinLossFigures {
  const wins = outcomes.filter(outcome => outcome > 0)
  const losses = outcomes.filter(outcome => outcome < 0)
  const none = (reason: UndefinedReason) => (outcomes.length === 0 ? 'no_trades' : reason)
  const averageWin = average(wins, none('no_wins'))
  const averageLoss = average(losses, none('no_losses'))
  const payoff = payoffRatio(averageWin, averageLoss)
  const winRate = wins.length / outcomes.length
  return {
    wins: wins.length,
    losses: losses.length,
    breakeven: outcomes.length - wins.length - losses.length,
    average_win_pct: mapFigure(averageWin, win => percent(k * win)),
    average_loss_pct: mapFigure(averageLoss, loss => percent(k * loss)),
    payoff_ratio: payoff,
    kelly_fraction: mapFigure(payoff, ratio => winRate - (1 - winRate) / ratio),
    top5_wins_share_of_gross_profit_pct: mapFigure(averageWin, () => percent(topShare(wins))),
  }
}

const average = (outcomes: number[], ifNone: UndefinedReason): Figure =>
  outcomes.length === 0 ? undefinedBecause(ifNone) : mean(outcomes)

/** Wins and losses that are negligible are none, so that the ratio and its inverse are finite. */
const payoffRatio = (averageWin: Figure, averageLoss: Figure): Figure =>
  mapFigure(averageWin, win => {
    if (win <= NEGLIGIBLE) return undefinedBecause('no_wins')
    return mapFigure(averageLoss, loss => (-loss > NEGLIGIBLE ? win / -loss : undefinedBecause('no_losses')))
  })

const topShare = (wins: readonly number[]): number => {
  const best = wins.toSorted((a, b) => b - a).slice(0, TOP_WINS)
  return sum(best) / sum([...wins])
}
