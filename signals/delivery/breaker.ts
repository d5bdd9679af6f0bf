// One client's breaker, as a value: it keeps a dead receiver from burning the attempts of every signal.
import { BREAKER_FAILURES, clampRetryAfter, PROBE_WAITS_MS } from './policy.ts'

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
