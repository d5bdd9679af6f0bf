// How a webhook stands: its breaker, and how it has fared since its last success. Values, moved on after each attempt.
import { afterFailure, type Breaker, CLOSED_BREAKER } from './breaker.ts'
import {
  afterFailedDelivery,
  dueAlertMs,
  type EndpointHealth,
  HEALTHY,
  shouldDisable,
} from './endpoint-health.ts'
import { WAITS } from './policy.ts'

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
