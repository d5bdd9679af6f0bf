// A client's own webhook: registered by a test fire that it acknowledges, and looked at without its secrets.
import type { z } from 'zod'
import { ApiError } from '#core/contract/errors.ts'
import { ownWebhookRequest } from '#core/contract/webhook.ts'
import { assertMayRegister, registerOwnWebhook } from '#signals/delivery/register-webhook.ts'
import { readWebhook, type Webhook } from '#signals/delivery/webhooks.ts'
import { readJson } from '../http/read-body.ts'
import { type KeyedHandler, sendEnveloped } from './exchange.ts'

/** An address and a secret are shorter by far. */
export const MOST_WEBHOOK_BYTES = 4_096

const LINKS = { self: '/v1/webhook', whoami: '/v1/whoami' }

/** `PUT /v1/webhook`: the secret is in the answer where it was made here, this once. */
export const putWebhook: KeyedHandler = async (c, parts, { client }) => {
  const { registering } = parts
  await assertMayRegister(registering.redis, client.id)
  const request = parseRequest(await readJson(c.req.raw, MOST_WEBHOOK_BYTES))
  const secret = await registerOwnWebhook(registering, client.id, request)
  const webhook = await readWebhook(registering.redis, registering.box, client.id)
  if (webhook === null) throw new ApiError('conflict', 'the webhook was removed meanwhile: register it again')
  return sendEnveloped(c, parts, { ...stateOf(webhook), secret }, LINKS)
}

/** `GET /v1/webhook`. */
export const getWebhook: KeyedHandler = async (c, parts, { client }) => {
  const { redis, box } = parts.registering
  const webhook = await readWebhook(redis, box, client.id)
  if (webhook === null) throw new ApiError('not_found', 'no webhook yet: PUT /v1/webhook registers one')
  return sendEnveloped(c, parts, stateOf(webhook), LINKS)
}

/** Without the path of the address, which may hold a token, and without secrets: only when each of them ends. */
const stateOf = ({ url, enabled, disabledWhy, secrets, condition }: Webhook) => ({
  host: new URL(url).host,
  enabled,
  disabled_why: disabledWhy,
  failing_since: toInstant(condition.health.failingSinceMs),
  secrets: secrets.map(({ expiresAtMs }) => ({ expires_at: toInstant(expiresAtMs) })),
})

const toInstant = (atMs: number | null): string | null =>
  atMs === null ? null : new Date(atMs).toISOString()

/** The values are not repeated: they are an address that may hold a token, and a secret. */
function parseRequest(body: unknown): z.output<typeof ownWebhookRequest> {
  const parsed = ownWebhookRequest.safeParse(body)
  if (parsed.success) return parsed.data
  const reason = 'expected {"url": "https://...", "secret": "whsec_..." or left out}'
  throw new ApiError('validation_error', `body: ${reason}`, {
    details: [{ param: 'body', value: '(not repeated)', reason }],
  })
}
