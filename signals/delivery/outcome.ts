// What came of one attempt, and which of the world's errors mean what.
import { errors } from 'undici'
import { codeOf } from '#storage/error-code.ts'
import { ConnectError, type ConnectFailure } from './guarded-connect.ts'

/** What went wrong at the subscriber's end; the words are kept in the ledger and counted in the metrics. */
export type FailureReason =
  | Exclude<ConnectFailure, OurFaultReason>
  /** Answered with a status that is no success. */
  | 'status'
  /** No complete answer in time. */
  | 'timeout'
  /** Closed or reset before the answer was complete. */
  | 'connection_lost'
  /** What came back was no HTTP, or broke its own promises. */
  | 'bad_answer'

/** What went wrong at ours: no attempt is recorded, and the delivery is tried again. */
export type OurFaultReason = 'resolver_down' | 'network_down' | 'too_many_connections' | 'shutting_down'

/** The end of an attempt that we broke off ourselves. */
export class BrokenOff extends Error {
  readonly why: 'timeout' | 'shutting_down'

  constructor(why: 'timeout' | 'shutting_down') {
    super(`broken off: ${why}`)
    this.name = 'BrokenOff'
    this.why = why
  }
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
      /** What the receiver said, redacted and cut. */
      readonly excerpt: string
    }
  | {
      readonly kind: 'failed'
      readonly reason: FailureReason
      /** Null where no answer began. */
      readonly status: number | null
      readonly retryAfterMs: number | null
      readonly firstByteMs: number | null
      readonly totalMs: number
      readonly excerpt: string
    }
  | { readonly kind: 'ourFault'; readonly reason: OurFaultReason }

/** The outcome of an answer that came to its end. */
export function toOutcome(
  { status, firstByteMs, retryAfterMs }: Answer,
  totalMs: number,
  excerpt: string,
): Outcome {
  if (status >= 200 && status <= 299) return { kind: 'delivered', status, firstByteMs, totalMs, excerpt }
  return { kind: 'failed', reason: 'status', status, retryAfterMs, firstByteMs, totalMs, excerpt }
}

/** The outcome of an attempt that ended before its answer did. */
export const toFailure = (reason: FailureReason, answer: Answer | null, totalMs: number): Outcome => ({
  kind: 'failed',
  reason,
  status: answer?.status ?? null,
  retryAfterMs: answer?.retryAfterMs ?? null,
  firstByteMs: answer?.firstByteMs ?? null,
  totalMs,
  excerpt: '',
})

/** Why an attempt ended with `error`. Throws it again where it is neither the subscriber's nor the network's. */
export function reasonOf(error: unknown): FailureReason | OurFaultReason {
  if (error instanceof BrokenOff) return error.why
  if (error instanceof ConnectError) return error.failure
  if (error instanceof errors.HTTPParserError) return 'bad_answer' // it has no code
  const code = String(codeOf(error))
  const reason = REASONS.find(([pattern]) => pattern.test(code))?.[1]
  if (reason === undefined) throw error
  return reason
}

export const isOurs = (reason: FailureReason | OurFaultReason): reason is OurFaultReason => OURS.has(reason)

const OURS: ReadonlySet<string> = new Set<OurFaultReason>([
  'resolver_down',
  'network_down',
  'too_many_connections',
  'shutting_down',
])

/** Codes of undici, TLS and the system. */
const REASONS: readonly (readonly [RegExp, FailureReason | OurFaultReason])[] = [
  [/^UND_ERR_MAX_ORIGINS_REACHED$/, 'too_many_connections'],
  // A pool was closed because it was idle, in the moment in which it was asked: nothing was sent.
  [/^UND_ERR_(?:CLOSED|DESTROYED)$/, 'too_many_connections'],
  [/^UND_ERR_(?:HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$/, 'bad_answer'],
  // A receiver may refuse the handshake after ours is done.
  [/^ERR_(?:SSL|TLS)_\w+$/, 'tls_failed'],
  [/^(?:UND_ERR_(?:SOCKET|INFO)|ERR_STREAM_\w+|E[A-Z]{3,})$/, 'connection_lost'],
]
