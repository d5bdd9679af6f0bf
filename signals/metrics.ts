// Metrics of a process for Prometheus: its own events as counters, the state of the service as gauges that
// are read at each scrape. No label names a client or an endpoint: the list of subscribers is private, and there would be
// one series per client.
import type { DeliveryEvent } from './delivery/deliver.ts'
import type { LiveStatus } from './live/live-record.ts'
import { LogGoneError } from './log/guard.ts'
import { createMeter, type Gauges, one, type Series } from './meter.ts'
import { type Attempt, LANES } from './outbox/outbox.ts'
import { RedisDownError } from './redis/connect.ts'
import { SEALS_OFF } from './redis/keys.ts'
import { FAILURES, OUR_FAULTS } from './send/outcome.ts'
import type { Overview } from './views/overview.ts'

type Answered = { readonly route: string; readonly status: number; readonly ms: number }

/** From a fast fsync to the end of a retry; the target is a second. */
const SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60, 600, 7_200]

/**
 * Creates the metrics of one process. `overview` reads the state of the service; `diskUsed` is the used share of its
 * disk, 0 to 1, null if unknown.
 */
export function createMetrics(
  overview: () => Promise<Overview>,
  diskUsed: () => Promise<number | null> = async () => null,
) {
  const meter = createMeter('highwater_', STATE_GAUGES, async () => readState(overview, await diskUsed()))
  return { ...createEventMetrics(meter), read: meter.read }
}

/** `found` is the error if Redis does not answer, or does not have the log that was written. */
type State = { readonly found: Overview | LogGoneError | RedisDownError; readonly diskUsed: number | null }

async function readState(read: () => Promise<Overview>, diskUsed: number | null): Promise<State> {
  const found = await read().catch((error: unknown) => {
    if (error instanceof LogGoneError || error instanceof RedisDownError) return error
    throw error
  })
  return { found, diskUsed }
}

function createEventMetrics({ counter, histogram: histogramOf }: ReturnType<typeof createMeter>) {
  const histogram = (name: string, help: string, labels?: string[]) =>
    histogramOf(name, help, SECONDS, labels)
  const attempts = counter('attempts_total', 'Attempts by result and reason.', ['result', 'reason'])
  const deliveries = counter('deliveries_total', 'Deliveries that came to an end, by outcome.', ['outcome'])
  // A counter that appears with its first event has no increase, and its alert would miss the first burst.
  for (const outcome of ['delivered', 'exhausted', 'withdrawn', 'expired']) deliveries.inc({ outcome }, 0)
  attempts.inc({ result: 'delivered', reason: '' }, 0)
  for (const reason of FAILURES) attempts.inc({ result: 'failed', reason }, 0)
  const ourFaults = counter('our_faults_total', 'Attempts that could not be made, by reason.', ['reason'])
  for (const reason of [...OUR_FAULTS, 'program_error']) ourFaults.inc({ reason }, 0)
  const disabled = counter('webhooks_disabled_total', 'Webhooks that were given up.')
  const requests = counter('requests_total', 'Requests by route and status.', ['route', 'status'])
  const faults = counter('faults_total', 'Answers of 500: errors of the program.')
  const latency = histogram('delivery_seconds', 'From the log to the stage of a delivery.', ['stage'])
  const durable = histogram('fire_durable_seconds', 'From a fire to its acknowledgement by the disk.')
  const answers = histogram('request_seconds', 'Time of an answer by route.', ['route'])

  const onAttempt = ({ ok, reason, at, first_byte_ms, total_ms }: Attempt, firedAtMs: number): void => {
    attempts.inc({ result: ok ? 'delivered' : 'failed', reason: reason ?? '' })
    if (!ok) return
    deliveries.inc({ outcome: 'delivered' })
    const sentMs = Math.max(0, at - firedAtMs)
    latency.observe({ stage: 'sent' }, sentMs / 1_000)
    if (first_byte_ms !== null) latency.observe({ stage: 'first_byte' }, (sentMs + first_byte_ms) / 1_000)
    latency.observe({ stage: 'acknowledged' }, (sentMs + total_ms) / 1_000)
  }
  return {
    onEvent(event: DeliveryEvent) {
      if (event.kind === 'attempt') onAttempt(event.attempt, event.firedAtMs)
      if (event.kind === 'exhausted' || event.kind === 'withdrawn' || event.kind === 'expired')
        deliveries.inc({ outcome: event.kind })
      if (event.kind === 'our fault') ourFaults.inc({ reason: event.reason })
      if (event.kind === 'disabled') disabled.inc()
    },
    /** A signal was fired: from the request to its acknowledgement by the disk. */
    onFired: (durableMs: number): void => durable.observe(durableMs / 1_000),
    onAnswered({ route, status, ms }: Answered): void {
      requests.inc({ route, status: String(status) })
      answers.observe({ route }, ms / 1_000)
      if (status === 500) faults.inc()
    },
  }
}

