// Webhooks, test fires and resends.
import { z } from 'zod'
import { ApiError } from '#core/contract/errors.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import type { Client } from '#signals/clients/client.ts'
import { findClient } from '#signals/clients/clients.ts'
import { disableWebhook, enableWebhook } from '#signals/outbox/webhooks.ts'
import { readWebhookStates } from '#signals/views/overview.ts'
import { readJson } from '../exchange.ts'
import { clientAction, operatorRoute } from '../operator-route.ts'
import type { OperatorParts } from '../parts.ts'
import { count, ofClient, webhook } from '../views.ts'
import { clientOf } from './clients.ts'
import { seqText } from './signals.ts'

/** A longer overlap would be no rotation. */
const LONGEST_OVERLAP_HOURS = 30 * 24

const HOUR_MS = 3_600_000

const WEBHOOK = '/ops/clients/{client}/webhook'
const ACME = '/ops/clients/acme-capital'

export const webhookRequest = z
  .strictObject({
    url: z.string().min(1).describe('an address such as https://example.org/hook'),
    secret: z
      .string()
      .nullable()
      .default(null)
      .describe('whsec_ and 32 bytes in base64; left out, a first webhook is given one'),
  })
  .meta({ id: 'WebhookRequest' })

const rotationRequest = z
  .strictObject({
    overlap_hours: z
      .number()
      .min(0)
      .max(LONGEST_OVERLAP_HOURS)
      .optional()
      .describe(`hours from 0 to ${LONGEST_OVERLAP_HOURS} for which the old secret signs too`),
  })
  .meta({ id: 'RotationRequest' })

const disableRequest = z
  .strictObject({
    why: z
      .string()
      .max(200)
      .default('the operator disabled it')
      .describe('a reason of 200 characters at most'),
  })
  .meta({ id: 'DisableRequest' })

export const replayQuery = z
  .strictObject({
    from: seqText.describe('the number of the first signal to send again, from 1'),
    to: seqText
      .optional()
      .describe('the number of the last one, not below that of the first; the newest if it is not given'),
    only: z
      .enum(['all', 'exhausted'])
      .default('all')
      .describe('all, or exhausted for those that were given up'),
  })
  .refine(({ from, to = from }) => to >= from, { path: ['to'] })

const setWebhook = z
  .object({
    webhook: webhook.describe('Its state now.'),
    secret: z.string().nullable().describe('The secret if this request made it: shown only here.'),
  })
  .meta({ id: 'SetWebhook' })

const replayed = z
  .object({
    client: ofClient,
    from: count.describe('Number of the first signal that is sent again.'),
    owed_again: count.describe('Deliveries that follow.'),
  })
  .meta({ id: 'Replayed' })

const testFired = z.object({ seq: z.int().min(1).describe('Its number.') }).meta({ id: 'TestFired' })

