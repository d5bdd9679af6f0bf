// How the deliveries of a client, or of a day, ended and how quickly, read from the log and the outbox, so deliveries do
// not pay for it.
import type { Redis } from 'ioredis'
import { type DeliveryRow, recentDeliveries } from './recent.ts'

export const MOST_MEASURED = 1_000

/** Newest signals searched for them: a client with few entitlements has fewer deliveries, and the answer has how many. */
const MOST_LOOKED_THROUGH = 10_000

/** Milliseconds; percentiles by nearest rank. */
export type Spread = { readonly p50: number; readonly p99: number; readonly max: number }

/** Counted from the commit to the log, in milliseconds. Null if nothing was delivered. */
export type Latency = Awaited<ReturnType<typeof readLatency>>

/** Latency of the last acknowledged deliveries of a client. */
export async function readLatency(redis: Redis, client: string) {
  const filter = { client, keeps: isMeasured, limit: MOST_MEASURED }
  const { rows } = await recentDeliveries(redis, filter, MOST_LOOKED_THROUGH)
  return {
    deliveries: rows.length,
    first_attempt_ms: spreadOf(rows.map(row => waitOf(row, row.state.first_attempt_at!))),
    acknowledged_ms: acknowledgedIn(rows),
  }
}

const HOUR_MS = 3_600_000
const HOURS = 24

/** Deliveries that are read: some milliseconds of work. */
const MOST_READ = 5_000

export type Day = Awaited<ReturnType<typeof readHours>>

/** The last 24 hours, oldest first, and whether all of their deliveries were read, or the newest ones. */
export async function readHours(redis: Redis, nowMs: number, client?: string) {
  const first = Math.floor(nowMs / HOUR_MS) - HOURS + 1
  const filter = { fired_from: first * HOUR_MS, client, limit: MOST_READ }
  const { rows, next } = await recentDeliveries(redis, filter)
  const byHour = Map.groupBy(rows, ({ firedAtMs }) => Math.floor(firedAtMs / HOUR_MS))
  const hours = Array.from({ length: HOURS }, (_, i) => toHour(first + i, byHour.get(first + i) ?? []))
  return { hours, isWhole: next === null }
}

export type Hour = ReturnType<typeof toHour>

/** What became of the deliveries of the signals that were fired in an hour. */
const toHour = (hour: number, rows: readonly DeliveryRow[]) => ({
  startMs: hour * HOUR_MS,
  delivered: rows.filter(({ state }) => state.status === 'delivered').length,
  /** Given up. */
  exhausted: rows.filter(({ state }) => state.status === 'exhausted').length,
  /** Until the acknowledgement; null if there was none. */
  latency: acknowledgedIn(rows),
})

/** Until the acknowledgement of those that were acknowledged, of whichever attempt. */
const acknowledgedIn = (rows: readonly DeliveryRow[]): Spread | null =>
  spreadOf(rows.filter(isMeasured).map(row => waitOf(row, row.state.settled_at!)))

/** What was resent is left out: its second round shows when the operator ordered it. */
const isMeasured = ({ state: { status, round, first_attempt_at, settled_at } }: DeliveryRow): boolean =>
  status === 'delivered' && round === 1 && first_attempt_at !== null && settled_at !== null

/** The clock of the process that fired may be slightly ahead of the worker's. */
const waitOf = ({ firedAtMs }: DeliveryRow, endMs: number): number => Math.max(0, endMs - firedAtMs)

export function spreadOf(values: readonly number[]): Spread | null {
  const sorted = values.toSorted((a, b) => a - b)
  const ranked = (fraction: number): number => sorted[Math.ceil(fraction * sorted.length) - 1]!
  return sorted.length === 0 ? null : { p50: ranked(0.5), p99: ranked(0.99), max: ranked(1) }
}
