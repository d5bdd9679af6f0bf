// Every number of the delivery of signals, with its reason. Nothing here has a clock or dice: both are given.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * Waits after the 1st, 2nd ... failed attempt: 16 attempts in 28 hours. Five fall into the first 45 s, while a signal
 * can still be traded; the last ones outlast a night in which nobody looks.
 */
export const RETRY_WAITS_MS: readonly number[] = [
  SECOND,
  3 * SECOND,
  10 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  12 * HOUR,
]

/** After so many attempts a delivery is exhausted: the operator is alerted, and the pull remains. */
export const MOST_ATTEMPTS = RETRY_WAITS_MS.length + 1

/** Spreads the retries of one outage, so that a receiver that comes back is not hit by all at once. */
export const RETRY_JITTER = 0.2

/** The longest wait that a subscriber's `Retry-After` can ask for: a signal is stale long before. */
export const LONGEST_RETRY_AFTER_MS = HOUR

/** Failures in a row that open a client's breaker: five attempts of one signal, or one each of five. */
export const BREAKER_FAILURES = 5

/**
 * Waits before the probes of an open breaker, the last one for ever: 15 s and 60 s after it has opened, then every five
 * minutes. A restart of the receiver is found quickly, and a dead one costs little.
 */
export const PROBE_WAITS_MS: readonly number[] = [15 * SECOND, 45 * SECOND, 5 * MINUTE]

/** The tables of waits that deliveries are planned by. */
export type Waits = {
  /** Between the attempts of a signal. */
  readonly retryMs: readonly number[]
  /** Before the probes of an open breaker, the last one for ever. */
  readonly probeMs: readonly number[]
}

export const WAITS: Waits = { retryMs: RETRY_WAITS_MS, probeMs: PROBE_WAITS_MS }

/** An endpoint is disabled when all three hold: it was down for long, for more than one signal, and really tried. */
export const DISABLE_AFTER_MS = 72 * HOUR
export const DISABLE_AFTER_SIGNALS = 3
export const DISABLE_AFTER_ATTEMPTS = 20

/** A receiver that says `410 Gone` twice in a row means it; once may be a deploy. */
export const DISABLE_AFTER_GONE = 2

/** How long an endpoint has failed when the operator is alerted: at once, soon, after a day, and a day before it is disabled. */
export const ALERT_AFTER_MS: readonly number[] = [5 * MINUTE, HOUR, 24 * HOUR, 48 * HOUR]

/** A receiver that does not take a connection within this is down; name, connection and TLS together. */
export const CONNECT_TIMEOUT_MS = 3 * SECOND

/** One attempt, to the last byte of the answer. Receivers are asked to answer first and to work after. */
export const ATTEMPT_TIMEOUT_MS = 10 * SECOND

/** Slower than this makes a client suspect: it goes to the slow lane and holds up nobody. */
export const SUSPECT_AFTER_MS = SECOND

/** So much of an answer is read: the connection of a receiver that says more is cut. */
export const MOST_ANSWER_BYTES = 16 * 1024

/** So much of an answer is kept for the operator to look at, after redaction. */
export const KEPT_ANSWER_CHARACTERS = 1024

/** Headers of an answer: more are no webhook's. */
export const MOST_HEADER_BYTES = 16 * 1024

/** An idle connection is closed before common servers do (Node 5 s), so that no delivery meets one that is closing. */
export const IDLE_CONNECTION_MS = 4 * SECOND

/** A receiver may ask for a longer keep-alive, up to here: sockets are ours. */
export const LONGEST_IDLE_CONNECTION_MS = 30 * SECOND

/** Connections to one origin: many clients may share a platform, and none should wait for another inside the process. */
export const MOST_CONNECTIONS_PER_ORIGIN = 256

/** Origins with open connections at once: below the usual limit of open files. */
export const MOST_ORIGINS = 4096

/** How long an old secret signs beside the new one, so that a subscriber can change over without a hole. */
export const SECRET_OVERLAP_MS = 24 * HOUR

/** Secrets of a client that sign at once: each makes the signature header longer. */
export const MOST_LIVE_SECRETS = 4

/**
 * The wait until the next attempt, or null when there is none: the delivery is exhausted. `attempt` counts the attempts
 * that were made, from 1; `random` gives numbers in [0, 1).
 */
export function nextRetryMs(
  attempt: number,
  random: () => number,
  waitsMs: readonly number[] = RETRY_WAITS_MS,
): number | null {
  if (!Number.isSafeInteger(attempt) || attempt < 1)
    throw new RangeError(`no attempt has the number ${attempt}`)
  const waitMs = waitsMs[attempt - 1]
  return waitMs === undefined ? null : Math.round(waitMs * (1 + RETRY_JITTER * (2 * random() - 1)))
}

/** The wait that honours a `Retry-After`: never sooner than planned, and never put off for longer than an hour by it. */
export const clampRetryAfter = (plannedMs: number, retryAfterMs: number | null): number =>
  Math.max(plannedMs, Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS))
