import { z } from 'zod'
import { RESENT, resendOnly, rotationRequest, testFired } from '#core/contract/endpoint.ts'
import { ApiError } from '#core/contract/errors.ts'
import { named, request, textOrNull } from '#core/contract/payloads/field.ts'
import { findClient } from '#signals/clients/clients.ts'
import { readHead } from '#signals/log/read-log.ts'
import {
  argumentsOf,
  DEFAULT_ENDPOINT,
  type Destination,
  destinationOf,
} from '#signals/outbox/destination.ts'
import { registerWebhook, rotateWebhookSecret } from '#signals/outbox/register-webhook.ts'
import { resend } from '#signals/outbox/resend.ts'
import { OPERATOR } from '#signals/outbox/setter.ts'
import { fireTest } from '#signals/outbox/test-fire.ts'
import { disableWebhook, enableWebhook, readWebhook, removeWebhook } from '#signals/outbox/webhooks.ts'
import { liveSecrets } from '#signals/send/sign.ts'
import { readWebhookStates, type WebhookState } from '#signals/views/overview.ts'
import { count, seqText } from '../../service/deliveries.ts'
import type { Warning } from '../../service/page/page-route.ts'
import { clientAction, operatorRoute } from '../operator-route.ts'
import type { OperatorParts } from '../parts.ts'
import { endpoint, endpointQuery, ofClient, ofEndpoint, webhook } from '../views.ts'

const WEBHOOK = '/ops/clients/{client}/webhook'
const ACME = '/ops/clients/acme-capital'

export const webhookRequest = request('WebhookRequest', {
  url: z.string().min(1).describe('an address such as https://example.org/hook'),
  secret: z
    .string()
    .nullable()
    .default(null)
    .describe('whsec_ and 32 bytes in base64; left out, a first webhook is given one'),
  endpoint,
})

const disableRequest = request('DisableRequest', {
  why: z.string().max(200).default('the operator disabled it').describe('a reason of 200 characters at most'),
  endpoint,
})

const rotation = request('OperatorRotationRequest', { ...rotationRequest.shape, endpoint })

const replayQuery = z
  .strictObject({
    from: seqText.describe('the number of the first signal to send again, from 1'),
    to: seqText
      .optional()
      .describe('the number of the last one, not below that of the first; the newest if it is not given'),
    only: resendOnly,
    endpoint,
  })
  .refine(({ from, to = from }) => to >= from, { path: ['to'] })

const setWebhook = named('SetWebhook', {
  webhook: webhook.describe('Its state now.'),
  secret: textOrNull('The secret if this request made it: shown only here.'),
})

const replayed = named('Replayed', {
  client: ofClient,
  endpoint: ofEndpoint,
  from: count.describe('Number of the first signal that is sent again.'),
  owed_again: count.describe('Deliveries that follow.'),
})

