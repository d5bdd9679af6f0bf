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

/** No connection was made. Has no cause, which would contain an address. */
export class ConnectError extends Error {
  readonly failure: AttemptFailure

  constructor(failure: AttemptFailure) {
    super(`no connection to the webhook: ${failure}`)
    this.name = 'ConnectError'
    this.failure = failure
  }
}

/** We aborted the attempt. */
class BrokenOff extends Error {
  readonly why: 'timeout' | 'shutting_down'

  constructor(why: 'timeout' | 'shutting_down') {
    super(`broken off: ${why}`)
    this.name = 'BrokenOff'
    this.why = why
  }
}

/** One of each: a thousand receivers that hang end together, and the stack of an error costs as much as a delivery. */
export const BROKEN_OFF = {
  timeout: new BrokenOff('timeout'),
  shuttingDown: new BrokenOff('shutting_down'),
}

export type Answer = {
  readonly status: number
  /** From the start of the attempt to the head of the answer. */
  readonly firstByteMs: number
  readonly retryAfterMs: number | null
}

export type Outcome =
  | {
      readonly kind: 'delivered'
      readonly status: number
      readonly firstByteMs: number
      readonly totalMs: number
      /** The answer, redacted and cut. */
      readonly excerpt: string
    }
  | {
      readonly kind: 'failed'
      readonly reason: FailureReason
      readonly status: number | null
      readonly retryAfterMs: number | null
      readonly firstByteMs: number | null
      readonly totalMs: number
      readonly excerpt: string
    }
  | { readonly kind: 'ourFault'; readonly reason: OurFaultReason }

export function toOutcome(
  { status, firstByteMs, retryAfterMs }: Answer,
  totalMs: number,
  excerpt: string,
): Outcome {
  if (status >= 200 && status <= 299) return { kind: 'delivered', status, firstByteMs, totalMs, excerpt }
  return { kind: 'failed', reason: 'status', status, retryAfterMs, firstByteMs, totalMs, excerpt }
}

export const toFailure = (reason: FailureReason, answer: Answer | null, totalMs: number): Outcome => ({
  kind: 'failed',
  reason,
  status: answer?.status ?? null,
  retryAfterMs: answer?.retryAfterMs ?? null,
  firstByteMs: answer?.firstByteMs ?? null,
  totalMs,
  excerpt: '',
})

/**
 * Why an attempt ended with `error`. Throws it again if it is an error of the program, which it cannot be once the
 * request `isSent`: whatever the client then fails on is in the answer, or a receiver could be our fault for ever.
 */
export function reasonOf(error: unknown, isSent: boolean): AttemptFailure {
  if (error instanceof BrokenOff) return error.why
  if (error instanceof ConnectError) return error.failure
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
