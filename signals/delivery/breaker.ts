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
export function afterFailure(breaker: Breaker, nowMs: number, retryAfterMs: number | null = null): Breaker {
  if (breaker.kind === 'open') {
    // Began before the breaker opened, ended after: it is no probe.
    if (nowMs < breaker.probeAtMs) return breaker
    return opened(breaker.probes + 1, nowMs, retryAfterMs)
  }
  const failures = breaker.failures + 1
  return failures < BREAKER_FAILURES ? { kind: 'closed', failures } : opened(0, nowMs, retryAfterMs)
}

function opened(probes: number, nowMs: number, retryAfterMs: number | null): Breaker {
  const waitMs = PROBE_WAITS_MS[Math.min(probes, PROBE_WAITS_MS.length - 1)]!
  return { kind: 'open', probes, probeAtMs: nowMs + clampRetryAfter(waitMs, retryAfterMs) }
}
