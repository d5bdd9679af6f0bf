// One turn of a worker: delivers what is due to one client, one request at a time, in order.
import type { Lane } from '../outbox/outbox.ts'
import type { SecretBox } from '../outbox/secret-box.ts'
import { isEntitled } from '../outbox/subscribers.ts'
import { toWebhook, type Webhook } from '../outbox/webhooks.ts'
import { RedisDownError } from '../redis/connect.ts'
import type { OurFaultReason } from '../send/outcome.ts'
import { attemptDelivery } from './attempt.ts'
import { type DeliveryEvent, type DeliveryParts, errorWaitMs, OUR_FAULT_WAIT_MS } from './delivery-parts.ts'
import { type Due, type Found, type Settlement, settle, type Taking, take } from './work.ts'

/** A worker releases a client after this time, so that others get their turn. */
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

/** When to look at the client again; `busy` and `done` need no further look. */
export type DrainResult =
  | { readonly kind: 'busy' | 'done' }
  | { readonly kind: 'later'; readonly atMs: number; readonly lane: Lane }

/** Both times are of the clock that is never set. */
type Turn = Taking & { readonly lane: Lane; readonly endsMs: number; readonly lastStartMs: number }

type Step = {
  readonly settlement: Settlement
  /** The lane of the client now. */
  readonly lane: Lane
  /** When to continue; null if this worker does at once, as long as its turn lasts. */
  readonly leaveUntilMs: number | null
  /** Emitted once the result is written. */
  readonly events: readonly DeliveryEvent[]
}

/**
 * Delivers what is due to a client, unless another worker has it: that one finds everything, because a client is
 * released in the step that finds nothing due.
 */
export async function drainClient(parts: DeliveryParts, client: string, lane: Lane): Promise<DrainResult> {
  try {
    const result = await runTurn(parts, client, lane)
    if (result.kind !== 'busy') parts.faults.end({ client, seq: null })
    return result
  } catch (error) {
    // The result cannot be written: the lease ends, and a worker takes the client again.
    if (!(error instanceof RedisDownError)) reportFault(parts, client, null, 'program_error')
    throw error
  }
}

async function runTurn(parts: DeliveryParts, client: string, lane: Lane): Promise<DrainResult> {
  const { redis, now, elapsed, flightMs } = parts
  const beginMs = elapsed() // before Redis starts to count
  const endsMs = beginMs + Math.min(TURN_MS, flightMs * TURN_SHARE)
  const lastStartMs = beginMs + flightMs * LAST_START_SHARE
  const turn = { client, token: parts.newToken(), flightMs, lane, endsMs, lastStartMs }
  let found = await take(redis, turn, now())
  let step: Step | null = null
  while (found.kind === 'send') {
    step = elapsed() < lastStartMs ? await deliverSurely(parts, turn, found) : untried(lane, now())
    const { isCurrent, next } = await settleSurely(parts, turn, found, step)
    for (const event of step.events) if (isCurrent || event.kind !== 'exhausted') parts.onEvent(event)
    found = next
  }
  return toResult(found, step?.leaveUntilMs ?? now(), step?.lane ?? lane)
}

function toResult(found: Exclude<Found, Due>, leaveUntilMs: number, lane: Lane): DrainResult {
  switch (found.kind) {
    case 'busy':
    case 'lost':
      return { kind: 'busy' }
    case 'held':
      return { kind: 'later', atMs: found.atMs, lane: 'slow' }
    case 'left':
      return { kind: 'later', atMs: leaveUntilMs, lane }
    case 'free':
      return found.atMs === null ? { kind: 'done' } : { kind: 'later', atMs: found.atMs, lane }
  }
}

/**
 * Writes a result, waiting for a Redis that is away for up to the duration of a lease. Whether the turn goes on is
 * decided at each try: after a long wait too little of the lease is left for another request.
 */
async function settleSurely(parts: DeliveryParts, turn: Turn, due: Due, { settlement, leaveUntilMs }: Step) {
  const { redis, now, elapsed, sleep } = parts
  const endsMs = elapsed() + turn.flightMs
  for (;;) {
    try {
      return await settle(redis, turn, due, settlement, now(), leaveUntilMs ?? endOf(parts, turn))
    } catch (error) {
      if (!(error instanceof RedisDownError) || elapsed() >= endsMs) throw error
      await sleep(SETTLE_AGAIN_MS)
    }
  }
}