const perAlias =
  (read: (status: LiveStatus) => number | boolean) =>
  ({ live }: Overview): Series =>
    live.map(status => [{ alias: status.alias }, Number(read(status))])

const breakersOf = ({ webhooks }: Overview): Series =>
  (['closed', 'open'] as const).map(state => {
    const there = webhooks.filter(({ enabled, breaker }) => enabled && breaker === state)
    return [{ state }, there.length]
  })

const clientsOf = ({ clients: { active, total } }: Overview): Series => [
  [{ status: 'active' }, active],
  [{ status: 'pending' }, total - active],
]

const isDurable = ({ problems, isWriting, isReplica }: Overview['redis']): boolean =>
  problems.length === 0 && isWriting && !isReplica

const sealOf = ({ seals }: Overview) => (seals?.refused === SEALS_OFF ? null : seals)

const GAUGES: readonly (readonly [name: string, help: string, read: (overview: Overview) => Series])[] = [
  ['redis_durable', '1 where Redis keeps what it acknowledges and can write.', o => one(isDurable(o.redis))],
  ['redis_memory_bytes', 'Memory that Redis uses.', o => one(o.redis.used_bytes)],
  ['redis_memory_limit_bytes', 'Memory that Redis may use, 0 for all.', o => one(o.redis.limit_bytes)],
  ['log_seq', 'Number of the newest signal.', o => one(o.seq)],
  ['log_continued', '1 for an hour after a gap in the numbers.', o => one(o.continued !== null)],
  ['relay_lag_signals', 'Signals that the relay has not yet passed.', o => one(o.relayLag)],
  ['relay_running', '1 where a process relays.', o => one(o.isRelayed)],
  ['queue_calls', 'Clients of a lane that are due.', o => LANES.map(lane => [{ lane }, o.queue[lane]])],
  ['owed_deliveries', 'Deliveries that are owed.', o => one(o.webhooks.reduce((sum, w) => sum + w.owed, 0))],
  ['breakers', 'Enabled webhooks by the state of their breaker.', breakersOf],
  ['webhooks_disabled', 'Webhooks that are disabled.', o => one(o.webhooks.filter(w => !w.enabled).length)],
  [
    'webhooks_paused',
    'Webhooks whose clients let signals wait.',
    o => one(o.webhooks.filter(w => w.enabled && w.paused).length),
  ],
  ['clients', 'Clients by the state of their account.', clientsOf],
  ['halted', 'Aliases that are halted; the halt of all counts as one.', o => one(o.halted.length)],
  ['seal_age_seconds', 'Since the end of the newest seal.', o => one(sealOf(o)?.age_seconds ?? null)],
  ['seals_refused', '1 while no seal is signed.', o => one(sealOf(o) && sealOf(o)?.refused !== null)],
  ['live_behind_seconds', 'How long the next bar has been due.', perAlias(s => s.behind_seconds)],
  ['live_missing_bars', 'Bars that are missing since it went live.', perAlias(s => s.missing_bars)],
  ['live_diverges', '1 where the last replay decided differently.', perAlias(s => s.diverges !== null)],
]

/** Those that are there whatever could be read. */
const STATE_GAUGES: Gauges<State> = [
  ['redis_up', '1 where Redis answers.', s => one(!(s.found instanceof RedisDownError))],
  [
    'log_lost',
    '1 where Redis answers and does not have the log that was written.',
    s => one(s.found instanceof RedisDownError ? null : s.found instanceof LogGoneError),
  ],
  [
    'redis_disk_used_ratio',
    'Share of the disk of Redis that is used, where its folder is known.',
    s => one(s.diskUsed),
  ],
  ...GAUGES.map(
    ([name, help, read]) =>
      [name, help, ({ found }: State) => (found instanceof Error ? [] : read(found))] as const,
  ),
]
