import { median } from 'simple-statistics'
import { DAY_MS, toEpochDay, toIsoInstant } from '#core/calendar.ts'
import { lastDay, type Series } from '#core/figures/series.ts'
import { counted } from '../book/field.ts'
import type { Found } from './finding.ts'

/** A typical day of a strategy moves the account by less; of percents taken for fractions it moves it by more. */
const LARGE_DAY = 0.1

/** Fewer days are no pattern. */
const LEAST_DAYS = 10

/** Checks daily returns as reported. */
export function checkReturns(daily: Series, nowMs: number): Found[] {
  const { first, values } = daily
  const today = toEpochDay(nowMs)
  const future = Math.min(Math.max(lastDay(daily) - today + 1, 0), values.length)
  const moves = [...values].filter(value => value !== 0).map(Math.abs)
  const typical = moves.length < LEAST_DAYS ? 0 : median(moves)
  const findings: Found[] = []
  if (future > 0)
    findings.push({
      code: 'future_returns',
      severity: 'blocking',
      from: Math.max(first, today) * DAY_MS,
      to: lastDay(daily) * DAY_MS,
      at: [values.length - future],
      count: future,
      what: `${counted(future, 'day')} that ${future === 1 ? 'is' : 'are'} not over, while it is ${toIsoInstant(nowMs)}`,
      fix: 'remove them',
    })
  if (typical > LARGE_DAY)
    findings.push({
      code: 'percent_returns',
      severity: 'serious',
      from: first * DAY_MS,
      to: lastDay(daily) * DAY_MS,
      at: [],
      count: moves.length,
      what: `expected fractions (0.01 = +1 %), got a median move of ${Number(typical.toPrecision(3))} a day`,
      fix: 'divide percents by 100',
    })
  return findings
}
