import type { Redis } from 'ioredis'
import type { DeliveryOrders } from '#api/operator/parts.ts'
import { ApiError } from '#core/contract/errors.ts'
import { fireTest } from '#signals/delivery/fire-test.ts'
import {
  type RegisterParts,
  registerWebhook,
  rotateWebhookSecret,
} from '#signals/delivery/register-webhook.ts'
import { resendFrom } from '#signals/delivery/resend.ts'
import { liveSecrets } from '#signals/delivery/webhook-secret.ts'
import { disableWebhook, enableWebhook, readWebhook, removeWebhook } from '#signals/delivery/webhooks.ts'

/** What the operator orders for the deliveries of a client, done on this Redis. */
export function createDeliveryOrders(parts: RegisterParts): DeliveryOrders {
  const { redis, box, now } = parts
  return {
    async readAddress(client) {
      const webhook = await readWebhook(redis, box, client)
      return webhook === null
        ? null
        : { url: webhook.url, liveSecrets: liveSecrets(webhook.secrets, now()).length }
    },
    register: async (client, request) => ({ secret: await registerWebhook(parts, client, request) }),
    rotate: async (client, overlapMs) => ({
      secret: await rotateWebhookSecret(parts, client, overlapMs ?? undefined),
    }),
    enable: client => existing(redis, parts, client, () => enableWebhook(redis, client)),
    disable: (client, why) => existing(redis, parts, client, () => disableWebhook(redis, client, why)),
    remove: client => existing(redis, parts, client, () => removeWebhook(redis, client)),
    fireTest: client => fireTest(parts, client),
    replay: (client, fromSeq) => resendFrom({ redis, now, onProgress: () => {} }, client, fromSeq),
  }
}

/** Does something with the webhook of a client. Throws `not_found` where it has none. */
async function existing(
  redis: Redis,
  { box }: Pick<RegisterParts, 'box'>,
  client: string,
  act: () => Promise<unknown>,
): Promise<void> {
  if ((await readWebhook(redis, box, client)) === null) {
    throw new ApiError('not_found', `the client '${client}' has no webhook: register one first`)
  }
  await act()
}
