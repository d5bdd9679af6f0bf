// Signals and deliveries as the operator sees them, newest first, and how quickly they were delivered: read from the log and the
// outbox, so deliveries do not pay for it.
import type { Redis } from 'ioredis'
import { instantOf, instantOrNull } from '#core/calendar.ts'
import type { Signal } from '#core/contract/signal.ts'
import { type LoggedSignal, readBefore } from '../log/read-log.ts'
import {
  clientOf,
  DEFAULT_ENDPOINT,
  type Destination,
  destinationOf,
  endpointOf,
} from '../outbox/destination.ts'
import { DELIVERY_STATUSES, type DeliveryState, readDeliveries, readOutbox } from '../outbox/outbox.ts'
import { endpointsOf } from '../outbox/webhooks.ts'
import { askRedis } from '../redis/connect.ts'
import { waitingKey, webhookKey } from '../redis/keys.ts'

/** Signals searched for one answer: about a second's work for Redis. */
const MOST_SEARCHED = 2_000

const BEYOND = Number.MAX_SAFE_INTEGER

const BLOCK = 200

type DeliveryRow = {
  readonly seq: number
  readonly destination: Destination
  readonly alias: string
  /** When the signal was committed, epoch milliseconds. */
  readonly firedAtMs: number
  readonly state: DeliveryState
}

/** Absent fields match everything. */
type DeliveryFilter = {
  readonly client?: string | undefined
  /** The name of an endpoint. */
  readonly endpoint?: string | undefined
  readonly status?: DeliveryState['status'] | undefined
  readonly alias?: string | undefined
  /** One signal alone. */
  readonly seq?: number | undefined
  /** When the signal was fired, epoch milliseconds: not before, and not after. */
  readonly fired_from?: number | undefined
  readonly fired_to?: number | undefined
  /** Only smaller numbers. */
  readonly before?: number | undefined
  readonly keeps?: (row: DeliveryRow) => boolean
  readonly limit: number
  /** Signals searched for one answer. */
  readonly mostSearched?: number
}

/** `next` is where to continue; null if nothing older is left. */
export type Page<Row> = { readonly rows: readonly Row[]; readonly next: number | null }

/** The newest signals before a number, with the states of their deliveries. */
export async function recentSignals(
  redis: Redis,
  { before, limit }: Pick<DeliveryFilter, 'before' | 'limit'>,
) {
  const signals = await readBefore(redis, before ?? BEYOND, limit)
  const rows = await Promise.all(
    signals.map(async signal => {
      const states = [...(await readOutbox(redis, signal.seq)).values()]
      const counts = DELIVERY_STATUSES.map(each => [
        each,
        states.filter(({ status }) => status === each).length,
      ])
      const deliveries = Object.fromEntries(counts) as Record<DeliveryState['status'], number> // of each of them
      return { ...showSignal(signal), deliveries }
    }),
  )
  return { rows, next: signals.length < limit ? null : signals.at(-1)!.seq }
}

export const showSignal = ({ seq, body, onlyFor, atMs }: LoggedSignal) => ({
  seq,
  fired_at: instantOf(atMs),
  only_for: onlyFor,
  signal: JSON.parse(body) as Signal, // the log holds what was written as JSON
})

/**
 * The newest deliveries that match, of a client those to the endpoints that it has. A search ends after a bounded number of signals even with few matches; `next` is
 * where to continue.
 */
export async function recentDeliveries(redis: Redis, filter: DeliveryFilter): Promise<Page<ShownDelivery>> {
  const { rows, next } = await findDeliveries(redis, filter)
  return { rows: await showDeliveries(redis, rows), next }
}

async function findDeliveries(redis: Redis, filter: DeliveryFilter) {
  const { keeps = () => true, mostSearched = MOST_SEARCHED } = filter
  const rows: DeliveryRow[] = []
  const destinations = await destinationsOf(redis, filter)
  const most = filter.seq === undefined ? BLOCK : 1
  let before = filter.seq === undefined ? filter.before : filter.seq + 1
  for (let looked = 0; looked < mostSearched; looked += BLOCK) {
    const signals = await readBefore(redis, before ?? BEYOND, most)
    for (const [i, outbox] of (await readOutboxes(redis, signals, destinations)).entries()) {
      const signal = signals[i]!
      if (signal.atMs < (filter.fired_from ?? 0)) return { rows, next: null } // all others are older
      if (isWanted(signal, filter)) rows.push(...rowsOf(signal, outbox, filter).filter(keeps))
      // All rows of a signal or none: `next` cannot point into one.
      if (rows.length >= filter.limit) return { rows, next: filter.seq === undefined ? signal.seq : null }
    }
    if (signals.length < BLOCK) return { rows, next: null } // of one signal, too
    before = signals.at(-1)!.seq
  }
  return { rows, next: before ?? null }
}

const isWanted = (
  { seq, alias, atMs }: LoggedSignal,
  { seq: number = seq, alias: wanted = alias, fired_to = atMs }: DeliveryFilter,
): boolean => seq === number && alias === wanted && atMs <= fired_to

