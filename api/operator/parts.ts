import type { Redis } from 'ioredis'
import type { RandomBytes } from '#signals/clients/token.ts'
import type { WebhookRequest } from '#signals/delivery/register-webhook.ts'
import type { Clock } from '../http/exchange.ts'

/** A webhook as the operator sees it, without secrets. */
export type WebhookAddress = {
  readonly url: string
  /** Secrets that sign now. */
  readonly liveSecrets: number
}

/** Operations on the deliveries of a client. Each throws an ApiError if it cannot be done. */
export type DeliveryOrders = {
  /** Null if the client has no webhook. */
  readonly readAddress: (client: string) => Promise<WebhookAddress | null>
  /** Sets a webhook after a test fire to it; resolves with the secret if one was created, shown this once. */
  readonly register: (client: string, request: WebhookRequest) => Promise<{ readonly secret: string | null }>
  /** A new secret; the old ones sign for `overlapMs` more, or for the default if null. */
  readonly rotate: (client: string, overlapMs: number | null) => Promise<{ readonly secret: string }>
  readonly enable: (client: string) => Promise<void>
  readonly disable: (client: string, why: string) => Promise<void>
  readonly remove: (client: string) => Promise<void>
  /** Fires a test to one client through the normal delivery; resolves with its number. */
  readonly fireTest: (client: string) => Promise<number>
  /** Owes every signal from a number on again; resolves with how many. */
  readonly replay: (client: string, fromSeq: number) => Promise<number>
}

/** One request as it may be logged: its route and never its address. */
export type Answered = {
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly ms: number
}

/** The environment of the operator's app. */
export type OperatorParts = {
  readonly redis: Redis
  readonly clock: Clock
  /** OPERATOR_TOKEN. */
  readonly token: string
  /** Allowed values of the Host header, without a port. */
  readonly hosts: ReadonlySet<string>
  /** The strategies of the served dataset. */
  readonly aliases: () => ReadonlySet<string>
  /** Alias of the accumulation program that is served now. */
  readonly programAlias: () => string
  readonly random: RandomBytes
  readonly newEpoch: () => string
  readonly newRequestId: () => string
  readonly orders: DeliveryOrders
  /** The used share of the disk of Redis, 0 to 1; null if unknown. */
  readonly diskUsed?: () => Promise<number | null>
  /** The text for Prometheus. */
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** Called with the time from a fire to its acknowledgement by the disk. */
  readonly onFired?: (durableMs: number) => void
  /** Called for every request. */
  readonly onAnswered: (answered: Answered) => void
  /** Called for every error that the caller did not cause. */
  readonly onError: (error: unknown) => void
}
