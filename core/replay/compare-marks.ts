import { type EpochDay, toIsoDate } from '#core/calendar.ts'
import { dayOf, lastDay, type Series } from '#core/figures/series.ts'

/**
 * How far two computations of the same daily returns may be apart. Both sum some thousand products of doubles
 * in different orders, which leaves 1e-13 or so; a rule that they read differently shows from 1e-6 up.
 */
export const DUAL_MARKS_BOUND = 1e-9

export type MarksComparison = {
  /** No day differs by more than `DUAL_MARKS_BOUND`. */
  readonly agree: boolean
  /** The day of the largest difference, the first of equals; null for empty series. */
  readonly worst_day: EpochDay | null
  readonly worst_difference: number
}

/**
 * The dual check: the daily returns of the engine against those made from ledger, closes and funding alone.
 * The difference is absolute, in units of return. Throws where the two do not cover the same days.
 */
export function compareMarks(engineDaily: Series, ledgerDaily: Series): MarksComparison {
  assertSameDays(engineDaily, ledgerDaily)
  let worst = engineDaily.values.length === 0 ? -1 : 0
  let worstDifference = 0
  for (let i = 0; i < engineDaily.values.length; i++) {
    const difference = Math.abs(engineDaily.values[i]! - ledgerDaily.values[i]!)
    // A NaN on either side is the worst of all, and "not <=" is the only comparison that finds it.
    if (!(difference <= worstDifference)) {
      worst = i
      worstDifference = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference
    }
  }
  return {
    agree: worstDifference <= DUAL_MARKS_BOUND,
    worst_day: worst < 0 ? null : dayOf(engineDaily, worst),
    worst_difference: worstDifference,
  }
}

function assertSameDays(a: Series, b: Series): void {
  if (a.period === b.period && a.first === b.first && a.values.length === b.values.length) return
  throw new Error(
    `two series of marks must cover the same days; one is ${describe(a)}, the other ${describe(b)}`,
  )
}

const describe = (series: Series): string =>
  `${series.period} from ${toIsoDate(series.first)} to ${toIsoDate(lastDay(series))}`
