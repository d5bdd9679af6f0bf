import type { Redis } from 'ioredis'
import type { SentAlert } from '#signals/alerts.ts'
import type { RandomBytes } from '#signals/clients/token.ts'
import {
  type RegisterParts,
  registerWebhook,
  rotateWebhookSecret,
  type WebhookChange,
  type WebhookRequest,
} from '#signals/outbox/register-webhook.ts'
import { type ResendRange, resend } from '#signals/outbox/resend.ts'
import { fireTest } from '#signals/outbox/test-fire.ts'
import { readWebhook, removeWebhook } from '#signals/outbox/webhooks.ts'
import { liveSecrets } from '#signals/send/sign.ts'
import type { Published } from '#signals/views/published.ts'
import type { FleetProgress } from '#storage/fleet-progress.ts'
import type { Answered as ServiceAnswered } from '../service/app.ts'
import type { Clock } from '../service/exchange.ts'

export type DeliveryOrders = ReturnType<typeof createDeliveryOrders>

/** The address of a webhook, and how many secrets sign now. */
export type WebhookAddress = { readonly url: string; readonly live_secrets: number }

/** Operations on the deliveries of a client, which must exist; all that change a webhook need one. */
export function createDeliveryOrders(parts: RegisterParts) {
  const { redis, box, now } = parts
  return {
    /** Null if the client has no webhook. */
    async readAddress(client: string): Promise<WebhookAddress | null> {
      const webhook = await readWebhook(redis, box, client)
      if (webhook === null) return null
      return { url: webhook.url, live_secrets: liveSecrets(webhook.secrets, now()).length }
    },
    /** Resolves with the secret if one was created. */
    register: async (client: string, request: WebhookRequest) =>
      (await registerWebhook(parts, client, request)).made,
    rotate: (client: string, overlapMs?: number) => rotateWebhookSecret(parts, client, overlapMs),
    async remove(client: string): Promise<void> {
      await removeWebhook(redis, client)
      parts.onChange({ client, change: 'removed', keyId: null })
    },
    /** Fires a test through the normal delivery; resolves with its number. */
    fireTest: (client: string) => fireTest(parts, client),
    /** Sends signals again; resolves with how many. */
    replay: (client: string, range: ResendRange) => resend(parts, client, range),
  }
}

/** One request as it may be logged. */
export type Answered = ServiceAnswered & { readonly requestId: string }

/** The environment of the operator's app. */
export type OperatorParts = {
  readonly redis: Redis
  readonly clock: Clock
  /** OPERATOR_TOKEN, whose name is `operator`. It also signs the cookies of the page. */
  readonly token: string
  /** Allowed values of the Host header, without a port. */
  readonly hosts: ReadonlySet<string>
  /** The strategies of the served dataset. */
  readonly aliases: () => ReadonlySet<string>
  /** The base risk of a strategy in the catalogue of the served dataset; undefined if it is not known. */
  readonly baseRiskOf: (alias: string) => number | undefined
  /** Alias of the accumulation program that is served now. */
  readonly programAlias: () => string
  readonly random: RandomBytes
  readonly newEpoch: () => string
  readonly newRequestId: () => string
  readonly orders: DeliveryOrders
  /** The used share of the disk of Redis, 0 to 1; null if unknown. */
  readonly diskUsed?: () => Promise<number | null>
  /** Null if nothing is published. */
  readonly published: () => Promise<Published | null>
  /** Serves an older version again. Rejects with a sentence that has the fix. */
  readonly rollBack: (version: string) => Promise<void>
  /** The alerts that this process sent, newest first. */
  readonly alerts: () => readonly SentAlert[]
  /** The builds on a fleet that are under way. */
  readonly builds: () => Promise<readonly FleetProgress[]>
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** Called with the time from a fire to its acknowledgement by the disk. */
  readonly onFired?: (durableMs: number) => void
  /** Called if revoking a key suspended a webhook. */
  readonly onWebhook: (change: WebhookChange) => void
  /** Waits. */
  readonly pause: (ms: number) => Promise<unknown>
  /** Called with the number of wrong tokens in this minute, if they are too many for mistakes. */
  readonly onGuessing: (wrongTokens: number) => void
  /** Called after every action that was logged. */
  readonly onAction: () => void
  readonly onAnswered: (answered: Answered) => void
  /** Called for every error that the caller did not cause. */
  readonly onError: (error: unknown) => void
}
