// The outcome of one attempt, and the meaning of network errors.
import { codeOf } from '#storage/error-code.ts'

/** Failures of the subscriber; the words are stored in the outbox and are labels of the metrics. */
export const FAILURES = [
  'address_refused',
  'name_unknown',
  'name_unanswered',
  'unreachable',
  'connect_timeout',
  'connect_failed',
  'tls_failed',
  'status', // it is not a success
  'timeout', // no complete answer in time
  'connection_lost', // closed or reset before the answer was complete
  'bad_answer', // not valid HTTP, or the client could not process it
] as const
export type FailureReason = (typeof FAILURES)[number]

/** Internal faults: no attempt is recorded, and the delivery is tried again. */
export const OUR_FAULTS = ['resolver_down', 'network_down', 'too_many_connections', 'shutting_down'] as const
export type OurFaultReason = (typeof OUR_FAULTS)[number]

/** Why an attempt failed, by whoever's fault. */
export type AttemptFailure = FailureReason | OurFaultReason

/** The attempt ended early. Has no cause, which would contain an address. */
export class AttemptError extends Error {
  readonly failure: AttemptFailure

  constructor(failure: AttemptFailure) {
    super(`the attempt ended early: ${failure}`)
    this.name = 'AttemptError'
    this.failure = failure
  }
}

/** We aborted it. One of each: a thousand receivers that hang end together, and the stack of an error costs as much as a delivery. */
export const BROKEN_OFF = {
  timeout: new AttemptError('timeout'),
  shuttingDown: new AttemptError('shutting_down'),
}

/** What came of an attempt: the parts of it that are stored have the names under which they are. */
export type Measured = {
  /** HTTP status, or null without an answer. */
  readonly status: number | null
  readonly first_byte_ms: number | null
  readonly total_ms: number
  /** The answer, redacted and cut. */
  readonly excerpt: string
  readonly retryAfterMs: number | null
}

/** The receiver's fault. */
export type Failed = Measured & { readonly kind: 'failed'; readonly reason: FailureReason }

/** The receiver was asked. */
export type Answered = (Measured & { readonly kind: 'delivered' }) | Failed

export type Outcome = Answered | { readonly kind: 'ourFault'; readonly reason: OurFaultReason }

/**
 * Why an attempt ended with `error`. Throws it again if it is an error of the program, which it cannot be once the
 * request `isSent`: whatever the client then fails on is in the answer, or a receiver could be our fault for ever.
 */
export function reasonOf(error: unknown, isSent: boolean): AttemptFailure {
  if (error instanceof AttemptError) return error.failure
  const code = String(codeOf(error))
  const reason = REASONS.find(([pattern]) => pattern.test(code))?.[1]
  if (reason !== undefined) return reason
  if (isSent) return 'bad_answer'
  throw error
}

export const isOurs = (reason: AttemptFailure): reason is OurFaultReason =>
  OUR_FAULTS.some(each => each === reason)

/** Codes of undici, TLS and the system. */
const REASONS: readonly (readonly [RegExp, AttemptFailure])[] = [
  // A pool was closed as idle at the moment it was used: nothing was sent.
  [/^UND_ERR_(?:CLOSED|DESTROYED)$/, 'too_many_connections'],
  [/^UND_ERR_(?:HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$/, 'bad_answer'],
  // A receiver may refuse the handshake after our side is done.
  [/^ERR_(?:SSL|TLS)_\w+$/, 'tls_failed'],
  [/^(?:UND_ERR_(?:SOCKET|INFO)|ERR_STREAM_\w+|E[A-Z]{3,})$/, 'connection_lost'],
]
