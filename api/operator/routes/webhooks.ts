import { z } from 'zod'
import { rotationRequest, testFired } from '#core/contract/endpoint.ts'
import { ApiError } from '#core/contract/errors.ts'
import { named, request, textOrNull } from '#core/contract/payloads/field.ts'
import { findClient } from '#signals/clients/clients.ts'
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
import { disableWebhook, enableWebhook, readWebhook } from '#signals/outbox/webhooks.ts'
import { liveSecrets } from '#signals/send/sign.ts'
import { readWebhookStates, type WebhookState } from '#signals/views/overview.ts'
import { count, isRange, resendFields, seqText } from '../../service/deliveries.ts'
import {
  assertEnabled,
  nameOf,
  REMOVE,
  RESEND,
  ROTATE,
  removeEndpoint,
  resendWarning,
  SET,
  TEST,
} from '../../service/endpoint-actions.ts'
import type { Warning } from '../../service/page/page-route.ts'
import type { OperatorParts } from '../exchange.ts'
import { clientAction, operatorRoute } from '../operator-route.ts'
import { endpoint, endpointQuery, ofClient, ofEndpoint, type WebhookView, webhook } from '../views.ts'

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

const replayQuery = z.strictObject({ ...resendFields(seqText), endpoint }).refine(isRange, { path: ['to'] })

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
    ...SET,
    id: 'set_webhook',
    path: WEBHOOK,
    body: webhookRequest,
    data: setWebhook,
    refusals: ['conflict'],
    example: {
      path: '/ops/clients/new-client/webhook',
      body: { url: 'https://hooks.new-client.example.org/signals' },
    },
    command: { usage: 'webhook set <client> <url>', fields: ['endpoint'] },
    handler: async ({ client, endpoint, ...request }, parts) => {
      const destination = destinationOf(client, endpoint)
      const { made: secret } = await registerWebhook(parts.registering, destination, request)
      return { data: { webhook: await stateOf({ client, endpoint }, parts), secret } }
    },
  }),
  clientAction({
    ...REMOVE,
    id: 'remove_webhook',
    path: WEBHOOK,
    query: endpointQuery,
    data: z.null(),
    command: { usage: 'webhook remove <client>', prints: () => 'removed' },
    handler: async (asked, parts) =>
      removeEndpoint(parts.registering, (await findWebhook(asked, parts)).destination, OPERATOR),
  }),
  clientAction({
    ...ROTATE,
    id: 'rotate_webhook',
    path: `${WEBHOOK}/rotate`,
    body: rotation,
    data: setWebhook,
    refusals: ['conflict'],
    example: { path: `${ACME}/webhook/rotate`, body: { overlap_hours: 24 } },
    command: { usage: 'webhook rotate <client>' },
    handler: async ({ overlap_hours, ...asked }, parts) => {
      const { destination } = await findWebhook(asked, parts)
      const secret = await rotateWebhookSecret(parts.registering, destination, overlap_hours)
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
      offers: [{ at: 'endpoint', button: 'Enable', when: { enabled: false } }],
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
      offers: [{ at: 'endpoint', button: 'Disable…', tone: 'stop', when: { enabled: true } }],
      warn: asked => [
        `Disable ${nameOf(asked)}?`,
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
    ...TEST,
    id: 'test',
    path: '/ops/clients/{client}/test',
    query: endpointQuery,
    data: testFired,
    refusals: ['conflict'],
    command: { usage: 'test <client>' },
    form: { ...TEST.form, next: ({ seq }) => `/ops/view/signals/${seq}` },
    handler: async (asked, parts) => {
      const { destination } = await findEnabled(asked, parts)
      return { data: { seq: await fireTest(parts.registering, destination) } }
    },
  }),
  clientAction({
    ...RESEND,
    id: 'replay',
    path: '/ops/clients/{client}/replay',
    about: `${RESEND.about} Its account must be active, and its webhook enabled.`,
    query: replayQuery,
    data: replayed,
    refusals: ['conflict'],
    example: { path: `${ACME}/replay?from=5` },
    command: {
      usage: 'replay <client>',
      prints: answer => (answer.owed_again === 0 ? nothingToSend(answer) : answer),
    },
    form: { ...RESEND.form, warn: warnOfResend },
    handler: async (asked, parts) => {
      const { client, endpoint, from } = asked
      const { owed_again } = await resendAsked(asked, parts, false)
      return { data: { client, endpoint, from, owed_again } }
    },
  }),
]

const nothingToSend = ({ client, from }: z.output<typeof replayed>): string =>
  `nothing is sent again: from number ${from} on there is no such signal that ${client} may see; ` +
  '`highwater ops status` shows the newest number'

type Resend = { readonly client: string } & z.output<typeof replayQuery>

async function resendAsked(asked: Resend, parts: OperatorParts, isDryRun: boolean) {
  const { client, endpoint, fired_from: firedFromMs, ...range } = asked
  const destination = await findSentTo({ client, endpoint }, parts)
  return resend(parts.registering, [destination], { ...range, firedFromMs }, { isDryRun })
}

async function warnOfResend(asked: Resend, parts: OperatorParts): Promise<Warning | null> {
  const { signals } = await resendAsked(asked, parts, true)
  return resendWarning(signals, nameOf(asked), asked.only)
}

type Asked = { readonly client: string; readonly endpoint: string }

/** An endpoint with its address. Throws `not_found`. */
const stateOf = async (asked: Asked, parts: OperatorParts) =>
  withAddress(asked.client, await findWebhook(asked, parts), parts)

export const withAddress = async (client: string, state: WebhookView | WebhookState, parts: OperatorParts) =>
  webhook.parse({ ...state, ...(await readAddress(destinationOf(client, state.endpoint), parts)) })

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
  const fix = `enable it first, with \`highwater ops webhook enable ${argumentsOf(state.destination)}\``
  assertEnabled(state, `the webhook of '${state.destination}'`, fix)
  return state
}

/** Nor to a client whose account is not active. Throws `not_found` and `conflict`. */
async function findSentTo(asked: Asked, parts: OperatorParts): Promise<Destination> {
  const { client, destination } = await findEnabled(asked, parts)
  const { status, suspended } = await findClient(parts.redis, client)
  if (status === 'active') return destination
  const message = `the account of '${client}' is ${suspended ? 'suspended' : status}, so nothing is sent: activate it first, with`
  throw new ApiError('conflict', `${message} \`highwater ops clients activate ${client}\``)
}
