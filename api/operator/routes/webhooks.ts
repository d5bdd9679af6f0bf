import { z } from 'zod'
import { rotationRequest, testFired } from '#core/contract/endpoint.ts'
import { ApiError } from '#core/contract/errors.ts'
import { named, request, textOrNull } from '#core/contract/payloads/field.ts'
import { findClient } from '#signals/clients/clients.ts'
import { readHead } from '#signals/log/read-log.ts'
import { registerWebhook, rotateWebhookSecret } from '#signals/outbox/register-webhook.ts'
import { resend } from '#signals/outbox/resend.ts'
import { fireTest } from '#signals/outbox/test-fire.ts'
import { disableWebhook, enableWebhook, readWebhook, removeWebhook } from '#signals/outbox/webhooks.ts'
import { liveSecrets } from '#signals/send/sign.ts'
import { readWebhookStates, type WebhookState } from '#signals/views/overview.ts'
import { count, seqText } from '../../service/deliveries.ts'
import type { Warning } from '../../service/page/page-route.ts'
import { clientAction, operatorRoute } from '../operator-route.ts'
import type { OperatorParts } from '../parts.ts'
import { ofClient, webhook } from '../views.ts'

const WEBHOOK = '/ops/clients/{client}/webhook'
const ACME = '/ops/clients/acme-capital'

export const webhookRequest = request('WebhookRequest', {
  url: z.string().min(1).describe('an address such as https://example.org/hook'),
  secret: z
    .string()
    .nullable()
    .default(null)
    .describe('whsec_ and 32 bytes in base64; left out, a first webhook is given one'),
})

const disableRequest = request('DisableRequest', {
  why: z.string().max(200).default('the operator disabled it').describe('a reason of 200 characters at most'),
})

const replayQuery = z
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

const setWebhook = named('SetWebhook', {
  webhook: webhook.describe('Its state now.'),
  secret: textOrNull('The secret if this request made it: shown only here.'),
})

const replayed = named('Replayed', {
  client: ofClient,
  from: count.describe('Number of the first signal that is sent again.'),
  owed_again: count.describe('Deliveries that follow.'),
})

