// A delivery from "due" to "acknowledged". A worker leases a destination, sends what is due to it, one request at a time and in order,
// and writes what became of each. What it asks of Redis is in scripts.ts, beside this file.
import { LRUCache } from 'lru-cache'
import type { Signal } from '#core/contract/signal.ts'
import type { LoggedSignal, LogReader } from '../log/read-log.ts'
import type { Destination } from '../outbox/destination.ts'
import { type Attempt, type DeliveryState, type Lane, toAttempt } from '../outbox/outbox.ts'
import { endpointView, isEntitled, type RelayParts } from '../outbox/relay.ts'
import type { SecretBox } from '../outbox/secret-box.ts'
import { type Condition, conditionAfter, isSound, probeAtMs } from '../outbox/webhook-condition.ts'
import { toWebhook, type Webhook } from '../outbox/webhooks.ts'
import { RedisDownError } from '../redis/connect.ts'
import type { StartTimer } from '../send/guarded-connect.ts'
import type { Answered, OurFaultReason } from '../send/outcome.ts'
import { clampRetryAfter, NOTICE_AFTER_MS, nextRetryMs, SUSPECT_AFTER_MS } from '../send/policy.ts'
import type { SendSignal } from '../send/send.ts'
import { liveSecrets } from '../send/sign.ts'
import { type Cause, type Due, type Released, type Settlement, settle, type Taking, take } from './scripts.ts'

type OfDelivery = { readonly destination: Destination; readonly seq: number }

export type DeliveryEvent =
  | (OfDelivery & { readonly kind: 'attempt'; readonly attempt: Attempt; readonly firedAtMs: number })
  | (OfDelivery & { readonly kind: 'exhausted' | 'withdrawn' | 'expired' })
  | { readonly kind: 'disabled'; readonly destination: Destination; readonly why: string }
  | { readonly kind: 'failing'; readonly destination: Destination; readonly forMs: number }
  /** No attempt was made, for a reason that is not the receiver's. */
  | {
      readonly kind: 'our fault'
      readonly destination: Destination
      /** Null if the destination itself could not be processed. */
      readonly seq: number | null
      readonly reason: OurFaultReason | 'program_error'
      /** How many in a row, including this one. */
      readonly inARow: number
    }
  /** The clock of this machine has jumped, or it differs from that of Redis. */
  | { readonly kind: 'clock'; readonly jumpMs: number; readonly offMs: number }
  /** Clients are due and no worker has started one for this long. */
  | { readonly kind: 'stuck'; readonly waiting: number; readonly forMs: number }

/** What delivery needs of its environment. */
export type DeliveryParts = Pick<RelayParts, 'redis' | 'now' | 'random'> & {
  readonly box: SecretBox
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** A unique name. */
  readonly newToken: () => string
  readonly sleep: (ms: number) => Promise<void>
  readonly startTimer: StartTimer
  readonly readSignal: LogReader['readSignal']
  readonly send: SendSignal
  /** How long a worker may be silent before another takes its destination. */
  readonly flightMs: number
  /** True once no further delivery is started. */
  readonly isStopping: () => boolean
  readonly faults: Faults
  readonly onEvent: (event: DeliveryEvent) => void
  /** Called for errors of the program. */
  readonly onError: (error: unknown) => void
}

/** A worker releases a destination after this time, so that others get their turn. */
const TURN_MS = 5_000

/** The longest turn as a share of the lease, which is never extended. */
const TURN_SHARE = 0.25

/**
 * No request is started after this share of the lease, however long this process or Redis paused: its deadline and
 * the write of its result must fit into the rest.
 */
export const LAST_START_SHARE = 0.4

/** A result waits for a Redis that is away, so that the signal is not sent twice. */
const SETTLE_AGAIN_MS = 250

const OUR_FAULT_WAIT_MS = 2_000

/** The longest wait after an error of the program: a fixed release is deployed within minutes. */
const LONGEST_ERROR_WAIT_MS = 300_000

/** A worker with the destination that it has leased. Both times are of the clock that is never set. */
type Turn = DeliveryParts &
  Taking & { readonly lane: Lane; readonly endsMs: number; readonly lastStartMs: number }

