import type { Redis } from 'ioredis'
import type { RandomBytes } from '#signals/clients/token.ts'
import type { WebhookRequest } from '#signals/delivery/register-webhook.ts'
import type { Clock } from '../http/exchange.ts'

/** A webhook as the operator sees it: its address, and never a secret. */
export type WebhookAddress = {
  readonly url: string
  /** Secrets that sign now. */
  readonly liveSecrets: number
}

/** What the operator orders for the deliveries of a client. Each throws an ApiError where it cannot be done. */
export type DeliveryOrders = {
  /** Null where the client has no webhook. */
  readonly readAddress: (client: string) => Promise<WebhookAddress | null>
  /** Sets a webhook after a test fire to it; a secret that was made is told here and never again, else null. */
  readonly register: (client: string, request: WebhookRequest) => Promise<{ readonly secret: string | null }>
  /** A new secret; the old ones sign too for a while, the usual one where `overlapMs` is null. */
  readonly rotate: (client: string, overlapMs: number | null) => Promise<{ readonly secret: string }>
  readonly enable: (client: string) => Promise<void>
  readonly disable: (client: string, why: string) => Promise<void>
  readonly remove: (client: string) => Promise<void>
  /** A test signal to one client, through the log and the normal delivery; resolves with its number. */
  readonly fireTest: (client: string) => Promise<number>
  /** Owes every signal from a number on again; resolves with how many. */
  readonly replay: (client: string, fromSeq: number) => Promise<number>
}

/** One request, as the log may know it: its route and never its address. */
export type Answered = {
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly ms: number
}

/** Everything the operator's app needs of the world. */
export type OperatorParts = {
  readonly redis: Redis
  readonly clock: Clock
  /** OPERATOR_TOKEN. */
  readonly token: string
  /** Values of the header Host, without a port, that a request may carry. */
  readonly hosts: ReadonlySet<string>
  /** The ids of the strategies of the served dataset. */
  readonly aliases: () => ReadonlySet<string>
  /** Alias of the accumulation program that is served now. */
  readonly programAlias: () => string
  readonly random: RandomBytes
  readonly newEpoch: () => string
  readonly newRequestId: () => string
  readonly orders: DeliveryOrders
  /** How much of the disk of Redis is used, from 0 to 1; null where nobody knows. */
  readonly diskUsed?: () => Promise<number | null>
  /** What Prometheus reads. */
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** Told how long a signal that was fired took to be on the disk. */
  readonly onFired?: (durableMs: number) => void
  /** Told of every request. */
  readonly onAnswered: (answered: Answered) => void
  /** Told of every error that is not the caller's. */
  readonly onError: (error: unknown) => void
}
