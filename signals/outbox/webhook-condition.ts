// The condition of a webhook: its breaker, and its failures since the last success. Values, updated after
// each attempt.
import type { Failed } from '../send/outcome.ts'
import * as policy from '../send/policy.ts'

export type Condition = {
  readonly breaker: Breaker
  readonly health: Health
}

type Breaker =
  /** Deliveries flow. `failures` counts consecutive ones. */
  | { readonly kind: 'closed'; readonly failures: number }
  /** Only a probe, the newest signal, is sent, from `probeAtMs` on. `probes` counts failed ones. */
  | { readonly kind: 'open'; readonly probes: number; readonly probeAtMs: number }

/** Counted from the first failure after a success; includes probes. */
type Health = {
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

/** After a success. */
export const SOUND: Condition = {
  breaker: { kind: 'closed', failures: 0 },
  health: { failingSinceMs: null, attempts: 0, failedSeqs: [], gone: 0, alertedMs: 0 },
}

export const isSound = ({ breaker, health }: Condition): boolean =>
  breaker.kind === 'closed' && breaker.failures === 0 && health.failingSinceMs === null

/** When an open breaker lets the next attempt through; null if it is closed. */
export const probeAtMs = ({ breaker }: Condition): number | null =>
  breaker.kind === 'open' ? breaker.probeAtMs : null

type Failure = Pick<Failed, 'kind' | 'status' | 'retryAfterMs'>

/**
 * The condition after an attempt to deliver signal `seq`, why the webhook is to be disabled, and for how long it has failed if an
 * alert is due.
 */
export function conditionAfter(
  { breaker, health }: Condition,
  seq: number,
  result: { readonly kind: 'delivered' } | Failure,
  nowMs: number,
): { readonly condition: Condition; readonly disabled: string | null; readonly alertMs: number | null } {
  // One worker sends to a client, lowest number first, so a backlog is delivered in order without a state for it.
  if (result.kind === 'delivered') return { condition: SOUND, disabled: null, alertMs: null }
  const failed = healthAfter(health, seq, result, nowMs)
  const alertMs = dueAlertMs(failed, nowMs)
  return {
    condition: {
      breaker: breakerAfter(breaker, result, nowMs),
      health: alertMs === null ? failed : { ...failed, alertedMs: alertMs },
    },
    disabled: whyDisabled(failed, nowMs),
    alertMs,
  }
}

function breakerAfter(breaker: Breaker, { retryAfterMs }: Failure, nowMs: number): Breaker {
  // The attempt began before the breaker opened: it is no probe.
  if (breaker.kind === 'open' && nowMs < breaker.probeAtMs) return breaker
  const failures = breaker.kind === 'open' ? policy.BREAKER_FAILURES : breaker.failures + 1
  if (failures < policy.BREAKER_FAILURES) return { kind: 'closed', failures }
  const probes = breaker.kind === 'open' ? breaker.probes + 1 : 0
  const waitMs = policy.PROBE_WAITS_MS[probes] ?? policy.PROBE_WAITS_MS.at(-1)!
  return { kind: 'open', probes, probeAtMs: nowMs + policy.clampRetryAfter(waitMs, retryAfterMs) }
}

function healthAfter(health: Health, seq: number, { status }: Failure, nowMs: number): Health {
  const { failedSeqs } = health
  const isNew = failedSeqs.length < policy.DISABLE_AFTER_SIGNALS && !failedSeqs.includes(seq)
  return {
    ...health,
    failingSinceMs: health.failingSinceMs ?? nowMs,
    attempts: health.attempts + 1,
    failedSeqs: isNew ? [...failedSeqs, seq] : failedSeqs,
    gone: status === GONE ? health.gone + 1 : 0,
  }
}

const GONE = 410

/** The longest alert time that has passed without an alert, or null. */
function dueAlertMs({ failingSinceMs, alertedMs }: Health, nowMs: number): number | null {
  const passed = policy.ALERT_AFTER_MS.findLast(afterMs => nowMs - (failingSinceMs ?? nowMs) >= afterMs)
  return passed !== undefined && passed > alertedMs ? passed : null
}

/**
 * Why the endpoint is to be disabled, or null. Counted from the first failure, not from the last success: a client without
 * signals for a week is not disabled within minutes.
 */
function whyDisabled({ gone, failingSinceMs, failedSeqs, attempts }: Health, nowMs: number): string | null {
  if (gone >= policy.DISABLE_AFTER_GONE) return `the receiver answered 410 Gone ${gone} times in a row`
  const isOver = nowMs - (failingSinceMs ?? nowMs) >= policy.DISABLE_AFTER_MS
  const isSure =
    failedSeqs.length >= policy.DISABLE_AFTER_SIGNALS && attempts >= policy.DISABLE_AFTER_ATTEMPTS
  if (!isOver || !isSure) return null
  return `${attempts} attempts of at least ${failedSeqs.length} signals failed, and none succeeded for three days`
}
