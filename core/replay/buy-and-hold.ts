import { toEpochDay } from '#core/calendar.ts'
import type { Series } from '#core/figures/series.ts'
import type { Bars } from './bars.ts'

/**
 * Daily returns of holding the instrument of these bars, without costs: the last close of a day over the last close
 * before it, and of the first day over its first open. A day without bars returns 0, and the next day with bars catches
 * up. There must be at least one bar.
 */
export function buyAndHold({ t, o, c }: Bars): Series {
  const first = toEpochDay(t[0]!)
  const values = new Float64Array(toEpochDay(t.at(-1)!) - first + 1)
  let before = o[0]!
  for (let i = 0; i < t.length; i++) {
    const day = toEpochDay(t[i]!)
    if (i + 1 < t.length && toEpochDay(t[i + 1]!) === day) continue
    values[day - first] = c[i]! / before - 1
    before = c[i]!
  }
  return { period: 'daily', first, values }
}