type Step = {
  readonly settlement: Settlement
  /** When to continue; null if this worker does at once, as long as its turn lasts. */
  readonly leaveUntilMs: number | null
  /** Emitted once the result is written. */
  readonly events: readonly DeliveryEvent[]
}

/**
 * Delivers what is due to a destination, unless another worker has it: that one finds everything, because a destination is
 * released in the step that finds nothing due. Resolves with when to look at the destination again.
 */
export async function drainDestination(
  parts: DeliveryParts,
  destination: Destination,
  lane: Lane,
): Promise<Released> {
  const { elapsed, flightMs } = parts
  const beginMs = elapsed() // before Redis starts to count
  const endsMs = beginMs + Math.min(TURN_MS, flightMs * TURN_SHARE)
  const lastStartMs = beginMs + flightMs * LAST_START_SHARE
  const turn = { ...parts, destination, token: parts.newToken(), lane, endsMs, lastStartMs }
  try {
    const released = await runTurn(turn)
    if (released.kind !== 'busy') endFaults(turn, null)
    return released
  } catch (error) {
    // The result cannot be written: the lease ends, and a worker takes the destination again.
    if (!(error instanceof RedisDownError)) reportFault(turn, null, 'program_error')
    throw error
  }
}

async function runTurn(turn: Turn): Promise<Released> {
  const { redis, now, elapsed, onEvent } = turn
  let found = await take(redis, turn, now())
  while (found.kind === 'send') {
    const step = elapsed() < turn.lastStartMs ? await deliverSurely(turn, found) : untried(now())
    const { isCurrent, next } = await settleSurely(turn, found, step)
    for (const event of step.events)
      if (isCurrent || !(event.kind === 'exhausted' || event.kind === 'expired')) onEvent(event)
    found = next
  }
  return found
}

/** An error of the program is no failure of the receiver: the delivery waits, and the others go on. */
async function deliverSurely(turn: Turn, due: Due): Promise<Step> {
  try {
    return await deliver(turn, due)
  } catch (error) {
    if (error instanceof RedisDownError) return untried(turn.now() + OUR_FAULT_WAIT_MS)
    turn.onError(error)
    const inARow = reportFault(turn, due.seq, 'program_error')
    const waitMs = Math.min(OUR_FAULT_WAIT_MS * 2 ** (inARow - 1), LONGEST_ERROR_WAIT_MS)
    return { ...AT_ONCE, settlement: { ...NOTHING, state: due.state, dueMs: turn.now() + waitMs } }
  }
}

/** Checks everything again, and makes an attempt. */
async function deliver(turn: Turn, due: Due): Promise<Step> {
  const { box, destination, now } = turn
  const reading = turn.readSignal(due.seq)
  const signal = await reading
  // Webhook and entitlement may have changed while it was read: they are found again, and the signal is known then.
  if (reading instanceof Promise && signal !== undefined) return AT_ONCE
  const webhook = openWebhook(box, destination, due.webhook)
  const mayHave =
    signal !== undefined &&
    due.record !== null &&
    isEntitled(endpointView(due.record, destination, webhook?.filter ?? null), signal)
  if (webhook === null || !mayHave) return unsent(turn, due, { status: 'withdrawn' })
  if (!webhook.enabled) return unsent(turn, due, { status: 'withdrawn', disabled: true })
  if (isExpired(signal, due.state, webhook.expireAfterS, now()))
    return unsent(turn, due, { status: 'expired' })
  if (webhook.lane === 'slow' && turn.lane === 'fast') return untried(now())
  return attemptDelivery(turn, due, webhook, signal)
}

/**
 * Whether an attempt that is due is not to be made, because the signal was committed more than `afterS` seconds ago: a live entry
 * alone, and none that somebody had resent. A position must be closed however late: a `flat` never expires. Null is never.
 */
export function isExpired(
  { body, atMs }: LoggedSignal,
  { resent }: Pick<DeliveryState, 'resent'>,
  afterS: number | null,
  nowMs: number,
): boolean {
  if (afterS === null || resent === true || nowMs - atMs <= afterS * 1_000) return false
  const { mode, is_test, action } = JSON.parse(body) as Signal // the log holds signals alone
  return mode === 'LIVE' && !is_test && (action === 'long' || action === 'short')
}

