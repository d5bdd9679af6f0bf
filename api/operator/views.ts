// What the operator is told of deliveries and webhooks, as JSON.
import { toIsoInstant } from '#core/calendar.ts'
import type { Json } from '#core/dataset/render/json.ts'
import type { Attempt, DeliveryState } from '#signals/delivery/outbox.ts'
import type { LiveStatus } from '#signals/live/control.ts'
import type { Latency } from '#signals/views/latency.ts'
import type { Overview } from '#signals/views/overview.ts'
import type { DeliveryRow } from '#signals/views/recent.ts'
import type { WebhookState } from '#signals/views/webhook-state.ts'
import type { WebhookAddress } from './parts.ts'

const instantOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** How long the client waited for a signal: from the log to its acknowledgement; null as long as there is none. */
export const latencyMs = (firedAtMs: number, { status, settled_at }: DeliveryState): number | null =>
  status === 'delivered' && settled_at !== null ? settled_at - firedAtMs : null

export const toDelivery = ({ seq, client, alias, firedAtMs, state }: DeliveryRow): Json => ({
  seq,
  client,
  alias,
  status: state.status,
  attempts: state.attempts,
  round: state.round,
  prev_seq: state.prev,
  fired_at: instantOf(firedAtMs),
  owed_at: instantOf(state.owed_at),
  first_attempt_at: instantOf(state.first_attempt_at),
  settled_at: instantOf(state.settled_at),
  latency_ms: latencyMs(firedAtMs, state),
})

export const toLatency = ({ deliveries, firstAttempt, acknowledged }: Latency): Json => ({
  deliveries,
  first_attempt_ms: firstAttempt,
  acknowledged_ms: acknowledged,
})

export const toAttempt = ({ at, ...rest }: Attempt): Json => ({ at: instantOf(at), ...rest })

export const toWebhook = (state: WebhookState | null, address: WebhookAddress | null): Json =>
  state === null
    ? null
    : {
        ...(address === null ? {} : { url: address.url, live_secrets: address.liveSecrets }),
        enabled: state.enabled,
        disabled_why: state.disabledWhy,
        lane: state.lane,
        breaker: state.condition.breaker.kind,
        failing_since: instantOf(state.condition.health.failingSinceMs),
        owed: state.owed,
      }

export const toLive = ({ alias, cursorMs, liveFromMs, mode, isHalted }: LiveStatus): Json => ({
  alias,
  last_bar_close: cursorMs === null ? null : toIsoInstant(cursorMs),
  live_from: liveFromMs === null ? null : toIsoInstant(liveFromMs),
  mode,
  halted: isHalted,
})

export const toStatus = ({ redis, webhooks, queue, clients, ...rest }: Overview): Json => ({
  seq: rest.seq,
  epoch: rest.epoch,
  redis: {
    version: redis.version,
    used_bytes: redis.usedBytes,
    limit_bytes: redis.limitBytes,
    writing: redis.isWriting && !redis.isReplica,
    problems: [...redis.problems],
  },
  relay: { lag: rest.relayLag, running: rest.isRelayed },
  queue: { ...queue },
  clients: { ...clients },
  webhooks: {
    enabled: webhooks.filter(({ enabled }) => enabled).length,
    disabled: webhooks.filter(({ enabled }) => !enabled).length,
    failing: webhooks.filter(({ condition }) => condition.health.failingSinceMs !== null).length,
    owed: webhooks.reduce((sum, { owed }) => sum + owed, 0),
  },
  halted: [...rest.halted],
  live: rest.live.map(toLive),
})
