// Every constant of delivery, with its reason.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * Waits after the 1st, 2nd ... failed attempt: 16 attempts in 28 hours. Five are in the first 45 s, while a signal
 * can still be traded; the last ones cover a night without an operator. After them a delivery is exhausted: the operator is
 * alerted, and the client can still pull.
 */
export const RETRY_WAITS_MS: readonly number[] = [
  ...[1, 3, 10, 30].map(seconds => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map(minutes => minutes * MINUTE),
  ...[1, 2, 4, 8, 12].map(hours => hours * HOUR),
]

/** Spreads the retries of one outage. */
export const RETRY_JITTER = 0.2

/** The longest wait that `Retry-After` can request: a signal is stale long before. */
export const LONGEST_RETRY_AFTER_MS = HOUR

/** Consecutive failures that open a client's breaker. */
export const BREAKER_FAILURES = 5

/**
 * Waits before the probes of an open breaker; the last one repeats. A restarted receiver is found quickly, and a dead
 * one costs little.
 */
export const PROBE_WAITS_MS: readonly number[] = [15 * SECOND, 45 * SECOND, 5 * MINUTE]

/** An endpoint is disabled when all three hold. */
export const DISABLE_AFTER_MS = 72 * HOUR
export const DISABLE_AFTER_SIGNALS = 3
export const DISABLE_AFTER_ATTEMPTS = 20

/**
 * How long a host that cannot be resolved or routed to is our fault if nothing proves that network and name servers work.
 * If they do not work for longer, every webhook has failed from then on: the breaker leaves each signal its attempts and
 * finds the receiver within five minutes, and only DISABLE_AFTER_MS later would webhooks be disabled for it.
 */
export const UNPROVEN_FAULT_MS = HOUR

/** `410 Gone` twice in a row is meant; once may be a deployment. */
export const DISABLE_AFTER_GONE = 2

/** How long an endpoint has failed when the operator is alerted. */
export const ALERT_AFTER_MS: readonly number[] = [5 * MINUTE, HOUR, 24 * HOUR, 48 * HOUR]

/** One of them: then the owner of the endpoint gets a notice. */
export const NOTICE_AFTER_MS = HOUR

/** For name resolution, connection and TLS together. */
export const CONNECT_TIMEOUT_MS = 3 * SECOND

/** One attempt, to the last byte of the answer. */
export const ATTEMPT_TIMEOUT_MS = 10 * SECOND

/** A slower client goes to the slow lane. */
export const SUSPECT_AFTER_MS = SECOND

/**
 * An attempt that takes longer gives the slot of its client back and goes on: otherwise receivers that begin to hang
 * all at once would stop the others until the deadline of their attempts.
 */
export const SLOT_GIVEN_BACK_AFTER_MS = 100

/** Attempts without a slot, in all: each has a connection and some kilobytes. */
export const MOST_SUSPECTS = 4_096

/** The connection of a receiver that sends more is closed. */
export const MOST_ANSWER_BYTES = 16 * 1024

/** Kept for the operator, after redaction. */
export const KEPT_ANSWER_CHARACTERS = 1024

export const MOST_HEADER_BYTES = 16 * 1024

/** Idle connections are closed before servers do (Node: 5 s), so that no delivery meets a closing one. */
export const IDLE_CONNECTION_MS = 4 * SECOND

/** A receiver may ask for a longer keep-alive, up to this. */
export const LONGEST_IDLE_CONNECTION_MS = 30 * SECOND

/** How long an old secret signs beside the new one, so that a subscriber can change over without a gap. */
export const SECRET_OVERLAP_MS = 24 * HOUR

/** Each makes the signature header longer. */
export const MOST_LIVE_SECRETS = 4

/**
 * The wait until the next attempt, or null if the delivery is exhausted. `attempt` counts the attempts made, from 1;
 * `random` returns numbers in [0, 1).
 */
export function nextRetryMs(attempt: number, random: () => number): number | null {
  const waitMs = RETRY_WAITS_MS[attempt - 1]
  return waitMs === undefined ? null : Math.round(waitMs * (1 + RETRY_JITTER * (2 * random() - 1)))
}

/** Honours `Retry-After`: never sooner than planned, and at most an hour later. */
export const clampRetryAfter = (plannedMs: number, retryAfterMs: number | null): number =>
  Math.max(plannedMs, Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS))