/** It is not sent. The client can still pull it, and a resend owes it again. */
function unsent(
  { now, destination }: Turn,
  { seq, state: before }: Due,
  end: { readonly status: 'withdrawn' | 'expired'; readonly disabled?: true },
): Step {
  const state: DeliveryState = { ...before, ...end, settled_at: now() }
  const events = [{ kind: end.status, destination, seq }]
  return { ...AT_ONCE, settlement: { ...NOTHING, state }, events }
}

/** One request, and what it changes. An internal fault that prevented it leaves the delivery due. */
async function attemptDelivery(turn: Turn, due: Due, webhook: Webhook, signal: LoggedSignal): Promise<Step> {
  const { destination, now } = turn
  const { seq, state: before } = due
  const at = now()
  const number = before.attempts + 1
  const { url, headers } = webhook
  const secrets = liveSecrets(webhook.secrets, at)
  const outcome = await turn.send({ url, secrets, headers, signal, prevSeq: before.prev, attempt: number })
  if (outcome.kind === 'ourFault') {
    reportFault(turn, seq, outcome.reason)
    return untried(now() + OUR_FAULT_WAIT_MS)
  }
  endFaults(turn, seq)
  // A probe tests the receiver, not its signal.
  const counts = outcome.kind === 'delivered' || webhook.condition.breaker.kind !== 'open'
  const attempt = toAttempt(outcome, at, counts ? number : null)
  const { state, dueMs } = stateAfter(turn, before, outcome, attempt)
  const moved = webhookAfter(webhook, seq, outcome, now())
  // The signal that opens the breaker is due at its first probe: it may be the only one.
  const probeMs = moved.webhook && probeAtMs(moved.webhook.condition)
  return {
    settlement: { state, dueMs: dueMs && Math.min(dueMs, probeMs ?? dueMs), attempt, webhook: moved.webhook },
    leaveUntilMs: (moved.webhook ?? webhook).lane === 'slow' && turn.lane === 'fast' ? now() : null,
    events: [
      { kind: 'attempt', destination, seq, attempt, firedAtMs: signal.atMs },
      ...(state.status === 'exhausted' ? [{ kind: 'exhausted' as const, destination, seq }] : []),
      ...moved.events,
    ],
  }
}

/** The state of the delivery after an answer, and when it is tried again. */
function stateAfter(
  { now, random }: Turn,
  before: DeliveryState,
  outcome: Answered,
  { at, n }: Attempt,
): { readonly state: DeliveryState; readonly dueMs: number | null } {
  const state = { ...before, attempts: n ?? before.attempts, first_attempt_at: before.first_attempt_at ?? at }
  const owed = (dueMs: number) => ({ state: { ...state, status: 'owed', settled_at: null }, dueMs }) as const
  if (outcome.kind === 'delivered')
    return { state: { ...state, status: 'delivered', settled_at: now() }, dueMs: null }
  if (n === null) return owed(now()) // the breaker decides when to try again
  const waitMs = nextRetryMs(n, random)
  if (waitMs === null) return { state: { ...state, status: 'exhausted', settled_at: now() }, dueMs: null }
  return owed(now() + clampRetryAfter(waitMs, outcome.retryAfterMs))
}

/** The webhook after an answer; null if unchanged, as for healthy ones. */
function webhookAfter(
  { destination, condition, lane: before }: Webhook,
  seq: number,
  outcome: Answered,
  nowMs: number,
): Pick<Settlement, 'webhook'> & { readonly events: readonly DeliveryEvent[] } {
  const moved = conditionAfter(condition, seq, outcome, nowMs)
  const isSlow = outcome.kind === 'failed' || outcome.total_ms > SUSPECT_AFTER_MS
  const lane = isSlow ? 'slow' : 'fast'
  if (lane === before && isSame(moved.condition, condition)) return { webhook: null, events: [] }
  const isBack = condition.breaker.kind === 'open' && outcome.kind === 'delivered'
  const hurries = isBack || moved.disabled !== null
  const notice = noticeOf(condition, moved, outcome, nowMs)
  const { disabled: why, alertMs: forMs } = moved
  const webhook = { condition: moved.condition, lane, disabledWhy: why, hurries, notice } as const
  if (why !== null) return { webhook, events: [{ kind: 'disabled', destination, why }] }
  return { webhook, events: forMs === null ? [] : [{ kind: 'failing', destination, forMs }] }
}

