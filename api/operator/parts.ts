import type { SentAlert } from '#signals/alerts.ts'
import type { RandomBytes } from '#signals/clients/token.ts'
import type { RegisterParts } from '#signals/outbox/register-webhook.ts'
import type { OverviewParts } from '#signals/views/overview.ts'
import type { Published } from '#signals/views/published.ts'
import type { FleetProgress } from '#storage/fleet-progress.ts'
import type { Answered as ServiceAnswered } from '../service/app.ts'
import type { Clock } from '../service/exchange.ts'

export type Answered = ServiceAnswered & { readonly requestId: string }

export type OperatorParts = OverviewParts & {
  readonly clock: Clock
  /** OPERATOR_TOKEN, whose name is `operator`. It also signs the cookies of the page. */
  readonly token: string
  /** Allowed values of the Host header, without a port. */
  readonly hosts: ReadonlySet<string>
  /** The base risk of a strategy in the catalogue of the served dataset; undefined if it is not known. */
  readonly baseRiskOf: (alias: string) => number | undefined
  /** Where the page of subscribers is, such as `https://signals.example.org/account`. */
  readonly accountUrl: string
  readonly programAlias: () => string
  readonly random: RandomBytes
  readonly newRequestId: () => string
  readonly registering: RegisterParts
  /** The used share of the disk of Redis, 0 to 1; null if unknown. */
  readonly diskUsed?: () => Promise<number | null>
  /** Null if nothing is published. */
  readonly published: () => Promise<Published | null>
  /** Serves an older version again. Rejects with a sentence that has the fix. */
  readonly rollBack: (version: string) => Promise<void>
  /** The alerts that this process sent, newest first. */
  readonly alerts: () => readonly SentAlert[]
  readonly builds: () => Promise<readonly FleetProgress[]>
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** Called with the time from a fire to its acknowledgement by the disk. */
  readonly onFired?: (durableMs: number) => void
  readonly pause: (ms: number) => Promise<unknown>
  /** Called with the number of wrong tokens in this minute, if they are too many for mistakes. */
  readonly onGuessing: (wrongTokens: number) => void
  /** Called after every action that was logged. */
  readonly onAction: () => void
  readonly onAnswered: (answered: Answered) => void
  /** Called for every error that the caller did not cause. */
  readonly onError: (error: unknown) => void
}
