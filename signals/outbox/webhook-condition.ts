// The condition of a webhook: its breaker, and its failures since the last success. Values, updated after
// each attempt.
import type { Failed } from '../send/outcome.ts'
import {
  ALERT_AFTER_MS,
  BREAKER_FAILURES,
  clampRetryAfter,
  DISABLE_AFTER_ATTEMPTS,
  DISABLE_AFTER_GONE,
  DISABLE_AFTER_MS,
  DISABLE_AFTER_SIGNALS,
  PROBE_WAITS_MS,
  WAITS,
} from '../send/policy.ts'

export type Breaker =
  /** Deliveries flow. `failures` counts consecutive ones. */
  | { readonly kind: 'closed'; readonly failures: number }
  /** Only a probe, the newest signal, is sent, from `probeAtMs` on. `probes` counts failed ones. */
  | { readonly kind: 'open'; readonly probes: number; readonly probeAtMs: number }

export const CLOSED_BREAKER: Breaker = { kind: 'closed', failures: 0 }

/** The breaker after a failed delivery; a success closes it. */
export function afterFailure(
  breaker: Breaker,
  nowMs: number,
  retryAfterMs: number | null = null,
  waitsMs: readonly number[] = PROBE_WAITS_MS,
): Breaker {
  // The attempt began before the breaker opened: it is no probe.
  if (breaker.kind === 'open' && nowMs < breaker.probeAtMs) return breaker
  const failures = breaker.kind === 'open' ? BREAKER_FAILURES : breaker.failures + 1
  if (failures < BREAKER_FAILURES) return { kind: 'closed', failures }
  const probes = breaker.kind === 'open' ? breaker.probes + 1 : 0
  const waitMs = waitsMs[Math.min(probes, waitsMs.length - 1)]!
  return { kind: 'open', probes, probeAtMs: nowMs + clampRetryAfter(waitMs, retryAfterMs) }
}

/** Counted from the first failure after a success; includes probes. */
export type EndpointHealth = {
  /** The first of these failures, null if the last delivery succeeded. */
  readonly failingSinceMs: number | null
  readonly attempts: number
  /** The first distinct signals that failed, as many as disabling needs. */
  readonly failedSeqs: readonly number[]
  /** Consecutive answers `410 Gone`. */
  readonly gone: number
  /** The longest failing time that raised an alert, 0 for none. */
  readonly alertedMs: number
}

export const HEALTHY: EndpointHealth = {
  failingSinceMs: null,
  attempts: 0,
  failedSeqs: [],
  gone: 0,
  alertedMs: 0,
}

/** One more failed delivery; `status` is null without an answer. After a success: HEALTHY. */
export function afterFailedDelivery(
  health: EndpointHealth,
  seq: number,
  status: number | null,
  nowMs: number,
): EndpointHealth {
  const { failedSeqs } = health
  const isNew = failedSeqs.length < DISABLE_AFTER_SIGNALS && !failedSeqs.includes(seq)
  return {
    ...health,
    failingSinceMs: health.failingSinceMs ?? nowMs,
    attempts: health.attempts + 1,
    failedSeqs: isNew ? [...failedSeqs, seq] : failedSeqs,
    gone: status === GONE ? health.gone + 1 : 0,
  }
}

/**
 * Whether the endpoint is to be disabled. Counted from the first failure, not from the last success: a client without
 * signals for a week is not disabled within minutes.
 */
export const shouldDisable = (
  { gone, failingSinceMs, failedSeqs, attempts }: EndpointHealth,
  nowMs: number,
) =>
  gone >= DISABLE_AFTER_GONE ||
  (failingSinceMs !== null &&
    nowMs - failingSinceMs >= DISABLE_AFTER_MS &&
    failedSeqs.length >= DISABLE_AFTER_SIGNALS &&
    attempts >= DISABLE_AFTER_ATTEMPTS)

/** The longest alert time that has passed without an alert, or null. Store it in `alertedMs`. */
export function dueAlertMs({ failingSinceMs, alertedMs }: EndpointHealth, nowMs: number): number | null {
  if (failingSinceMs === null) return null
  const passed = ALERT_AFTER_MS.findLast(afterMs => nowMs - failingSinceMs >= afterMs)
  return passed !== undefined && passed > alertedMs ? passed : null
}

const GONE = 410

export type Condition = { readonly breaker: Breaker; readonly health: EndpointHealth }

export const SOUND: Condition = { breaker: CLOSED_BREAKER, health: HEALTHY }

export const isSound = ({ breaker, health }: Condition): boolean =>
  breaker.kind === 'closed' && breaker.failures === 0 && health.failingSinceMs === null

/** When an open breaker lets the next attempt through; null if it is closed. */
export const probeAtMs = ({ breaker }: Condition): number | null =>
  breaker.kind === 'open' ? breaker.probeAtMs : null

/**
 * The condition after an attempt, why the webhook is to be disabled, and for how long it has failed if an alert is
 * due.
 */
export function conditionAfter(
  { breaker, health }: Condition,
  seq: number,
  result: { readonly kind: 'delivered' } | Pick<Failed, 'kind' | 'status' | 'retryAfterMs'>,
  nowMs: number,
  probeWaitsMs: readonly number[] = WAITS.probeMs,
): { readonly condition: Condition; readonly disabled: string | null; readonly alertMs: number | null } {
  if (result.kind === 'delivered') {
    // One worker sends to a client, lowest number first, so a backlog is delivered in order without a state for it.
    return { condition: SOUND, disabled: null, alertMs: null }
  }
  const failed = afterFailedDelivery(health, seq, result.status, nowMs)
  const alertMs = dueAlertMs(failed, nowMs)
  return {
    condition: {
      breaker: afterFailure(breaker, nowMs, result.retryAfterMs, probeWaitsMs),
      health: alertMs === null ? failed : { ...failed, alertedMs: alertMs },
    },
    disabled: shouldDisable(failed, nowMs) ? whyDisabled(failed) : null,
    alertMs,
  }
}

const whyDisabled = ({ gone, attempts, failedSeqs }: EndpointHealth): string =>
  gone > 1
    ? `the receiver answered 410 Gone ${gone} times in a row`
    : `${attempts} attempts of at least ${failedSeqs.length} signals failed, and none succeeded for three days`