/** What the owner of the endpoint has to know of an attempt: each once in a row of failures. */
function noticeOf(
  { health: before }: Condition,
  { condition, disabled }: ReturnType<typeof conditionAfter>,
  outcome: Answered,
  nowMs: number,
): Cause | null {
  if (disabled !== null) return { event: 'endpoint_disabled', reason: disabled }
  const { alertedMs, failingSinceMs } = condition.health
  const isAnHour = alertedMs >= NOTICE_AFTER_MS && before.alertedMs < NOTICE_AFTER_MS
  if (!isAnHour || failingSinceMs === null || outcome.kind !== 'failed') return null
  const minutes = Math.floor((nowMs - failingSinceMs) / MINUTE_MS)
  const last = outcome.status ?? outcome.reason.replaceAll('_', ' ')
  const reason = `no attempt has succeeded for ${minutes} minutes; the last one: ${last}`
  return { event: 'endpoint_failing', reason }
}

const MINUTE_MS = 60_000

const isSame = (after: Condition, before: Condition): boolean =>
  (isSound(after) && isSound(before)) || JSON.stringify(after) === JSON.stringify(before)

/**
 * Writes a result, waiting for a Redis that is away for up to the duration of a lease. Whether the turn goes on is
 * decided at each try: after a long wait too little of the lease is left for another request.
 */
async function settleSurely(turn: Turn, due: Due, { settlement, leaveUntilMs }: Step) {
  const { redis, now, elapsed, isStopping, sleep } = turn
  const givesUpMs = elapsed() + turn.flightMs
  for (;;) {
    const isOver = elapsed() >= turn.endsMs || isStopping()
    try {
      return await settle(redis, turn, due, settlement, now(), leaveUntilMs ?? (isOver ? now() : null))
    } catch (error) {
      if (!(error instanceof RedisDownError) || elapsed() >= givesUpMs) throw error
      await sleep(SETTLE_AGAIN_MS)
    }
  }
}

const NOTHING: Settlement = { state: null, dueMs: null, attempt: null, webhook: null }

/** Nothing is written, and the turn goes on. */
const AT_ONCE: Step = { settlement: NOTHING, leaveUntilMs: null, events: [] }

/** The delivery stays due for the next worker. */
const untried = (leaveUntilMs: number): Step => ({ ...AT_ONCE, leaveUntilMs })

/**
 * Internal faults in a row, by destination and number, which is empty for the processing of the destination itself: no receiver is charged
 * with them, so these counts are what makes them wait and raises alerts.
 */
type Faults = LRUCache<string, number>

/** More rows count from 1 again. */
const MOST_ROWS = 10_000

export const createFaults = (): Faults => new LRUCache({ max: MOST_ROWS })

const endFaults = ({ faults, destination }: Turn, seq: number | null): unknown =>
  faults.size > 0 && faults.delete(`${destination} ${seq ?? ''}`)

/** Counts a fault, reports it, and returns how many there were in a row. */
function reportFault(turn: Turn, seq: number | null, reason: OurFaultReason | 'program_error'): number {
  const { faults, onEvent, destination } = turn
  const row = `${destination} ${seq ?? ''}`
  const inARow = (faults.get(row) ?? 0) + 1
  faults.set(row, inARow)
  onEvent({ kind: 'our fault', destination, seq, reason, inARow })
  return inARow
}

/** Webhooks by their records, which must not change; freed with them. */
const opened = new WeakMap<object, Webhook>()

/** `toWebhook`, cached: a webhook is opened for every delivery. */
function openWebhook(box: SecretBox, destination: Destination, fields: Due['webhook']): Webhook | null {
  const webhook = opened.get(fields) ?? toWebhook(box, destination, fields)
  if (webhook !== null) opened.set(fields, webhook)
  return webhook
}
