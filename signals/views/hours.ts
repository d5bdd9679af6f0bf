// The deliveries of the last day by the hour, read from the log and the outbox.
import type { Redis } from 'ioredis'
import { acknowledgedIn, type Spread } from './latency.ts'
import { type DeliveryRow, recentDeliveries } from './recent.ts'

const HOUR_MS = 3_600_000
const HOURS = 24

/** Deliveries that are read: some milliseconds of work. */
const MOST_READ = 5_000

/** What became of the deliveries of the signals that were fired in an hour. */
export type Hour = {
  /** Epoch milliseconds. */
  readonly startMs: number
  readonly delivered: number
  /** Given up. */
  readonly exhausted: number
  /** Milliseconds from the log to the acknowledgement; null if there was none. What was sent again is left out. */
  readonly latency: Spread | null
}

/** The last 24 hours, oldest first, and whether all of their deliveries were read, or the newest ones. */
export type Day = { readonly hours: readonly Hour[]; readonly isWhole: boolean }

export async function readHours(redis: Redis, nowMs: number, client?: string): Promise<Day> {
  const endMs = Math.floor(nowMs / HOUR_MS + 1) * HOUR_MS
  const fromMs = endMs - HOURS * HOUR_MS
  const { rows, next } = await recentDeliveries(redis, { fromMs, client, limit: MOST_READ })
  const starts = Array.from({ length: HOURS }, (_, i) => fromMs + i * HOUR_MS)
  const byHour = Map.groupBy(rows, ({ firedAtMs }) => Math.floor(firedAtMs / HOUR_MS) * HOUR_MS)
  return { hours: starts.map(startMs => toHour(startMs, byHour.get(startMs) ?? [])), isWhole: next === null }
}

const toHour = (startMs: number, rows: readonly DeliveryRow[]): Hour => ({
  startMs,
  delivered: rows.filter(({ state }) => state.status === 'delivered').length,
  exhausted: rows.filter(({ state }) => state.status === 'exhausted').length,
  latency: acknowledgedIn(rows),
})