export const WEBHOOK_ROUTES = [
  operatorRoute({
    id: 'webhook',
    path: WEBHOOK,
    title: 'State of a webhook',
    about: 'Its address, whether it is sent to, and what it is owed. Its secrets are never shown again.',
    data: webhook,
    example: { path: `${ACME}/webhook` },
    command: { usage: 'webhook show <client>' },
    handler: async (c, parts) => {
      return { data: await stateOf(await assertWebhook(clientOf(c), parts), parts) }
    },
  }),
  clientAction({
    id: 'set_webhook',
    method: 'PUT',
    path: WEBHOOK,
    title: 'Set a webhook, if it acknowledges a signed test',
    about:
      'Sends a signed test to the address, and keeps it if the answer is 2xx; otherwise nothing changes. ' +
      'If no secret is given, a first webhook gets a new one, which only this answer shows, and a later ' +
      'one keeps its own.',
    body: webhookRequest,
    data: setWebhook,
    refusals: ['conflict'],
    example: {
      path: '/ops/clients/new-client/webhook',
      body: { url: 'https://hooks.new-client.example.org/signals' },
    },
    command: { usage: 'webhook set <client> <url>' },
    // The only answers that contain a secret of a webhook are this one and that to a rotation.
    handler: async (c, parts) => {
      const { id } = await findClient(parts.redis, clientOf(c))
      const request = parseRequest(webhookRequest, await readJson(c))
      const secret = await parts.orders.register(id, request)
      return { data: { webhook: await stateOf(id, parts), secret } }
    },
  }),
  clientAction({
    id: 'remove_webhook',
    method: 'DELETE',
    path: WEBHOOK,
    title: 'Remove a webhook: the client pulls',
    about: 'Nothing is sent to the client any more; it can still pull.',
    data: z.null(),
    example: { path: `${ACME}/webhook` },
    command: { usage: 'webhook remove <client>' },
    handler: async (c, parts) => {
      await parts.orders.remove(await assertWebhook(clientOf(c), parts))
      return { data: null }
    },
  }),
  clientAction({
    id: 'rotate_webhook',
    path: `${WEBHOOK}/rotate`,
    title: 'Make a new secret; the old one also signs for a while',
    about: 'Only this answer shows the new secret. Deliveries are signed with both until the overlap ends.',
    body: rotationRequest,
    isBodyOptional: true,
    data: setWebhook,
    refusals: ['conflict'],
    example: { path: `${ACME}/webhook/rotate`, body: { overlap_hours: 24 } },
    command: { usage: 'webhook rotate <client>' },
    handler: async (c, parts) => {
      const id = await assertWebhook(clientOf(c), parts)
      const { overlap_hours } = parseRequest(rotationRequest, await readJson(c, true))
      const overlapMs = overlap_hours === undefined ? undefined : overlap_hours * HOUR_MS
      const secret = await parts.orders.rotate(id, overlapMs)
      return { data: { webhook: await stateOf(id, parts), secret } }
    },
  }),
  clientAction({
    id: 'enable_webhook',
    path: `${WEBHOOK}/enable`,
    title: 'Enable a webhook again',
    about:
      'It is sent what is fired from then on. What it missed is sent if the client is sent its signals ' +
      'again, see `replay`.',
    data: webhook,
    refusals: ['conflict'],
    example: { path: `${ACME}/webhook/enable` },
    command: { usage: 'webhook enable <client>' },
    handler: async (c, parts) => {
      const id = await assertWebhook(clientOf(c), parts)
      await enableWebhook(parts.redis, id)
      return { data: await stateOf(id, parts) }
    },
  }),
  clientAction({
    id: 'disable_webhook',
    path: `${WEBHOOK}/disable`,
    title: 'Disable a webhook; the client still pulls',
    about: 'Nothing is sent to it until it is enabled again. The reason is shown to the client.',
    body: disableRequest,
    isBodyOptional: true,
    data: webhook,
    example: { path: `${ACME}/webhook/disable`, body: { why: 'the client asked for it' } },
    command: { usage: 'webhook disable <client>' },
    handler: async (c, parts) => {
      const id = await assertWebhook(clientOf(c), parts)
      const { why } = parseRequest(disableRequest, await readJson(c, true))
      await disableWebhook(parts.redis, id, why)
      return { data: await stateOf(id, parts) }
    },
  }),
  clientAction({
    id: 'test',
    path: '/ops/clients/{client}/test',
    title: 'Fire a test signal to one client',
    about:
      'The test has a number of its own, `is_test: true` and mode `DRY_RUN`; only this client sees it. It looks like an ' +
      'entry, of `TEST-INSTRUMENT`, an alias that no strategy can have, and is delivered like any signal.',
    data: testFired,
    statuses: [201],
    refusals: ['conflict'],
    example: { path: `${ACME}/test` },
    command: { usage: 'test <client>' },
    handler: async (c, parts) => {
      const { id } = await assertEnabled(clientOf(c), parts)
      return { status: 201, data: { seq: await parts.orders.fireTest(id) } }
    },
  }),
  clientAction({
    id: 'replay',
    path: '/ops/clients/{client}/replay',
    title: 'Send a client every signal of a range again, or those that were given up',
    about:
      'Every signal from `from` to `to` that the client may see is owed to it once more, delivered or not: it drops what it ' +
      'has by `signal_id`. The same number twice is one signal. Its account must be active, and its webhook enabled.',
    query: replayQuery,
    data: replayed,
    refusals: ['conflict'],
    example: { path: `${ACME}/replay?from=5` },
    command: { usage: 'replay <client>' },
    handler: async (c, parts) => {
      const id = await assertSentTo(clientOf(c), parts)
      const range = parseRequest(replayQuery, c.get('query') ?? c.req.query())
      return { data: { client: id, from: range.from, owed_again: await parts.orders.replay(id, range) } }
    },
  }),
]

/** The webhook after an operation. Throws `not_found` if it was removed meanwhile. */
const stateOf = async (id: string, parts: OperatorParts) =>
  webhook.parse({ ...(await findWebhook(id, parts)).state, ...(await parts.orders.readAddress(id)) })

/** The id of a client that has a webhook. Throws `not_found`. */
const assertWebhook = async (id: string, parts: OperatorParts): Promise<string> =>
  (await findWebhook(id, parts)).client.id

/** A client and its webhook. Throws `not_found`. */
async function findWebhook(id: string, { redis }: OperatorParts) {
  const client = await findClient(redis, id)
  const state = (await readWebhookStates(redis, [id])).get(id)
  if (state === undefined) throw new ApiError('not_found', `the client '${id}' has no webhook: set one first`)
  return { client, state }
}

/** A client whose webhook is enabled: nothing is sent to a disabled one. Throws `not_found` and `conflict`. */
async function assertEnabled(id: string, parts: OperatorParts): Promise<Client> {
  const { client, state } = await findWebhook(id, parts)
  if (state.enabled) return client
  const why = state.disabled_why === null ? '' : ` (${state.disabled_why})`
  throw new ApiError(
    'conflict',
    `the webhook of '${id}' is disabled${why}: enable it first, with \`highwater ops webhook enable ${id}\``,
  )
}

/** The id of a client to which signals are sent. Throws `not_found` and `conflict`. */
export async function assertSentTo(client: string, parts: OperatorParts): Promise<string> {
  const { id, status, suspended } = await assertEnabled(client, parts)
  if (status === 'active') return id
  const message = `the account of '${id}' is ${suspended ? 'suspended' : status}, so nothing is sent: activate it first, with`
  throw new ApiError('conflict', `${message} \`highwater ops clients activate ${id}\``)
}
