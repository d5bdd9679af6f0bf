// Series and ledgers that bring every statistic to each of the reasons for which it can be null.
import { constant, trade } from '../core/figures/series.ts'

/** Short of, at and past what tails, months and years need. */
export const DAYS = [0, 1, 2, 3, 4, 7, 14, 62, 100, 400, 800, 1200] as const

/** The first day of a month, and one within it. */
export const FIRST_DAYS = ['2020-01-01', '2020-01-17'] as const

/** Gains and losses that never repeat, the same on every run. */
const uneven = (length: number): number[] =>
  Array.from({ length }, (_, i) => 0.02 * Math.sin(1 + i * i) + 0.001)

const withRuin = (length: number): number[] => uneven(length).with(Math.floor(length / 2), -1)

/**
 * Four days of two values, the first higher than the others by this part: skewness and kurtosis then take all the
 * uncertainty from the Sharpe ratio, so that the probability that it is positive has no denominator.
 */
const STEP = 2 / (Math.sqrt(3) - 0.5)

export const RETURNS: readonly ((length: number) => number[])[] = [
  length => constant(0, length),
  length => constant(0.001, length),
  length => constant(-0.001, length),
  uneven,
  length => uneven(length).map(Math.abs),
  length => uneven(length).map(value => -Math.abs(value)),
  length => constant(0.01, length).map((value, i) => (i === 0 ? (1 + STEP) * value : value)),
  length => (length === 0 ? [] : withRuin(length)),
]

const ledger = (side: 'long' | 'short', ...results: number[]) =>
  results.map((result, i) => trade(`2020-01-0${1 + i}T00:00:00Z`, 5, result, side))

export const LEDGERS = [
  [],
  ledger('long', 0.01),
  ledger('short', -0.01),
  ledger('long', 0.01, 0.01),
  ledger('short', 0.01, 0.02),
  ledger('long', -0.01, -0.02),
  ledger('short', 0, 0),
  [...ledger('long', 0.01, -0.02, 0.03), ...ledger('short', 0.01, -0.02, 0)],
]
