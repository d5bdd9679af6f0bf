// How a webhook stands: its breaker, and how it has fared since its last success. Values, moved on after each attempt.
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
} from './policy.ts'

export type Breaker =
  /** Deliveries flow. `failures` counts those in a row. */
  | { readonly kind: 'closed'; readonly failures: number }
  /** Nothing is sent but a probe, the newest signal, from `probeAtMs` on. `probes` counts those that failed. */
  | { readonly kind: 'open'; readonly probes: number; readonly probeAtMs: number }

export const CLOSED_BREAKER: Breaker = { kind: 'closed', failures: 0 }

/** Whether a failure now counts against the signal. A probe asks for the receiver, not for the signal that it carries. */
export const burnsAttempt = (breaker: Breaker): boolean => breaker.kind !== 'open'

/** After a delivery that failed; one that succeeded closes it, whatever it was. */
export function afterFailure(
  breaker: Breaker,
  nowMs: number,
  retryAfterMs: number | null = null,
  waitsMs: readonly number[] = PROBE_WAITS_MS,
): Breaker {
  if (breaker.kind === 'open') {
    // Began before the breaker opened, ended after: it is no probe.
    if (nowMs < breaker.probeAtMs) return breaker
    return opened(breaker.probes + 1, nowMs, retryAfterMs, waitsMs)
  }
  const failures = breaker.failures + 1
  return failures < BREAKER_FAILURES ? { kind: 'closed', failures } : opened(0, nowMs, retryAfterMs, waitsMs)
}

function opened(
  probes: number,
  nowMs: number,
  retryAfterMs: number | null,
  waitsMs: readonly number[],
): Breaker {
  const waitMs = waitsMs[Math.min(probes, waitsMs.length - 1)]!
  return { kind: 'open', probes, probeAtMs: nowMs + clampRetryAfter(waitMs, retryAfterMs) }
}

/** What is counted from the first failure after a success on; probes of an open breaker count too. */
export type EndpointHealth = {
  /** When the first of these failures was, null where the last delivery succeeded. */
  readonly failingSinceMs: number | null
  readonly attempts: number
  /** The first distinct signals that failed, as many as the decision to disable needs. */
  readonly failedSeqs: readonly number[]
  /** Answers `410 Gone` in a row. */
  readonly gone: number
  /** The longest failing time that an alert was raised for, 0 for none. */
  readonly alertedMs: number
}

export const HEALTHY: EndpointHealth = {
  failingSinceMs: null,
  attempts: 0,
  failedSeqs: [],
  gone: 0,
  alertedMs: 0,
}

/** One more failed delivery; `status` is null where there was no answer. A success is HEALTHY. */
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
 * Whether the endpoint is to be disabled. The time is that since the first failure, not since the last success: a client
 * that had no signal for a week is not given up within minutes of its first failure.
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

/** The longest of the alert times that has passed and that no alert was raised for, or null. Keep it in `alertedMs`. */
export function dueAlertMs({ failingSinceMs, alertedMs }: EndpointHealth, nowMs: number): number | null {
  if (failingSinceMs === null) return null
  const passed = ALERT_AFTER_MS.findLast(afterMs => nowMs - failingSinceMs >= afterMs)
  return passed !== undefined && passed > alertedMs ? passed : null
}

const GONE = 410

export type Condition = { readonly breaker: Breaker; readonly health: EndpointHealth }

export const SOUND: Condition = { breaker: CLOSED_BREAKER, health: HEALTHY }

/** Whether nothing has failed since the last success. */
export const isSound = ({ breaker, health }: Condition): boolean =>
  breaker.kind === 'closed' && breaker.failures === 0 && health.failingSinceMs === null

/** Until when nothing is sent to it, null where it may be sent to. */
export const probeAtMs = ({ breaker }: Condition): number | null =>
  breaker.kind === 'open' ? breaker.probeAtMs : null

/** What an attempt says of the receiver. */
type Result =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed'; readonly status: number | null; readonly retryAfterMs: number | null }

/** The condition after an attempt, whether the webhook is to be disabled (why), and whether to alert (failing for so long). */
export function conditionAfter(
  { breaker, health }: Condition,
  seq: number,
  result: Result,
  nowMs: number,
  probeWaitsMs: readonly number[] = WAITS.probeMs,
): { readonly condition: Condition; readonly disabled: string | null; readonly alertMs: number | null } {
  if (result.kind === 'delivered') {
    // One worker sends to a client, lowest number first: what has piled up is in order without a state of its own.
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
