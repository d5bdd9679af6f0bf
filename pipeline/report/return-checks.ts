import { median } from 'simple-statistics'
import { DAY_MS, toIsoInstant } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import { counted } from '../book/field.ts'
import type { Found } from './finding.ts'
import { all, type Check, runChecks } from './run-checks.ts'

/** A typical day of a strategy moves the account by less; of percents taken for fractions it moves it by more. */
const LARGE_DAY = 0.1

/** Fewer days are no pattern. */
const LEAST_DAYS = 10

type Data = { readonly daily: Series; readonly nowMs: number }

const startOf = ({ daily }: Data, i: number): number => (daily.first + i) * DAY_MS

const CHECKS: readonly Check<Data>[] = [
  {
    ...{ code: 'future_returns', severity: 'blocking', group: all },
    is: data => i => startOf(data, i) + DAY_MS > data.nowMs,
    what: ({ nowMs }, { length }) =>
      `${counted(length, 'day')} that ${length === 1 ? 'is' : 'are'} not over, while it is ${toIsoInstant(nowMs)}`,
    fix: 'remove them',
  },
  {
    ...{ code: 'percent_returns', severity: 'serious', group: all },
    is: data => {
      const isLarge = typicalMove(data) > LARGE_DAY
      return () => isLarge
    },
    what: data =>
      `expected fractions (0.01 = +1 %), got a median move of ${Number(typicalMove(data).toPrecision(3))} a day`,
    fix: 'divide percents by 100',
  },
]

function typicalMove({ daily }: Data): number {
  const moves = [...daily.values].filter(value => value !== 0).map(Math.abs)
  return moves.length < LEAST_DAYS ? 0 : median(moves)
}

/** Checks daily returns as reported. */
export const checkReturns = (daily: Series, nowMs: number): Found[] =>
  runChecks(CHECKS, { daily, nowMs }, daily.values.length, (data, i) => [startOf(data, i), startOf(data, i)])
