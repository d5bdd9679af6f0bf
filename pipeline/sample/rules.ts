import { DAY_MS } from '#core/calendar.ts'
import { enter } from '#core/replay/reference/enter.ts'
import { createWindow, push, type Window } from '#core/replay/reference/indicators.ts'
import type { Strategy } from '#core/replay/strategy.ts'
import { BAR_MS } from './market.ts'

// The rules behind the two histories of the sample book that come without code: a ledger, and reported returns. They
// run when the book is written, and only what they did is in it.

const BARS_PER_WEEK = 42
const WEEK_MS = BARS_PER_WEEK * BAR_MS

/** Monday 00:00 UTC: epoch time began on a Thursday. */
const MONDAY_MS = 4 * DAY_MS

/** Four days: from Monday to the end of Thursday. */
const HOLD_BARS = 24

/** A week that moved less says nothing. */
const LEAST_MOVE = 0.04
const WEEKLY_STOP = 0.045

/** Goes with the week before if it moved far enough: in on Monday, out after four days. */
export const weeklyRule = (id: string): Strategy<Window> => ({
  id,
  version: '1',
  timeframeMs: BAR_MS,
  warmupBars: BARS_PER_WEEK,
  baseRisk: 0.02,
  init: () => createWindow(BARS_PER_WEEK),
  onBar(closes, bar, position) {
    const weekAgo = push(closes, bar.c)
    const closeMs = bar.t + BAR_MS
    if (position !== null) {
      return closeMs - position.entry_time >= HOLD_BARS * BAR_MS ? { act: 'flat', why: 'time' } : null
    }
    if (weekAgo === null || (closeMs - MONDAY_MS) % WEEK_MS !== 0) return null
    const move = bar.c / weekAgo - 1
    if (Math.abs(move) < LEAST_MOVE) return null
    return enter(move > 0 ? 'long' : 'short', bar.c, WEEKLY_STOP * bar.c)
  },
})

/** The turn of the month: its last day and its first three. */
const DAYS_BEFORE = 1
const DAYS_AFTER = 3
const TURN_STOP = 0.05

/** Is long around the turn of each month, and flat for the rest of it. */
export const turnOfMonthRule = (id: string): Strategy<null> => ({
  id,
  version: '1',
  timeframeMs: BAR_MS,
  warmupBars: 0,
  baseRisk: 0.02,
  init: () => null,
  onBar(_, bar, position) {
    const closeMs = bar.t + BAR_MS
    const isTurn = dayOfMonth(closeMs) <= DAYS_AFTER || dayOfMonth(closeMs + DAYS_BEFORE * DAY_MS) === 1
    if (position !== null) return isTurn ? null : { act: 'flat', why: 'time' }
    const isEntry = dayOfMonth(closeMs + DAYS_BEFORE * DAY_MS) === 1 && closeMs % DAY_MS === 0
    return isEntry ? enter('long', bar.c, TURN_STOP * bar.c) : null
  },
})

const dayOfMonth = (ms: number): number => new Date(ms).getUTCDate()