/** An error of the program is no failure of the receiver: the delivery waits, and the others go on. */
async function deliverSurely(parts: DeliveryParts, turn: Turn, due: Due): Promise<Step> {
  try {
    return await deliver(parts, turn, due)
  } catch (error) {
    if (error instanceof RedisDownError) return untried(turn.lane, parts.now() + OUR_FAULT_WAIT_MS)
    parts.onError(error)
    const inARow = reportFault(parts, turn.client, due.seq, 'program_error')
    const settlement = { ...NOTHING, state: due.state, dueMs: parts.now() + errorWaitMs(inARow) }
    return { settlement, lane: turn.lane, leaveUntilMs: null, events: [] }
  }
}

function reportFault(
  { faults, onEvent }: DeliveryParts,
  client: string,
  seq: number | null,
  reason: OurFaultReason | 'program_error',
): number {
  const inARow = faults.count({ client, seq })
  onEvent({ kind: 'our fault', client, seq, reason, inARow })
  return inARow
}

/** Checks everything again, and sends. */
async function deliver(parts: DeliveryParts, turn: Turn, due: Due): Promise<Step> {
  const { record, seq } = due
  const reading = parts.readSignal(seq)
  const signal = await reading
  // Webhook and entitlement may have changed while it was read: they are found again, and the signal is known then.
  if (reading instanceof Promise && signal !== null)
    return { settlement: NOTHING, lane: turn.lane, leaveUntilMs: null, events: [] }
  const webhook = openWebhook(parts.box, turn.client, due.webhook)
  const mayHave = signal !== null && record !== null && isEntitled(record, signal)
  if (webhook === null || !webhook.enabled || !mayHave) {
    const events = [{ kind: 'withdrawn', client: turn.client, seq }] as const
    return { settlement: withdrawn(parts, due), lane: turn.lane, leaveUntilMs: null, events }
  }
  if (webhook.lane === 'slow' && turn.lane === 'fast') return untried('slow', parts.now())
  const tried = await attemptDelivery(parts, webhook, signal, due)
  if (typeof tried === 'string') {
    reportFault(parts, turn.client, seq, tried)
    return untried(turn.lane, parts.now() + OUR_FAULT_WAIT_MS)
  }
  parts.faults.end({ client: turn.client, seq })
  const lane = tried.settlement.webhook?.lane ?? webhook.lane
  return { ...tried, lane, leaveUntilMs: lane === 'slow' && turn.lane === 'fast' ? parts.now() : null }
}

const NOTHING: Settlement = { state: null, dueMs: null, attempt: null, webhook: null }

/** The delivery stays due for the next worker. */
const untried = (lane: Lane, leaveUntilMs: number): Step => ({
  settlement: NOTHING,
  lane,
  leaveUntilMs,
  events: [],
})

/** The client lost its entitlement or its webhook: it can still pull, and a resend owes it again. */
const withdrawn = ({ now }: DeliveryParts, { state }: Due): Settlement => ({
  ...NOTHING,
  state: { ...state, status: 'withdrawn', settled_at: now() },
})

const endOf = ({ now, elapsed, isStopping }: DeliveryParts, { endsMs }: Turn): number | null =>
  elapsed() >= endsMs || isStopping() ? now() : null

/** Webhooks by box and record; freed with either. */
const opened = new WeakMap<SecretBox, WeakMap<object, Webhook>>()

/** `toWebhook`, cached: a webhook is opened for every delivery. A record that was passed must not change. */
function openWebhook(
  box: SecretBox,
  client: string,
  fields: Readonly<Record<string, string>>,
): Webhook | null {
  const ofBox = opened.get(box) ?? new WeakMap<object, Webhook>()
  opened.set(box, ofBox)
  const known = ofBox.get(fields)
  if (known !== undefined && known.client === client) return known
  const webhook = toWebhook(box, client, fields)
  if (webhook !== null) ofBox.set(fields, webhook)
  return webhook
}
