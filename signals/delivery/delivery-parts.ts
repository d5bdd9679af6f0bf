import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import type { LoggedSignal } from '../log/read-log.ts'
import type { Attempt } from './outbox.ts'
import type { OurFaultReason, Outcome } from './outcome.ts'
import type { Waits } from './policy.ts'
import type { SecretBox } from './secret-box.ts'

export type SendOrder = {
  /** In the clear, like the secrets: this lives one attempt long. */
  readonly url: string
  /** Those that sign now, newest first. */
  readonly secrets: readonly string[]
  readonly signal: LoggedSignal
  readonly prevSeq: number
  /** From 1. */
  readonly attempt: number
}

/** What an operator may want to know of. */
export type DeliveryEvent =
  | {
      readonly kind: 'attempt'
      readonly client: string
      readonly seq: number
      readonly attempt: Attempt
      /** When the signal was written to the log, epoch milliseconds. */
      readonly firedAtMs: number
    }
  | { readonly kind: 'exhausted' | 'withdrawn'; readonly client: string; readonly seq: number }
  | { readonly kind: 'disabled'; readonly client: string; readonly why: string }
  | { readonly kind: 'failing'; readonly client: string; readonly forMs: number }
  /** There was no attempt, and it was not the receiver's doing. */
  | {
      readonly kind: 'our fault'
      readonly client: string
      /** Null where the client itself could not be looked after. */
      readonly seq: number | null
      readonly reason: OurFaultReason | 'program_error'
      /** How many there were in a row, this one included. */
      readonly inARow: number
    }
  /** Calls wait, and no worker has begun one for so long: the queue or the workers are stuck. */
  | { readonly kind: 'stuck'; readonly waiting: number; readonly forMs: number }

/** What delivering to clients needs of the world. */
export type DeliveryParts = {
  readonly redis: Redis
  readonly box: SecretBox
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Numbers in [0, 1). */
  readonly random: () => number
  /** A name that nobody else has. */
  readonly newToken: () => string
  /** Resolves after so many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>
  readonly send: (order: SendOrder) => Promise<Outcome>
  /** How long a worker may be silent before another takes its client. */
  readonly flightMs: number
  readonly waits: Waits
  /** True from when on no other delivery is begun. */
  readonly isStopping: () => boolean
  readonly faults: Faults
  readonly onEvent: (event: DeliveryEvent) => void
  /** Told of what the program threw at a delivery. */
  readonly onError: (error: unknown) => void
}

/** Rows that are remembered: faults that are older count from 1 again. */
const MOST_ROWS = 10_000

/** After a fault of ours, such as a resolver that is down, the client is looked at again. */
export const OUR_FAULT_WAIT_MS = 2_000

/** The longest wait after an error of the program: a new release is started within minutes, and finds the signal due. */
const LONGEST_ERROR_WAIT_MS = 300_000

/** What a fault befell: a delivery, or the look at a client itself. */
type Subject = { readonly client: string; readonly seq: number | null }

/** Counts the faults of one process. */
export type Faults = {
  /** Counts one, and gives how many there were in a row with it. */
  readonly count: (subject: Subject) => number
  /** All is well: the row is over. */
  readonly end: (subject: Subject) => void
}

export function createFaults(): Faults {
  const rows = new LRUCache<string, number>({ max: MOST_ROWS })
  const nameOf = ({ client, seq }: Subject): string => `${client} ${seq ?? ''}`
  return {
    count(subject) {
      const inARow = (rows.get(nameOf(subject)) ?? 0) + 1
      rows.set(nameOf(subject), inARow)
      return inARow
    },
    end: subject => void rows.delete(nameOf(subject)),
  }
}

/** The wait after an error of the program, from the first in a row: each is twice as long, up to five minutes. */
export const errorWaitMs = (inARow: number): number =>
  Math.min(OUR_FAULT_WAIT_MS * 2 ** (inARow - 1), LONGEST_ERROR_WAIT_MS)
