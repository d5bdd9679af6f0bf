import { max, mean, median, min, sampleStandardDeviation } from 'simple-statistics'
import { type Figure, type UndefinedReason, undefinedBecause } from './figure.ts'
import { percent, share } from './percent.ts'

/** The distribution of the returns of complete months, or years. All in percent. */
export type PeriodStatistics = {
  readonly best: Figure
  readonly worst: Figure
  readonly average: Figure
  readonly median: Figure
  /** Sample standard deviation. */
  readonly std: Figure
  /** Share of the periods above 0. */
  readonly positive: Figure
  /** Averages of those above and below 0. */
  readonly averageUp: Figure
  readonly averageDown: Figure
}

/**
 * Statistics of the returns of complete periods, fractions. Without a period all are undefined, with one the deviation
 * (`too_few_points`); the averages need a gain (`no_wins`) or a loss (`no_losses`).
 */
export function periodStatistics(returns: readonly number[]): PeriodStatistics {
  return {
    best: percentOf(returns, max),
    worst: percentOf(returns, min),
    average: percentOf(returns, mean),
    median: percentOf(returns, median),
    std:
      returns.length < 2 ? undefinedBecause('too_few_points') : percentOf(returns, sampleStandardDeviation),
    positive: share(returns.filter(value => value > 0).length, returns.length),
    averageUp: averageAmong(returns, value => value > 0, 'no_wins'),
    averageDown: averageAmong(returns, value => value < 0, 'no_losses'),
  }
}

const percentOf = (
  returns: readonly number[],
  statistic: (values: number[]) => number,
  ifNone: UndefinedReason = 'too_few_points',
): Figure => (returns.length === 0 ? undefinedBecause(ifNone) : percent(statistic([...returns])))

function averageAmong(
  returns: readonly number[],
  isMember: (value: number) => boolean,
  ifNone: UndefinedReason,
): Figure {
  return percentOf(returns.filter(isMember), mean, returns.length === 0 ? 'too_few_points' : ifNone)
}
