// A client itself: who it is, its keys, its webhook, and its notices.
import { z } from 'zod'
import { ownWebhookRequest, registeredWebhook, webhookState } from '#core/contract/endpoint.ts'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { flag, list, named, text, textOrNull, type ValueOf, word } from '#core/contract/payloads/field.ts'
import { renderJson } from '#core/dataset/render/json.ts'
import { confirmKey } from '#signals/clients/api-keys.ts'
import { CLIENT_STATUSES } from '#signals/clients/clients.ts'
import { REGISTRATIONS, registerWebhook } from '#signals/outbox/register-webhook.ts'
import { readWebhook } from '#signals/outbox/webhooks.ts'
import { assertLeft } from '#signals/redis/per-hour.ts'
import { ownStateOf } from '#signals/subscribers/endpoints.ts'
import { NOTICE_EVENTS, readNotices } from '#signals/subscribers/notices.ts'
import { sendBytes, sendEnveloped } from '../../service/exchange.ts'
import { readJson } from '../../service/read-body.ts'
import { routesOf } from '../exchange.ts'
import { unauthorized, WRONG_KEY } from '../identify.ts'
import { programAliasOf } from '../program/prepared-program.ts'

export const MOST_WEBHOOK_BYTES = 4_096

const WEBHOOK = '/v1/webhook'
const WHOAMI = '/v1/whoami'
const NOTICES = '/v1/notices'

const identity = named('Identity', {
  client_id: text('Id of the client.'),
  tier: text('Tier of the subscription.'),
  status: word('`pending` until the operator switches the account on.', CLIENT_STATUSES),
  entitlements: z
    .object({ aliases: list('The strategies whose signals the client gets.', z.string()) })
    .catchall(z.union([z.boolean(), z.array(z.string())])) // the index of a TypeScript type covers all fields
    .describe('What the client may see; beside `aliases` a flag under the alias of the program.'),
  key_id: text('Public part of the key that was used.'),
})

const confirmation = named('KeyConfirmation', {
  client_id: text('Id of the client.'),
  key_id: text('The key that stays.'),
  retired_key_ids: list('The keys that this retired.', z.string()),
  webhook_suspended: flag(
    'True if a retired key had set the webhook, or may have: nothing is sent until a live key sets it by `PUT /v1/webhook`.',
  ),
})

const notice = named('Notice', {
  at: text('UTC instant, ISO 8601.'),
  event: word(
    '`endpoint_failing`: every attempt has failed for an hour; `endpoint_disabled`; `key_expiring`: a key ends within seven days; `key_revoked`: a key is revoked and what it chose of endpoints stays.',
    NOTICE_EVENTS,
  ),
  endpoint: textOrNull('The endpoint that it is about, or null.'),
  key_id: textOrNull('Public part of the key that it is about, or null.'),
  reason: text('Why, in a sentence.'),
})

