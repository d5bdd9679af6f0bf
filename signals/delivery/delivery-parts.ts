import type { Redis } from 'ioredis'
import type { LoggedSignal } from '../log/read-log.ts'
import type { Faults } from './faults.ts'
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
