// How a worker gets at the ledger: it takes a client, and hands in what came of each try for the next thing to do. Two
// round trips a delivery, however much is looked at; and what is asked for many clients in one moment is one command.
import type { Redis } from 'ioredis'
import type { Client } from '../clients/client.ts'
import { clientOfText } from '../clients/client-text.ts'
import { type LoggedSignal, toLogged } from '../log/read-log.ts'
import { runBatched } from '../redis/batched-script.ts'
import { toList, toRecord } from '../redis/record-text.ts'
import { rememberText } from '../redis/remember-text.ts'
import type { Lane } from './delivery-queue.ts'
import { type Attempt, type DeliveryState, parseState } from './ledger.ts'
import { type Condition, probeAtMs } from './webhook-condition.ts'
import { SETTLE_SCRIPT, TAKE_SCRIPT } from './work-scripts.ts'

/** How long a worker has a client that it has taken: longer than its turn and the longest request together. */
export const FLIGHT_MS = 20_000

/** A client in the hands of a worker. */
export type Taking = { readonly client: string; readonly token: string; readonly flightMs: number }

/** A delivery that is due, with everything as it stood when it was found. */
export type Due = {
  readonly kind: 'send'
  readonly seq: number
  readonly state: DeliveryState
  /** The state as it was read, to be compared when it is settled. */
  readonly raw: string
  /** Null where the log has no such signal. */
  readonly signal: LoggedSignal | null
  /** The stored fields of the webhook, none where there is none. */
  readonly webhook: Readonly<Record<string, string>>
  readonly record: Client | null
}

/** What a worker finds to do for a client. */
export type Found =
  | Due
  /** Nothing is due; the next try is due at a time, or never. The client is free. */
  | { readonly kind: 'free'; readonly atMs: number | null }
  /** The breaker lets nothing through until a time. The client is free. */
  | { readonly kind: 'held'; readonly atMs: number }
  /** Another worker has the client; it was taken before, or this one was silent for too long. */
  | { readonly kind: 'busy' | 'lost' }
  /** Let go, as was asked. */
  | { readonly kind: 'left' }

/** What came of a try. */
export type Settlement = {
  /** Null leaves the delivery as it is: it was our fault that there was no try. */
  readonly state: DeliveryState | null
  /** When to try again, null for never. */
  readonly dueMs: number | null
  readonly attempt: Attempt | null
  /** How the webhook stands now; null where nothing was learnt. */
  readonly webhook: Moved | null
}

/** How a webhook stands after a try. */
export type Moved = {
  readonly condition: Condition
  readonly lane: Lane
  readonly disabledWhy: string | null
  /** What waits for another try is due now: the receiver is back and gets all in order, or it is given up. */
  readonly hurries: boolean
}

/** Takes a client and finds what is next for it. */
export async function take(redis: Redis, { client, token, flightMs }: Taking, nowMs: number): Promise<Found> {
  const args = [client, token, nowMs, flightMs, nowMs + flightMs]
  return toFound(client, await runBatched(redis, TAKE_SCRIPT, ...args))
}

/**
 * Writes what came of a try, and finds what is next; or lets the client go until `leaveUntilMs`. `isCurrent` is false where
 * the signal was replayed meanwhile: then only the attempt is noted, and the signal stays owed.
 */
export async function settle(
  redis: Redis,
  { client, token }: Taking,
  due: Due,
  { state, dueMs, attempt, webhook }: Settlement,
  nowMs: number,
  leaveUntilMs: number | null,
): Promise<{ readonly isCurrent: boolean; readonly next: Found }> {
  const args = [client, token, nowMs, due.seq, due.raw, jsonOr(state), dueMs ?? '', jsonOr(attempt)]
  const moved = webhook === null ? '' : JSON.stringify(movedFields(due, webhook))
  const reply = await runBatched(redis, SETTLE_SCRIPT, ...args, moved, leaveUntilMs ?? '')
  const [verdict, found] = reply as [string, unknown] // the script returns both
  return { isCurrent: verdict === '1', next: toFound(client, found) }
}

/** Texts alone: the address and the condition that were read, and what is written where both are still there. */
const movedFields = (due: Due, { condition, lane, disabledWhy, hurries }: Moved) => ({
  url: due.webhook.url ?? '',
  was: due.webhook.condition ?? '',
  condition: JSON.stringify(condition),
  probe_at: String(probeAtMs(condition) ?? ''),
  lane,
  disabled_why: disabledWhy ?? '',
  hurries: hurries ? '1' : '',
})

const jsonOr = (value: object | null): string => (value === null ? '' : JSON.stringify(value))

function toFound(client: string, reply: unknown): Found {
  const [kind, ...rest] = reply as [Found['kind'], ...unknown[]] // the list that FIND returns
  switch (kind) {
    case 'busy':
    case 'lost':
    case 'left':
      return { kind }
    case 'free':
      return { kind, atMs: rest[0] === '' ? null : Number(rest[0]) }
    case 'held':
      return { kind, atMs: Number(rest[0]) }
    case 'send': {
      const [seq, raw, entry, webhook, record] = rest as string[] // all texts
      return {
        kind,
        seq: Number(seq),
        state: stateOf(raw!, seq!),
        raw: raw!,
        signal: entry === '' ? null : signalOf(entry!, seq!),
        webhook: webhookOf(webhook!, client),
        record: clientOfText(record!, client),
      }
    }
  }
}

// Under load the same records come again with every delivery, and parsing them would cost more than sending.

/** Signals of which the latest text is kept, some hundred kilobytes: one is at work for as long as it is new. */
const MOST_SIGNALS = 500

const signalOf = rememberText(MOST_SIGNALS, (text, seq) => toLogged([`${seq}-0`, toList(text)]))

/** A fresh state is the same text for most clients of a signal. */
const stateOf = rememberText(MOST_SIGNALS, parseState)

/** Webhooks whose latest record is kept, sealed as it is stored: some megabytes. */
const MOST_WEBHOOKS = 10_000

const webhookOf = rememberText(MOST_WEBHOOKS, toRecord)
