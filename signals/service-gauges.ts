import { Gauge, type Registry } from 'prom-client'
import type { Breaker } from './delivery/breaker.ts'
import { LANES } from './delivery/delivery-queue.ts'
import type { Overview } from './views/overview.ts'

const BREAKERS: readonly Breaker['kind'][] = ['closed', 'open']

/** Gauges that are set together: those that nobody could read are left out rather than told as they were. */
export function createGauges(registry: Registry): (overview: Overview | null) => void {
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `highwater_${name}`, help, labelNames, registers })
  const up = gauge('redis_up', '1 where Redis answers.')
  const safe = gauge('redis_durable', '1 where Redis keeps what it acknowledges and can write.')
  const memory = gauge('redis_memory_bytes', 'Memory that Redis uses.')
  const limit = gauge('redis_memory_limit_bytes', 'Memory that Redis may use, 0 for all.')
  const seq = gauge('log_seq', 'Number of the newest signal.')
  const lag = gauge('relay_lag_signals', 'Signals that the relay has not yet passed.')
  const relayed = gauge('relay_running', '1 where a process relays.')
  const queue = gauge('queue_calls', 'Calls that wait in a lane.', ['lane'])
  const owed = gauge('owed_deliveries', 'Deliveries that are owed.')
  const breakers = gauge('breakers', 'Enabled webhooks by the state of their breaker.', ['state'])
  const off = gauge('webhooks_disabled', 'Webhooks that are disabled.')
  const clients = gauge('clients', 'Clients by the state of their account.', ['status'])
  const halts = gauge('halted', 'Aliases that are halted; the halt of all counts as one.')
  const plain = [safe, memory, limit, seq, lag, relayed, owed, off, halts]
  const labelled = [queue, breakers, clients]
  return overview => {
    for (const each of labelled) each.reset()
    for (const each of plain) each.remove()
    up.set(overview === null ? 0 : 1)
    if (overview === null) return
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
  }
}