export const WEBHOOK_ROUTES = [
  operatorRoute({
    id: 'webhook',
    path: WEBHOOK,
    title: 'State of a webhook',
    about: 'Its address, whether it is sent to, and what it is owed. Its secrets are never shown again.',
    data: webhook,
    command: { usage: 'webhook show <client>' },
    handler: async ({ client }, parts) => ({ data: await stateOf(client, parts) }),
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
    command: { usage: 'webhook set <client> <url>', fields: [] },
    form: {
      offers: [{ at: 'settings of a webhook', button: 'Test and set', hasInputs: true }],
      done: 'The webhook acknowledged a signed test and is set.',
    },
    // The only answers that contain a secret of a webhook are this one and that to a rotation.
    secret: {
      field: 'secret',
      title: 'The secret of the webhook',
      says: 'The address acknowledged a signed test, and signals are sent to it. Its owner needs this secret to verify them.',
    },
    needs: ({ client }, { redis }) => findClient(redis, client),
    handler: async ({ client, ...request }, parts) => {
      const { made: secret } = await registerWebhook(parts.registering, client, request)
      return { data: { webhook: await stateOf(client, parts), secret } }
    },
  }),
  clientAction({
    id: 'remove_webhook',
    method: 'DELETE',
    path: WEBHOOK,
    title: 'Remove a webhook: the client pulls',
    about: 'Nothing is sent to the client any more; it can still pull.',
    data: z.null(),
    command: { usage: 'webhook remove <client>', prints: () => 'removed' },
    form: {
      offers: [{ at: 'settings of a webhook', button: 'Remove…', tone: 'stop', when: { isSet: true } }],
      warn: ({ client }) => [
        `Remove the webhook of ${client}?`,
        'Nothing more is sent to it, and its address and secrets are deleted. The client can still pull every signal.',
      ],
      done: 'The webhook is removed: the client pulls.',
    },
    needs: findWebhook,
    handler: async ({ client }, { redis, registering }) => {
      await removeWebhook(redis, client)
      registering.onChange({ destination: client, change: 'removed', keyId: null })
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
    form: {
      offers: [{ at: 'settings of a webhook', button: 'New secret…', tone: 'quiet', when: { isSet: true } }],
      warn: ({ client }) => [
        `Make a new secret for the webhook of ${client}?`,
        'Deliveries are signed with the old secret and the new one for a day, then with the new one alone. Its owner must know it by then.',
        'Make a new secret',
      ],
    },
    secret: {
      field: 'secret',
      title: 'The new secret of the webhook',
      says: 'Deliveries are signed with the new secret and with the old one, until the old one ends after a day. Give the new one to its owner before then.',
    },
    needs: findWebhook,
    handler: async ({ client, overlap_hours }, parts) => {
      const overlapMs = overlap_hours === undefined ? undefined : overlap_hours * 3_600_000
      const secret = await rotateWebhookSecret(parts.registering, client, overlapMs)
      return { data: { webhook: await stateOf(client, parts), secret } }
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
    command: { usage: 'webhook enable <client>' },
    form: {
      offers: [{ at: 'webhook', button: 'Enable', when: { enabled: false } }],
      done: 'The webhook is enabled.',
    },
    needs: findWebhook,
    handler: async ({ client }, parts) => {
      await enableWebhook(parts.redis, client)
      return { data: await stateOf(client, parts) }
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
      warn: ({ client }) => [
        `Disable the webhook of ${client}?`,
        'Nothing is sent to it until you enable it. Signals that wait, and those that are fired meanwhile, are sent only if you resend them then. The client can still pull every signal.',
      ],
      done: 'The webhook is disabled.',
    },
    needs: findWebhook,
    handler: async ({ client, why }, parts) => {
      await disableWebhook(parts.redis, client, why)
      return { data: await stateOf(client, parts) }
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
    command: { usage: 'test <client>' },
    form: {
      offers: [{ at: 'webhook', button: 'Fire a test', tone: 'quiet' }],
      next: ({ seq }) => `/ops/view/signals/${seq}`,
      done: 'A test signal was fired. Its delivery is below.',
    },
    needs: assertEnabled,
    handler: async ({ client }, { registering }) => ({ data: { seq: await fireTest(registering, client) } }),
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
        { at: 'webhook', button: 'Resend…', hasInputs: true },
        { at: 'given up', button: 'Resend all given up…', tone: 'quiet' },
        { at: 'delivery', button: 'Resend…', tone: 'quiet' },
      ],
      warn: warnOfResend,
      done: 'The signals are sent again.',
      idle: 'No signal of that range is one to send again: nothing is sent.',
      isIdle: ({ owed_again }) => owed_again === 0,
    },
    needs: assertSentTo,
    handler: async ({ client, ...range }, parts) => ({
      data: { client, from: range.from, owed_again: await resend(parts.registering, client, range) },
    }),
  }),
]

const nothingToSend = ({ client, from }: z.output<typeof replayed>): string =>
  `nothing is sent again: from number ${from} on there is no such signal that ${client} may see; ` +
  '`highwater ops status` shows the newest number'

async function warnOfResend(
  { client, from, to, only }: { readonly client: string } & z.output<typeof replayQuery>,
  parts: OperatorParts,
): Promise<Warning> {
  await assertSentTo({ client }, parts)
  const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, (await readHead(parts.redis, parts.newEpoch)).seq)
  const count = Math.max(0, last - from + 1)
  const what = from === to ? `signal ${from}` : `signals ${from} to ${last}`
  const isAll = only === 'all'
  const which = isAll ? 'those that it may see, delivered before or not' : 'those that were given up'
  return [
    isAll ? `Send ${client} ${what} again?` : `Send ${client} what was given up again?`,
    `Of ${count} ${count === 1 ? 'signal' : 'signals'}, ${which} are sent to its webhook. A receiver drops what it has by signal_id.`,
    'Send again',
  ]
}

/** The webhook of a client with its address. Throws `not_found`. */
const stateOf = async (client: string, parts: OperatorParts) =>
  webhook.parse({ ...(await findWebhook({ client }, parts)), ...(await readAddress(client, parts)) })

/** The address of a webhook, and how many secrets sign now; null if the client has none. */
export async function readAddress(client: string, { registering }: OperatorParts) {
  const { redis, box, now } = registering
  const webhook = await readWebhook(redis, box, client)
  if (webhook === null) return null
  return { url: webhook.url, live_secrets: liveSecrets(webhook.secrets, now()).length }
}

type OfClient = { readonly client: string }

/** The webhook of a client. Throws `not_found`. */
async function findWebhook({ client }: OfClient, { redis }: OperatorParts): Promise<WebhookState> {
  const state = (await readWebhookStates(redis, [client])).get(client)
  if (state !== undefined) return state
  await findClient(redis, client)
  throw new ApiError('not_found', `the client '${client}' has no webhook: set one first`)
}

/** Nothing is sent to a webhook that is disabled. Throws `not_found` and `conflict`. */
async function assertEnabled({ client }: OfClient, parts: OperatorParts): Promise<void> {
  const { enabled, disabled_why } = await findWebhook({ client }, parts)
  if (enabled) return
  const why = disabled_why === null ? '' : ` (${disabled_why})`
  throw new ApiError(
    'conflict',
    `the webhook of '${client}' is disabled${why}: enable it first, with \`highwater ops webhook enable ${client}\``,
  )
}

/** Nor to a client whose account is not active. Throws `not_found` and `conflict`. */
async function assertSentTo({ client }: OfClient, parts: OperatorParts): Promise<void> {
  await assertEnabled({ client }, parts)
  const { status, suspended } = await findClient(parts.redis, client)
  if (status === 'active') return
  const message = `the account of '${client}' is ${suspended ? 'suspended' : status}, so nothing is sent: activate it first, with`
  throw new ApiError('conflict', `${message} \`highwater ops clients activate ${client}\``)
}
