import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import type { LoggedSignal, SignalReader } from '../log/read-log.ts'
import type { Attempt } from '../outbox/outbox.ts'
import type { SecretBox } from '../outbox/secret-box.ts'
import type { OurFaultReason, Outcome } from '../send/outcome.ts'
import type { Waits } from '../send/policy.ts'

export type SendOrder = {
  /** In the clear, like the secrets, for the duration of one attempt. */
  readonly url: string
  readonly secrets: readonly string[]
  readonly signal: LoggedSignal
  readonly prevSeq: number
  /** From 1. */
  readonly attempt: number
}

export type DeliveryEvent =
  | {
      readonly kind: 'attempt'
      readonly client: string
      readonly seq: number
      readonly attempt: Attempt
      readonly firedAtMs: number
    }
  | { readonly kind: 'exhausted' | 'withdrawn'; readonly client: string; readonly seq: number }
  | { readonly kind: 'disabled'; readonly client: string; readonly why: string }
  | { readonly kind: 'failing'; readonly client: string; readonly forMs: number }
  /** No attempt was made, for a reason that is not the receiver's. */
  | {
      readonly kind: 'our fault'
      readonly client: string
      /** Null if the client itself could not be processed. */
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
export type DeliveryParts = {
  readonly redis: Redis
  readonly box: SecretBox
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Numbers in [0, 1). */
  readonly random: () => number
  /** A unique name. */
  readonly newToken: () => string
  readonly sleep: (ms: number) => Promise<void>
  /** Null if the log has no such signal. */
  readonly readSignal: SignalReader
  readonly send: (order: SendOrder) => Promise<Outcome>
  /** How long a worker may be silent before another takes its client. */
  readonly flightMs: number
  readonly waits: Waits
  /** True once no further delivery is started. */
  readonly isStopping: () => boolean
  readonly faults: ReturnType<typeof createFaults>
  readonly onEvent: (event: DeliveryEvent) => void
  /** Called for errors of the program. */
  readonly onError: (error: unknown) => void
}

/** Older rows count from 1 again. */
const MOST_ROWS = 10_000

export const OUR_FAULT_WAIT_MS = 2_000

/** The longest wait after an error of the program: a fixed release is deployed within minutes. */
const LONGEST_ERROR_WAIT_MS = 300_000

/** A delivery, or the processing of a client itself. */
type Subject = { readonly client: string; readonly seq: number | null }

/**
 * Internal faults in a row: no receiver is charged with them, so these counts are what makes them wait and raises
 * alerts.
 */
export function createFaults() {
  const rows = new LRUCache<string, number>({ max: MOST_ROWS })
  const nameOf = ({ client, seq }: Subject): string => `${client} ${seq ?? ''}`
  return {
    /** Counts one and returns how many there were in a row. */
    count(subject: Subject): number {
      const inARow = (rows.get(nameOf(subject)) ?? 0) + 1
      rows.set(nameOf(subject), inARow)
      return inARow
    },
    end: (subject: Subject): unknown => rows.size > 0 && rows.delete(nameOf(subject)),
  }
}

/** The wait after an error of the program: doubles with each in a row, up to five minutes. */
export const errorWaitMs = (inARow: number): number =>
  Math.min(OUR_FAULT_WAIT_MS * 2 ** (inARow - 1), LONGEST_ERROR_WAIT_MS)
