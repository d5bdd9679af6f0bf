import type { AccountPath } from './account-path.ts'
import { type CalendarPeriod, calendarMonths, calendarYears, periodReturns } from './calendar-periods.ts'

/** The months of a path, up to the one of its ruin: after it there is nothing that could earn a return. */
export const livingMonths = ({ daily, ruinDay }: AccountPath): CalendarPeriod[] =>
  until(ruinDay, calendarMonths(daily.first, daily.values.length))

/** The years of a path, on the same terms. */
export const livingYears = ({ daily, ruinDay }: AccountPath): CalendarPeriod[] =>
  until(ruinDay, calendarYears(daily.first, daily.values.length))

/** The periods that the series covers wholly; they follow each other without a gap. */
export const completeOf = (periods: readonly CalendarPeriod[]): CalendarPeriod[] =>
  periods.filter(({ partial }) => !partial)

/** Returns of the complete months, fractions. */
export const completeMonthReturns = (path: AccountPath): number[] =>
  periodReturns(path.curve, completeOf(livingMonths(path)))

const until = (ruinDay: number | null, periods: CalendarPeriod[]): CalendarPeriod[] =>
  ruinDay === null ? periods : periods.filter(({ from }) => from <= ruinDay)
