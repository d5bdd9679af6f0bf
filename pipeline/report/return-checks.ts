import { median, sampleCorrelation } from 'simple-statistics'
import { DAY_MS } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import type { Found } from './finding.ts'
import { all, type Check, inFuture, runChecks } from './run-checks.ts'

/** A typical day of a strategy moves the account by less; of percents taken for fractions it moves it by more. */
const LARGE_DAY = 0.1

/** Fewer days are no pattern. */
const LEAST_DAYS = 10

/** Each value of a walk of so many days correlates with the one before by more; the returns of a market do not by far. */
const LEAST_LEVEL_DAYS = 60
const LEVEL_CORRELATION = 0.8

type Data = ReturnType<typeof factsOf>

/** The midnights of its days. */
export const startsOf = ({ first, values }: Series): Float64Array =>
  values.map((_, i) => (first + i) * DAY_MS)

const CHECKS: readonly Check<Data>[] = [
  inFuture('return', ({ daily }, i) => (daily.first + i + 1) * DAY_MS, 'of a day that is not over'),
  {
    ...{ code: 'percent_returns', severity: 'serious', group: all },
    is: ({ move, isLevel }) => move > LARGE_DAY && !isLevel,
    what: ({ move }) =>
      `expected fractions (0.01 = +1 %), got a median move of ${Number(move.toPrecision(3))} a day`,
    fix: 'divide percents by 100',
  },
  {
    ...{ code: 'level_returns', severity: 'serious', group: all },
    // The same days every night, so that an acceptance holds.
    is: ({ isLevel }, i) => isLevel && i < LEAST_LEVEL_DAYS,
    what: () => 'expected the return of each day, got values that follow from those of the day before',
    fix: 'if they are returns since the start, or the equity, divide the equity by that of the day before',
  },
]

/** The typical move, and whether each value follows from the one before, as in a walk. */
function factsOf(daily: Series, nowMs: number) {
  const values = [...daily.values]
  const moves = values.filter(value => value !== 0).map(Math.abs)
  const isLevel =
    values.length >= LEAST_LEVEL_DAYS &&
    sampleCorrelation(values.slice(1), values.slice(0, -1)) > LEVEL_CORRELATION
  return { daily, nowMs, isLevel, move: moves.length < LEAST_DAYS ? 0 : median(moves) }
}

export const checkReturns = (daily: Series, nowMs: number): Found[] =>
  runChecks(CHECKS, factsOf(daily, nowMs), startsOf(daily))
