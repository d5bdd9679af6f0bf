// How an endpoint has fared since it last took a delivery: when to alert about it, and when to give it up.
import {
  ALERT_AFTER_MS,
  DISABLE_AFTER_ATTEMPTS,
  DISABLE_AFTER_GONE,
  DISABLE_AFTER_MS,
  DISABLE_AFTER_SIGNALS,
} from './policy.ts'

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
