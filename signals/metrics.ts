// Metrics of a process for Prometheus: its own events as counters, the state of the service as gauges that
// are read at each scrape. No label names a client: the list of subscribers is private, and there would be
// one series per client.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { DeliveryEvent } from './delivery/delivery-parts.ts'
import { type Attempt, LANES } from './delivery/outbox.ts'
import type { Breaker } from './delivery/webhook-condition.ts'
import { LogGoneError } from './log/guard.ts'
import { RedisDownError } from './redis/connect.ts'
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
  const registry = new Registry()
  const events = createEventMetrics(registry)
  const setGauges = createGauges(registry)
  const disk = new Gauge({
    name: 'highwater_redis_disk_used_ratio',
    help: 'Share of the disk of Redis that is used, where its folder is known.',
    registers: [registry],
  })
  return {
    ...events,
    async read() {
      setGauges(await readState(overview))
      const used = await diskUsed()
      if (used === null) disk.remove()
      else disk.set(used)
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}

async function readState(overview: () => Promise<Overview>): Promise<Overview | 'away' | 'lost'> {
  try {
    return await overview()
  } catch (error) {
    if (error instanceof LogGoneError) return 'lost' // Redis answers
    if (error instanceof RedisDownError) return 'away'
    throw error
  }
}

function createEventMetrics(registry: Registry) {
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `highwater_${name}`, help, labelNames, registers })
  const histogram = (name: string, help: string, labelNames: string[] = []) =>
    new Histogram({ name: `highwater_${name}`, help, labelNames, buckets: SECONDS, registers })
  const attempts = counter('attempts_total', 'Attempts by result and reason.', ['result', 'reason'])
  const deliveries = counter('deliveries_total', 'Deliveries that came to an end, by outcome.', ['outcome'])
  // A counter that appears with its first event has no increase, and its alert would miss the first burst.
  for (const outcome of ['delivered', 'exhausted', 'withdrawn']) deliveries.inc({ outcome }, 0)
  const ourFaults = counter('our_faults_total', 'Attempts that could not be made, by reason.', ['reason'])
  const disabled = counter('webhooks_disabled_total', 'Webhooks that were given up.', [])
  const requests = counter('requests_total', 'Requests by route and status.', ['route', 'status'])
  const latency = histogram('delivery_seconds', 'From the log to the stage of a delivery that succeeded.', [
    'stage',
  ])
  const durable = histogram(
    'fire_durable_seconds',
    'From the request of a fire to its acknowledgement by the disk.',
  )
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
      switch (event.kind) {
        case 'attempt':
          return onAttempt(event.attempt, event.firedAtMs)
        case 'exhausted':
        case 'withdrawn':
          return deliveries.inc({ outcome: event.kind })
        case 'our fault':
          return ourFaults.inc({ reason: event.reason })
        case 'disabled':
          return disabled.inc()
        case 'failing':
        case 'clock':
        case 'stuck':
          return
      }
    },
    /** A signal was fired: from the request to its acknowledgement by the disk. */
    onFired: (durableMs: number): void => durable.observe(durableMs / 1_000),
    onAnswered({ route, status, ms }: Answered): void {
      requests.inc({ route, status: String(status) })
      answers.observe({ route }, ms / 1_000)
    },
  }
}

const BREAKERS: readonly Breaker['kind'][] = ['closed', 'open']

/** Gauges that are set together. Those that could not be read are left out: no old values are repeated. */
function createGauges(registry: Registry): (overview: Overview | 'away' | 'lost') => void {
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `highwater_${name}`, help, labelNames, registers })
  const up = gauge('redis_up', '1 where Redis answers.')
  const lost = gauge('log_lost', '1 where Redis answers and does not have the log that was written.')
  const safe = gauge('redis_durable', '1 where Redis keeps what it acknowledges and can write.')
  const memory = gauge('redis_memory_bytes', 'Memory that Redis uses.')
  const limit = gauge('redis_memory_limit_bytes', 'Memory that Redis may use, 0 for all.')
  const seq = gauge('log_seq', 'Number of the newest signal.')
  const lag = gauge('relay_lag_signals', 'Signals that the relay has not yet passed.')
  const relayed = gauge('relay_running', '1 where a process relays.')
  const queue = gauge('queue_calls', 'Clients of a lane that are due.', ['lane'])
  const owed = gauge('owed_deliveries', 'Deliveries that are owed.')
  const breakers = gauge('breakers', 'Enabled webhooks by the state of their breaker.', ['state'])
  const off = gauge('webhooks_disabled', 'Webhooks that are disabled.')
  const clients = gauge('clients', 'Clients by the state of their account.', ['status'])
  const halts = gauge('halted', 'Aliases that are halted; the halt of all counts as one.')
  const behind = gauge(
    'live_behind_seconds',
    'For how long the next bar of a live strategy has been due, 0 where it is on time.',
    ['alias'],
  )
  const missing = gauge(
    'live_missing_bars',
    'Bars that the feed of a live strategy has left out since it went live.',
    ['alias'],
  )
  const plain = [lost, safe, memory, limit, seq, lag, relayed, owed, off, halts]
  const labelled = [queue, breakers, clients, behind, missing]
  return overview => {
    for (const each of labelled) each.reset()
    for (const each of plain) each.remove()
    up.set(overview === 'away' ? 0 : 1)
    if (overview !== 'away') lost.set(overview === 'lost' ? 1 : 0)
    if (typeof overview === 'string') return
    const { redis, webhooks } = overview
    safe.set(redis.problems.length === 0 && redis.isWriting && !redis.isReplica ? 1 : 0)
    memory.set(redis.usedBytes)
    limit.set(redis.limitBytes)
    seq.set(overview.seq)
    lag.set(overview.relayLag)
    relayed.set(overview.isRelayed ? 1 : 0)
    for (const lane of LANES) queue.set({ lane }, overview.queue[lane])
    owed.set(webhooks.reduce((sum, state) => sum + state.owed, 0))
    const enabled = webhooks.filter(state => state.enabled)
    for (const state of BREAKERS)
      breakers.set({ state }, enabled.filter(each => each.condition.breaker.kind === state).length)
    off.set(webhooks.length - enabled.length)
    clients.set({ status: 'active' }, overview.clients.active)
    clients.set({ status: 'pending' }, overview.clients.total - overview.clients.active)
    halts.set(overview.halted.length)
    for (const { alias, behindMs, gap } of overview.live) {
      behind.set({ alias }, behindMs / 1_000)
      missing.set({ alias }, gap?.total ?? 0)
    }
  }
}
