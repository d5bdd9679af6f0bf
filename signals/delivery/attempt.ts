// One attempt at one delivery, and how it changes the outbox and the webhook.
import type { LoggedSignal } from '../log/read-log.ts'
import type { Attempt, DeliveryState } from '../outbox/outbox.ts'
import { burnsAttempt, type Condition, conditionAfter, isSound, probeAtMs } from '../outbox/webhook-condition.ts'
import type { Webhook } from '../outbox/webhooks.ts'
import type { OurFaultReason, Outcome } from '../send/outcome.ts'
import { clampRetryAfter, nextRetryMs, SUSPECT_AFTER_MS } from '../send/policy.ts'
import { liveSecrets } from '../send/sign.ts'
import type { DeliveryEvent, DeliveryParts } from './delivery-parts.ts'
import type { Due, Settlement } from './work.ts'

/** The result of an attempt, and the events to emit once it is written. */
export type Tried = { readonly settlement: Settlement; readonly events: readonly DeliveryEvent[] }

type Answered = Exclude<Outcome, { kind: 'ourFault' }>

/** Makes an attempt. Returns the reason if an internal fault prevented it: the delivery stays due. */
export async function attemptDelivery(
  parts: DeliveryParts,
  webhook: Webhook,
  signal: LoggedSignal,
  due: Due,
): Promise<Tried | OurFaultReason> {
  const { client, url } = webhook
  const at = parts.now()
  const number = due.state.attempts + 1
  const secrets = liveSecrets(webhook.secrets, at)
  const outcome = await parts.send({ url, secrets, signal, prevSeq: due.state.prev, attempt: number })
  if (outcome.kind === 'ourFault') return outcome.reason
  const counts = outcome.kind === 'delivered' || burnsAttempt(webhook.condition.breaker)
  const attempt = toAttempt(outcome, at, counts ? number : null)
  const { state, dueMs } = stateAfter(parts, due.state, outcome, attempt)
  const moved = webhookAfter(parts, webhook, due.seq, outcome)
  const events: DeliveryEvent[] = [
    { kind: 'attempt', client, seq: due.seq, attempt, firedAtMs: signal.atMs },
    ...(state.status === 'exhausted' ? [{ kind: 'exhausted' as const, client, seq: due.seq }] : []),
    ...moved.events,
  ]
  return {
    settlement: { state, dueMs: dueForProbe(dueMs, moved.webhook), attempt, webhook: moved.webhook },
    events,
  }
}

/** The signal that opens the breaker is due at its first probe: it may be the only one. */
function dueForProbe(dueMs: number | null, webhook: Settlement['webhook']): number | null {
  const probeMs = webhook === null ? null : probeAtMs(webhook.condition)
  return dueMs === null || probeMs === null ? dueMs : Math.min(dueMs, probeMs)
}

function stateAfter(
  parts: DeliveryParts,
  before: DeliveryState,
  outcome: Answered,
  attempt: Attempt,
): { readonly state: DeliveryState; readonly dueMs: number | null } {
  const { status, dueMs, attempts } = verdict(parts, before, outcome, attempt.n !== null)
  const state = {
    ...before,
    status,
    attempts,
    first_attempt_at: before.first_attempt_at ?? attempt.at,
    settled_at: dueMs === null ? parts.now() : null,
  }
  return { state, dueMs }
}

/** A failed probe uses up no attempt: its signal stays due, and the breaker decides when to try again. */
function verdict(
  { now, random, waits }: DeliveryParts,
  { attempts }: DeliveryState,
  outcome: Answered,
  counts: boolean,
): { readonly status: DeliveryState['status']; readonly dueMs: number | null; readonly attempts: number } {
  if (outcome.kind === 'delivered') return { status: 'delivered', dueMs: null, attempts: attempts + 1 }
  if (!counts) return { status: 'owed', dueMs: now(), attempts }
  const waitMs = nextRetryMs(attempts + 1, random, waits.retryMs)
  if (waitMs === null) return { status: 'exhausted', dueMs: null, attempts: attempts + 1 }
  const dueMs = now() + clampRetryAfter(waitMs, outcome.retryAfterMs)
  return { status: 'owed', dueMs, attempts: attempts + 1 }
}

/** The state of the webhook after an answer; null if unchanged, as for healthy ones. */
function webhookAfter(
  { now, waits }: DeliveryParts,
  { client, condition, lane: before }: Webhook,
  seq: number,
  outcome: Answered,
): { readonly webhook: Settlement['webhook']; readonly events: readonly DeliveryEvent[] } {
  const moved = conditionAfter(condition, seq, outcome, now(), waits.probeMs)
  const isSlow = outcome.kind === 'failed' || outcome.totalMs > SUSPECT_AFTER_MS
  const lane = isSlow ? 'slow' : 'fast'
  if (lane === before && isSame(moved.condition, condition)) return { webhook: null, events: [] }
  const isBack = condition.breaker.kind === 'open' && outcome.kind === 'delivered'
  const hurries = isBack || moved.disabled !== null
  const webhook = { condition: moved.condition, lane, disabledWhy: moved.disabled, hurries } as const
  if (moved.disabled !== null) return { webhook, events: [{ kind: 'disabled', client, why: moved.disabled }] }
  if (moved.alertMs === null) return { webhook, events: [] }
  return { webhook, events: [{ kind: 'failing', client, forMs: moved.alertMs }] }
}

const isSame = (after: Condition, before: Condition): boolean =>
  (isSound(after) && isSound(before)) || JSON.stringify(after) === JSON.stringify(before)

export const toAttempt = (outcome: Answered, at: number, n: number | null): Attempt => ({
  at,
  n,
  ok: outcome.kind === 'delivered',
  status: outcome.status,
  reason: outcome.kind === 'delivered' ? null : outcome.reason,
  first_byte_ms: outcome.firstByteMs,
  total_ms: outcome.totalMs,
  excerpt: outcome.excerpt,
})