export type Outbox = ReadonlyMap<Destination, DeliveryState>

/** Of a client, also what its webhook was sent before it was removed; null if the filter names no client. */
async function destinationsOf(redis: Redis, { client, endpoint }: DeliveryFilter) {
  if (client === undefined) return null
  const names =
    endpoint === undefined ? [DEFAULT_ENDPOINT, ...(await endpointsOf(redis, client))] : [endpoint]
  return [...new Set(names)].map(name => destinationOf(client, name))
}

/** For one client only its own states are read. */
async function readOutboxes(
  redis: Redis,
  signals: readonly LoggedSignal[],
  destinations: readonly Destination[] | null,
): Promise<readonly Outbox[]> {
  if (destinations === null) return Promise.all(signals.map(({ seq }) => readOutbox(redis, seq)))
  const found = await readDeliveries(redis, signals, destinations)
  return found.map(
    states => new Map(states.flatMap((state, k) => (state === null ? [] : [[destinations[k]!, state]]))),
  )
}

export const rowsOf = (
  { seq, alias, atMs }: LoggedSignal,
  outbox: Outbox,
  { endpoint, status }: Pick<DeliveryFilter, 'endpoint' | 'status'> = {},
): DeliveryRow[] =>
  [...outbox]
    .filter(
      ([id, state]) =>
        (endpoint ?? endpointOf(id)) === endpointOf(id) && (status ?? state.status) === state.status,
    )
    .map(([destination, state]) => ({ seq, destination, alias, firedAtMs: atMs, state }))
    .sort((a, b) => (a.destination < b.destination ? -1 : 1))

export type ShownDelivery = Awaited<ReturnType<typeof showDelivery>>

export const showDeliveries = (redis: Redis, rows: readonly DeliveryRow[]): Promise<ShownDelivery[]> =>
  Promise.all(rows.map(row => showDelivery(redis, row)))

export async function showDelivery(redis: Redis, row: DeliveryRow) {
  const { seq, destination, alias, firedAtMs, state } = row
  const { status, attempts, round, settled_at } = state
  return {
    seq,
    client: clientOf(destination),
    endpoint: endpointOf(destination),
    alias,
    status,
    attempts,
    round,
    prev_seq: state.prev,
    fired_at: instantOf(firedAtMs),
    owed_at: instantOf(state.owed_at),
    first_attempt_at: instantOrNull(state.first_attempt_at),
    settled_at: instantOrNull(settled_at),
    next_attempt_at: instantOrNull(await readNextAttempt(redis, row)),
    latency_ms: status === 'delivered' && settled_at !== null ? settled_at - firedAtMs : null,
  }
}

/** A retry has its own time, an open breaker one before which none of its deliveries is tried, and a paused endpoint none. */
async function readNextAttempt(
  redis: Redis,
  { seq, destination, state }: DeliveryRow,
): Promise<number | null> {
  if (state.status !== 'owed') return null
  const [retryAt, [probeAt, paused]] = await askRedis(() =>
    Promise.all([
      redis.zscore(waitingKey(destination), String(seq)),
      redis.hmget(webhookKey(destination), 'probe_at', 'paused'),
    ]),
  )
  return paused === '1' ? null : Math.max(Number(retryAt ?? state.owed_at), Number(probeAt ?? 0))
}

export const MOST_MEASURED = 1_000

/** Newest signals searched for them: a client with few entitlements has fewer deliveries, and the answer has how many. */
const MOST_LOOKED_THROUGH = 10_000

/** Milliseconds; percentiles by nearest rank. */
export type Spread = { readonly p50: number; readonly p99: number; readonly max: number }

/** Counted from the commit to the log, in milliseconds. Null if nothing was delivered. */
export type Latency = Awaited<ReturnType<typeof readLatency>>

export async function readLatency(redis: Redis, client: string) {
  const filter = { client, keeps: isMeasured, limit: MOST_MEASURED, mostSearched: MOST_LOOKED_THROUGH }
  const { rows } = await findDeliveries(redis, filter)
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
  const { rows, next } = await findDeliveries(redis, filter)
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
const isMeasured = ({ state }: DeliveryRow): boolean =>
  state.status === 'delivered' &&
  state.round === 1 &&
  state.resent !== true && // never owed before
  state.first_attempt_at !== null &&
  state.settled_at !== null

/** The clock of the process that fired may be slightly ahead of the worker's. */
const waitOf = ({ firedAtMs }: DeliveryRow, endMs: number): number => Math.max(0, endMs - firedAtMs)

export function spreadOf(values: readonly number[]): Spread | null {
  const sorted = values.toSorted((a, b) => a - b)
  const ranked = (fraction: number): number => sorted[Math.ceil(fraction * sorted.length) - 1]!
  return sorted.length === 0 ? null : { p50: ranked(0.5), p99: ranked(0.99), max: ranked(1) }
}