export const WEBHOOK_ROUTES = [
  operatorRoute({
    id: 'webhook',
    path: WEBHOOK,
    title: 'State of a webhook',
    about: 'Its address, whether it is sent to, and what it is owed. Its secrets are never shown again.',
    query: endpointQuery,
    data: webhook,
    command: { usage: 'webhook show <client>' },
    handler: async (asked, parts) => ({ data: await stateOf(asked, parts) }),
  }),
  clientAction({
    id: 'set_webhook',
    method: 'PUT',
    path: WEBHOOK,
    title: 'Set a webhook, if it acknowledges a signed test',
    about:
      'Sends a signed test to the address, and keeps it if the answer is 2xx; otherwise nothing changes. ' +
      'If no secret is given, a first webhook gets a new one, which only this answer shows, and a later ' +
      'one keeps its own. A client has five endpoints at most, each with an address of its own.',
    body: webhookRequest,
    data: setWebhook,
    refusals: ['conflict'],
    example: {
      path: '/ops/clients/new-client/webhook',
      body: { url: 'https://hooks.new-client.example.org/signals' },
    },
    command: { usage: 'webhook set <client> <url>', fields: ['endpoint'] },
    form: {
      offers: [
        { at: 'settings of a webhook', button: 'Test and set', hasInputs: true, keeps: ['endpoint'] },
        { at: 'endpoints', button: 'Test and add', hasInputs: true },
      ],
      done: 'The webhook acknowledged a signed test and is set.',
    },
    // The only answers that contain a secret of a webhook are this one and that to a rotation.
    secret: {
      field: 'secret',
      title: 'The secret of the webhook',
      says: 'The address acknowledged a signed test, and signals are sent to it. Its owner needs this secret to verify them.',
    },
    handler: async ({ client, endpoint, ...request }, parts) => {
      const { made: secret } = await registerWebhook(
        parts.registering,
        destinationOf(client, endpoint),
        request,
      )
      return { data: { webhook: await stateOf({ client, endpoint }, parts), secret } }
    },
  }),
  clientAction({
    id: 'remove_webhook',
    method: 'DELETE',
    path: WEBHOOK,
    title: 'Remove a webhook: the client pulls',
    about: 'Nothing is sent to it any more; the client can still pull.',
    query: endpointQuery,
    data: z.null(),
    command: { usage: 'webhook remove <client>', prints: () => 'removed' },
    form: {
      offers: [{ at: 'settings of a webhook', button: 'Remove…', tone: 'stop', when: { isSet: true } }],
      warn: asked => [
        `Remove ${theWebhook(asked)}?`,
        'Nothing more is sent to it, and its address and secrets are deleted. The client can still pull every signal.',
      ],
      done: 'The webhook is removed: the client pulls.',
    },
    handler: async (asked, parts) => {
      const { destination } = await findWebhook(asked, parts)
      await removeWebhook(parts.redis, destination)
      parts.registering.onChange({ destination, change: 'removed', by: OPERATOR })
      return { data: null }
    },
  }),
  clientAction({
    id: 'rotate_webhook',
    path: `${WEBHOOK}/rotate`,
    title: 'Make a new secret; the old one also signs for a while',
    about: 'Only this answer shows the new secret. Deliveries are signed with both until the overlap ends.',
    body: rotation,
    isBodyOptional: true,
    data: setWebhook,
    refusals: ['conflict'],
    example: { path: `${ACME}/webhook/rotate`, body: { overlap_hours: 24 } },
    command: { usage: 'webhook rotate <client>' },
    form: {
      offers: [{ at: 'settings of a webhook', button: 'New secret…', tone: 'quiet', when: { isSet: true } }],
      warn: asked => [
        `Make a new secret for ${theWebhook(asked)}?`,
        'Deliveries are signed with the old secret and the new one for a day, then with the new one alone. Its owner must know it by then.',
        'Make a new secret',
      ],
    },
    secret: {
      field: 'secret',
      title: 'The new secret of the webhook',
      says: 'Deliveries are signed with the new secret and with the old one, until the old one ends after a day. Give the new one to its owner before then.',
    },
    handler: async ({ overlap_hours, ...asked }, parts) => {
      const { destination } = await findWebhook(asked, parts)
      const overlapMs = overlap_hours === undefined ? undefined : overlap_hours * 3_600_000
      const secret = await rotateWebhookSecret(parts.registering, destination, overlapMs)
      return { data: { webhook: await stateOf(asked, parts), secret } }
    },
  }),
  clientAction({
    id: 'enable_webhook',
    path: `${WEBHOOK}/enable`,
    title: 'Enable a webhook again',
    about:
      'It is sent what is fired from then on. What it missed is sent if the client is sent its signals ' +
      'again, see `replay`.',
    query: endpointQuery,
    data: webhook,
    refusals: ['conflict'],
    command: { usage: 'webhook enable <client>' },
    form: {
      offers: [{ at: 'webhook', button: 'Enable', when: { enabled: false } }],
      done: 'The webhook is enabled.',
    },
    handler: async (asked, parts) => {
      const { destination } = await findWebhook(asked, parts)
      await enableWebhook(parts.redis, destination)
      return { data: await stateOf(asked, parts) }
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
    form: {
      offers: [{ at: 'webhook', button: 'Disable…', tone: 'stop', when: { enabled: true } }],
      warn: asked => [
        `Disable ${theWebhook(asked)}?`,
        'Nothing is sent to it until you enable it. Signals that wait, and those that are fired meanwhile, are sent only if you resend them then. The client can still pull every signal.',
      ],
      done: 'The webhook is disabled.',
    },
    handler: async ({ why, ...asked }, parts) => {
      const { destination } = await findWebhook(asked, parts)
      await disableWebhook(parts.redis, destination, why)
      return { data: await stateOf(asked, parts) }
    },
  }),
  clientAction({
    id: 'test',
    path: '/ops/clients/{client}/test',
    title: 'Fire a test signal to one client',
    about:
      'The test has a number of its own, `is_test: true` and mode `DRY_RUN`; only this client sees it. It looks like an ' +
      'entry, of `TEST-INSTRUMENT`, an alias that no strategy can have, and is delivered like any signal, to one endpoint.',
    query: endpointQuery,
    data: testFired,
    statuses: [201],
    refusals: ['conflict'],
    command: { usage: 'test <client>' },
    form: {
      offers: [{ at: 'webhook', button: 'Fire a test', tone: 'quiet' }],
      next: ({ seq }) => `/ops/view/signals/${seq}`,
      done: 'A test signal was fired. Its delivery is below.',
    },
    handler: async (asked, parts) => {
      const { destination } = await findEnabled(asked, parts)
      return { data: { seq: await fireTest(parts.registering, destination) } }
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
    command: {
      usage: 'replay <client>',
      prints: answer => (answer.owed_again === 0 ? nothingToSend(answer) : answer),
    },
    form: {
      offers: [
        { at: 'webhook', button: 'Resend…', hasInputs: true, keeps: ['endpoint'] },
        { at: 'given up', button: 'Resend all given up…', tone: 'quiet' },
        { at: 'delivery', button: 'Resend…', tone: 'quiet' },
      ],
      warn: warnOfResend,
      done: 'The signals are sent again.',
      idle: 'No signal of that range is one to send again: nothing is sent.',
      isIdle: ({ owed_again }) => owed_again === 0,
    },
    handler: async ({ client, endpoint, ...range }, parts) => {
      const destination = await findSentTo({ client, endpoint }, parts)
      const { owed_again } = await resend(parts.registering, [destination], range)
      return { data: { client, endpoint, from: range.from, owed_again } }
    },
  }),
]

const nothingToSend = ({ client, from }: z.output<typeof replayed>): string =>
  `nothing is sent again: from number ${from} on there is no such signal that ${client} may see; ` +
  '`highwater ops status` shows the newest number'

async function warnOfResend(
  { client, endpoint, from, to, only }: { readonly client: string } & z.output<typeof replayQuery>,
  parts: OperatorParts,
): Promise<Warning> {
  const destination = await findSentTo({ client, endpoint }, parts)
  const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, (await readHead(parts.redis, parts.newEpoch)).seq)
  const count = Math.max(0, last - from + 1)
  const what = from === to ? `signal ${from}` : `signals ${from} to ${last}`
  const isAll = only === 'all'
  const which = isAll ? `those that it may see, ${RESENT.all}` : RESENT[only]
  return [
    isAll
      ? `Send ${destination} ${what} again?`
      : `Send ${destination} again what ${only === 'failed' ? 'failed' : 'was given up'}?`,
    `Of ${count} ${count === 1 ? 'signal' : 'signals'}, ${which} are sent to its webhook. A receiver drops what it has by signal_id.`,
    'Send again',
  ]
}

type Asked = { readonly client: string; readonly endpoint: string }

const theWebhook = ({ client, endpoint }: Asked): string =>
  endpoint === DEFAULT_ENDPOINT ? `the webhook of ${client}` : `the endpoint ${endpoint} of ${client}`

/** An endpoint with its address. Throws `not_found`. */
async function stateOf(asked: Asked, parts: OperatorParts) {
  const state = await findWebhook(asked, parts)
  return webhook.parse({ ...state, ...(await readAddress(state.destination, parts)) })
}

/** What of a webhook is sealed and may be shown; null if there is none. */
export async function readAddress(destination: Destination, { registering }: OperatorParts) {
  const { redis, box, now } = registering
  const webhook = await readWebhook(redis, box, destination)
  if (webhook === null) return null
  const { url, secrets, headers } = webhook
  return { url, live_secrets: liveSecrets(secrets, now()).length, header_names: Object.keys(headers) }
}

/** The endpoint that is asked for. Throws `not_found`. */
async function findWebhook(asked: Asked, { redis }: OperatorParts): Promise<WebhookState> {
  const { client, endpoint } = asked
  const states = await readWebhookStates(redis, [client])
  const state = states.get(destinationOf(client, endpoint))
  if (state !== undefined) return state
  await findClient(redis, client)
  if (endpoint === DEFAULT_ENDPOINT)
    throw new ApiError('not_found', `the client '${client}' has no webhook: set one first`)
  const names = [...states.values()].map(each => each.endpoint)
  const has = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`
  throw new ApiError(
    'not_found',
    `the client '${client}' has no endpoint '${endpoint}': ${has}; set it first`,
  )
}

/** Nothing is sent to a webhook that is disabled. Throws `not_found` and `conflict`. */
async function findEnabled(asked: Asked, parts: OperatorParts): Promise<WebhookState> {
  const state = await findWebhook(asked, parts)
  const { destination, enabled, disabled_why } = state
  if (enabled) return state
  const why = disabled_why === null ? '' : ` (${disabled_why})`
  throw new ApiError(
    'conflict',
    `the webhook of '${destination}' is disabled${why}: enable it first, with \`highwater ops webhook enable ${argumentsOf(destination)}\``,
  )
}

/** Nor to a client whose account is not active. Throws `not_found` and `conflict`. */
async function findSentTo(asked: Asked, parts: OperatorParts): Promise<Destination> {
  const { client, destination } = await findEnabled(asked, parts)
  const { status, suspended } = await findClient(parts.redis, client)
  if (status === 'active') return destination
  const message = `the account of '${client}' is ${suspended ? 'suspended' : status}, so nothing is sent: activate it first, with`
  throw new ApiError('conflict', `${message} \`highwater ops clients activate ${client}\``)
}
