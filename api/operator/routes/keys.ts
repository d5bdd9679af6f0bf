import { z } from 'zod'
import { parseIsoInstant } from '#core/calendar.ts'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { flag, list, named, request, text } from '#core/contract/payloads/field.ts'
import { confirmKey, issueKey, listKeys, ownerOf, revokeKey } from '#signals/clients/api-keys.ts'
import { findClient } from '#signals/clients/clients.ts'
import { keyIdOf } from '#signals/clients/token.ts'
import { readWebhookStates } from '#signals/views/overview.ts'
import type { Warning } from '../../service/page/page-route.ts'
import type { OperatorParts } from '../exchange.ts'
import { clientAction, operatorRoute } from '../operator-route.ts'
import { apiKey, ofClient } from '../views.ts'

const CLIENT = '/ops/clients/{client}'

const keyRequest = request('KeyRequest', {
  expires_at: z
    .string()
    .refine(text => parseIsoInstant(text) !== null)
    .nullable()
    .default(null)
    .describe(
      'an instant such as 2027-06-30T00:00:00Z from which the key is refused; left out, it has no end',
    ),
})

const issuedKey = named('IssuedKey', {
  id: text('Public part of the key.'),
  token: text('The key itself: shown this once.'),
})

const webhookSuspended = flag(
  'True if the key had set the webhook, or may have: nothing is sent until a live key of the client sets it.',
)

const confirmedKey = named('ConfirmedKey', {
  client: ofClient,
  key_id: text('The key that stays.'),
  retired_key_ids: list('The keys that this retired.', z.string()),
  webhook_suspended: webhookSuspended,
})

const revokedKey = named('RevokedKey', {
  key_id: text('Public part of the key.'),
  revoked: z.literal(true).describe('From now on it is refused.'),
  webhook_suspended: webhookSuspended,
})

const KEY_ACTION = { method: 'POST', scope: 'clients', subject: { kind: 'key', field: 'key' } } as const

export const KEY_ROUTES = [
  operatorRoute({
    id: 'keys',
    path: `${CLIENT}/keys`,
    title: 'The live keys of a client',
    about: 'Ids and dates, oldest first. Of a key itself only a digest is stored.',
    data: z.array(apiKey),
    command: { usage: 'keys list <client>' },
    handler: async ({ client }, { redis }) => {
      const { id } = await findClient(redis, client)
      return { data: await listKeys(redis, id) }
    },
  }),
  clientAction({
    id: 'issue_key',
    path: `${CLIENT}/keys`,
    title: 'Issue a key; a client has at most two',
    about:
      'The only answer that contains the key. The older key stays valid until the newer one is confirmed, ' +
      'by the client or here. Seven days before its end the client gets a notice.',
    body: keyRequest,
    isBodyOptional: true,
    data: issuedKey,
    statuses: [201],
    refusals: ['conflict'],
    example: { path: '/ops/clients/new-client/keys', body: { expires_at: '2027-06-30T00:00:00Z' } },
    command: {
      usage: 'keys issue <client>',
      options: { expires_at: 'expires' },
      prints: ({ id, token }) => `key ${id}, shown this once:\n${token}`,
    },
    form: { offers: [{ at: 'keys', button: 'Issue a key', tone: 'quiet' }] },
    secret: {
      field: 'token',
      title: 'A new key',
      says: 'Give it to the client over a channel that you trust. If the client has another key, that one stays valid until the client confirms this one.',
    },
    handler: async ({ client, expires_at }, { redis, random, clock }) => {
      const endMs = expires_at === null ? null : parseIsoInstant(expires_at)
      return { data: await issueKey(redis, client, random, clock.now(), endMs) }
    },
  }),
  operatorRoute({
    id: 'confirm_key',
    ...KEY_ACTION,
    path: '/ops/keys/{key}/confirm',
    title: 'Confirm the newer key of a client, which retires the older one',
    about: 'What the client does with `POST /v1/keys/confirm`. Repeating it changes nothing.',
    data: confirmedKey,
    refusals: ['validation_error', 'conflict'],
    example: { path: '/ops/keys/00EXAMPL/confirm' },
    command: { usage: 'keys confirm <key>', argument: toKeyId },
    handler: async ({ key }, { redis, clock, registering }) => {
      const confirmed = await confirmKey(redis, assertKey(key), clock.now())
      const { client, keyId, retired, suspendedBy, suspended } = confirmed
      for (const destination of suspended)
        registering.onChange({ destination, change: 'suspended', by: { kind: 'key', id: suspendedBy } })
      const isSuspended = suspended.length > 0
      const data = { client, key_id: keyId, retired_key_ids: retired, webhook_suspended: isSuspended }
      return { data }
    },
  }),
  operatorRoute({
    id: 'revoke_key',
    ...KEY_ACTION,
    path: '/ops/keys/{key}/revoke',
    title: 'Revoke a key at once',
    about:
      'The next request with it is refused. A whole key may be given, or the part that a log shows: only ' +
      'its id is read.',
    data: revokedKey,
    refusals: ['validation_error'],
    example: { path: '/ops/keys/00EXAMPL/revoke' },
    command: { usage: 'keys revoke <key>', argument: toKeyId },
    form: {
      offers: [{ at: 'key', button: 'Revoke…', tone: 'stop' }],
      below: '/clients/{client}',
      warn: warnOfRevoking,
      done: 'The key is revoked.',
    },
    handler: async (asked, { redis, registering }) => {
      const key = assertKey(asked.key)
      const revoked = await revokeKey(redis, key)
      if (revoked === null) throw notLive(key)
      for (const destination of revoked.suspended)
        registering.onChange({ destination, change: 'suspended', by: { kind: 'key', id: key } })
      const webhook_suspended = revoked.suspended.length > 0
      return { data: { key_id: key, revoked: true as const, webhook_suspended } }
    },
  }),
]

/** Of a key that is given whole, its id alone is sent: what is in an address is seen by others. */
function toKeyId(text: string): string {
  return keyIdOf(text) ?? text
}

async function warnOfRevoking({ key }: { readonly key: string }, { redis }: OperatorParts): Promise<Warning> {
  const id = assertKey(key)
  const owner = await ownerOf(redis, id)
  if (owner === null) throw notLive(id)
  const isSetter = (await readWebhookStates(redis, [owner])).get(owner)?.set_by_key === id
  return [
    `Revoke the key ${id} of ${owner}?`,
    `The next request with it is refused, for good.${isSetter ? ' It set the webhook, so nothing more is sent there until a live key of the client, or you, set it again.' : ''}`,
  ]
}

const notLive = (key: string): ApiError =>
  new ApiError('not_found', `there is no live key '${key}': it is refused already`)

/** A malformed key is an error: an answer that it is not live would be false reassurance about a leak. */
function assertKey(text: string): string {
  const id = keyIdOf(text)
  if (id !== null) return id
  const reason =
    'expected the id of a key, the 8 characters behind hw_live_; `highwater ops keys list CLIENT` lists it'
  throw invalidParameter('key', '(not repeated)', reason)
}
