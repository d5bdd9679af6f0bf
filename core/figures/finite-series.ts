import { toIsoDate } from '#core/calendar.ts'
import { dayOf, type Series } from './series.ts'

/** Throws, naming the first such day, where a return is not a finite number: it is never filled in or skipped. */
export function assertFinite(series: Series): void {
  const { values } = series
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) throw notFinite(series, i)
}

const notFinite = (series: Series, i: number): RangeError =>
  new RangeError(
    `the ${series.period} return of ${toIsoDate(dayOf(series, i))} must be a finite number, got ` +
      `${series.values[i]}; mend the source of the series, a return is never filled in or skipped`,
  )