export const OWN_ROUTES = routesOf('key', [
  {
    id: 'whoami',
    path: WHOAMI,
    title: 'Who am I',
    about:
      'The client that a key belongs to, and what it may see. Answered before the account is active, too.',
    data: identity,
    isBare: true,
    handler: (c, parts, { client, keyId }) => {
      const { id, tier, status, aliases, program } = client
      const entitlements = { aliases, [programAliasOf(parts.program())]: program }
      return sendBytes(c, renderJson({ client_id: id, tier, status, entitlements, key_id: keyId }))
    },
  },
  {
    id: 'confirm_key',
    method: 'POST',
    path: '/v1/keys/confirm',
    title: 'Confirm a key',
    about:
      'Sent with the new key of a rotation: from now on the old one is refused, and a webhook that it set is suspended ' +
      'until a live key sets it: do that with the new key first. Repeating it changes nothing.',
    data: confirmation,
    refusals: ['conflict'],
    handler: async (c, parts, { keyId }) => {
      const confirmed = await confirmKey(parts.redis, keyId, parts.clock.now()).catch(died)
      const { client, retired, suspendedBy, suspended } = confirmed
      for (const destination of suspended)
        parts.registering.onChange({ destination, change: 'suspended', by: { kind: 'key', id: suspendedBy } })
      const data: ValueOf<typeof confirmation> = {
        client_id: client,
        key_id: keyId,
        retired_key_ids: retired,
        webhook_suspended: suspended.length > 0,
      }
      return sendEnveloped(c, data, { self: '/v1/keys/confirm', whoami: WHOAMI })
    },
  },
  {
    id: 'put_webhook',
    method: 'PUT',
    path: WEBHOOK,
    title: 'Register the webhook',
    about:
      'Sends a signed test to the address, and keeps it if the answer is 2xx; otherwise nothing changes. ' +
      'The answer does not say what went wrong there. At most five times an hour. Sending the same address confirms it. ' +
      'A suspended webhook loses its secrets: send one, or take the new one from the answer.',
    body: ownWebhookRequest,
    data: registeredWebhook,
    refusals: ['rate_limited', 'conflict'],
    example: { path: WEBHOOK, body: { url: 'https://hooks.example.org/signals' } },
    // The answer has the secret only if it was created here.
    handler: async (c, parts, { client, keyId }) => {
      const { registering } = parts
      await assertLeft(registering.redis, REGISTRATIONS, client.id)
      const request = parseWebhookRequest(await readJson(c.req.raw, MOST_WEBHOOK_BYTES))
      const registered = registerWebhook(registering, client.id, request, { kind: 'key', id: keyId })
      const { made, dropsSecrets } = await registered.catch(died)
      const webhook = await readWebhook(registering.redis, registering.box, client.id)
      if (webhook === null)
        throw new ApiError('conflict', 'the webhook was removed meanwhile: register it again')
      const data: ValueOf<typeof registeredWebhook> = {
        ...ownStateOf(webhook),
        secret: made,
        secrets_dropped: dropsSecrets,
      }
      return sendEnveloped(c, data, { self: WEBHOOK, whoami: WHOAMI })
    },
  },
  {
    id: 'get_webhook',
    path: WEBHOOK,
    title: 'The webhook',
    about: 'State of the webhook of the client, without its secrets and its path.',
    data: webhookState,
    refusals: ['not_found'],
    handler: async (c, parts, { client }) => {
      const { redis, box } = parts.registering
      const webhook = await readWebhook(redis, box, client.id)
      if (webhook === null) throw new ApiError('not_found', 'no webhook yet: PUT /v1/webhook registers one')
      return sendEnveloped(c, ownStateOf(webhook), { self: WEBHOOK, whoami: WHOAMI })
    },
  },
])

export const NOTICE_ROUTES = routesOf('key', [
  {
    id: 'notices',
    path: NOTICES,
    title: 'Notices',
    about:
      'What needs your attention, newest first, a hundred at most. Each is also sent to your other endpoints, as a signed POST ' +
      'with `event` and without a number, and to your mail address if the operator has it.',
    data: z.array(notice),
    handler: async (c, { redis }, { client }) => {
      const data: readonly ValueOf<typeof notice>[] = await readNotices(redis, client.id)
      return sendEnveloped(c, data, { self: NOTICES, whoami: WHOAMI })
    },
  },
])

/** Revoked since it was identified. */
export function died(error: unknown): never {
  const isDead = error instanceof ApiError && (error.code === 'not_found' || error.code === 'unauthorized')
  throw isDead ? unauthorized(WRONG_KEY) : error
}

/** Values are not repeated: they may contain a token or a secret. */
function parseWebhookRequest(body: unknown): z.output<typeof ownWebhookRequest> {
  const parsed = ownWebhookRequest.safeParse(body)
  if (parsed.success) return parsed.data
  const reason = 'expected {"url": "https://...", "secret": "whsec_..." or left out}'
  throw invalidParameter('body', '(not repeated)', reason)
}
