// The route table of the operator's interface: the app, the OpenAPI document and the tests all loop over it.
import { z } from 'zod'
import type { ErrorCode } from './errors.ts'
import { fireRequest } from './fire-request.ts'
import { deliveryAccount } from './keyed-answers.ts'
import * as answers from './operator-answers.ts'
import * as requests from './operator-requests.ts'
import * as status from './operator-status.ts'

/** What a route takes and answers, and what it refuses beside what follows from its path, its body and who asks. */
type Shapes = {
  readonly data: z.ZodType
  /** 200 where nothing is said. */
  readonly statuses?: readonly (200 | 201)[]
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Where nothing need be sent: every field has a default. */
  readonly isBodyOptional?: true
  /** `meta.next` tells where to look on. */
  readonly isPaged?: true
  readonly refusals?: readonly ErrorCode[]
}

export type DescribedRoute<Id extends string = string> = Shapes & {
  readonly id: Id
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Template; its variables are `{client}`, `{key}` and `{seq}`. */
  readonly path: string
  readonly title: string
}

const route = <Id extends string>(
  id: Id,
  method: DescribedRoute['method'],
  path: string,
  title: string,
  shapes: Shapes,
): DescribedRoute<Id> => ({ id, method, path, title, ...shapes })

const CLIENT = '/ops/clients/{client}'
const WEBHOOK = `${CLIENT}/webhook`

const SIGNALS = [
  route('status', 'GET', '/ops/status', 'How the whole service stands', { data: status.serviceStatus }),
  route('signals', 'GET', '/ops/signals', 'The newest signals, and how their deliveries stand', {
    query: requests.signalsQuery,
    data: z.array(answers.signalSummary),
    isPaged: true,
  }),
  route(
    'fire',
    'POST',
    '/ops/signals',
    'Fire a signal, once however often: 201 for a new one, 200 for the same again',
    {
      body: fireRequest,
      data: answers.firedSignal,
      statuses: [201, 200],
      refusals: ['conflict'],
    },
  ),
  route('signal', 'GET', '/ops/signals/{seq}', 'A signal and its deliveries', {
    data: answers.signalDetails,
  }),
  route('delivery', 'GET', '/ops/signals/{seq}/{client}', 'A delivery and its attempts', {
    data: answers.deliveryDetails,
  }),
  route('deliveries', 'GET', '/ops/deliveries', 'The newest deliveries', {
    query: requests.deliveriesQuery,
    data: z.array(answers.delivery),
    isPaged: true,
  }),
] as const

const CLIENTS = [
  route('clients', 'GET', '/ops/clients', 'All clients', {
    data: z.array(answers.listedClient),
  }),
  route('add_client', 'POST', '/ops/clients', 'Add a client, whole or not at all', {
    body: requests.clientRequest,
    data: answers.changedClient,
    statuses: [201],
    refusals: ['conflict'],
  }),
  route('client', 'GET', CLIENT, 'A client with its keys, its webhook, its latency and its last deliveries', {
    data: answers.clientDetails,
  }),
  route('activate', 'POST', `${CLIENT}/activate`, 'Switch an account on', { data: answers.client }),
  route('suspend', 'POST', `${CLIENT}/suspend`, 'Switch an account off: its pulls and deliveries stop', {
    data: answers.client,
  }),
  route('entitle', 'POST', `${CLIENT}/entitlements`, 'Change what a client may see', {
    body: requests.entitlementRequest,
    data: answers.changedClient,
    refusals: ['conflict'],
  }),
  route(
    'account',
    'GET',
    `${CLIENT}/account`,
    'What became of every signal of a client, with a digest of them',
    {
      query: requests.accountQuery,
      data: deliveryAccount,
    },
  ),
  route('keys', 'GET', `${CLIENT}/keys`, 'The live keys of a client', { data: z.array(answers.apiKey) }),
  route('issue_key', 'POST', `${CLIENT}/keys`, 'Make a key; two live ones at the most', {
    data: answers.issuedKey,
    statuses: [201],
    refusals: ['conflict'],
  }),
  route(
    'confirm_key',
    'POST',
    '/ops/keys/{key}/confirm',
    'Confirm the newer key of a client: the older one dies',
    {
      data: answers.confirmedKey,
      refusals: ['conflict'],
    },
  ),
  route('revoke_key', 'POST', '/ops/keys/{key}/revoke', 'End a key at once', { data: answers.revokedKey }),
] as const

const WEBHOOKS = [
  route('webhook', 'GET', WEBHOOK, 'How a webhook stands', { data: answers.webhook }),
  route('set_webhook', 'PUT', WEBHOOK, 'Set a webhook, if it acknowledges a signed test', {
    body: requests.webhookRequest,
    data: answers.setWebhook,
    refusals: ['conflict'],
  }),
  route('remove_webhook', 'DELETE', WEBHOOK, 'Remove a webhook: the client pulls', { data: z.null() }),
  route('rotate_webhook', 'POST', `${WEBHOOK}/rotate`, 'A new secret; the old one signs too for a while', {
    body: requests.rotationRequest,
    isBodyOptional: true,
    data: answers.setWebhook,
    refusals: ['conflict'],
  }),
  route('enable_webhook', 'POST', `${WEBHOOK}/enable`, 'Begin to deliver again', {
    data: answers.webhook,
    refusals: ['conflict'],
  }),
  route('disable_webhook', 'POST', `${WEBHOOK}/disable`, 'Deliver no more', {
    body: requests.disableRequest,
    isBodyOptional: true,
    data: answers.webhook,
  }),
  route('test', 'POST', `${CLIENT}/test`, 'Fire a test signal to one client', {
    data: z.object({ seq: z.int().min(1).describe('Its number.') }),
    statuses: [201],
    refusals: ['conflict'],
  }),
  route('replay', 'POST', `${CLIENT}/replay`, 'Owe a client every signal from a number on again', {
    query: requests.replayQuery,
    data: answers.replayed,
    refusals: ['conflict'],
  }),
] as const

const LIVE = [
  route('live', 'GET', '/ops/live', 'How the live strategies stand', { data: status.liveStrategies }),
  route('halt', 'POST', '/ops/live/halt', 'Let no entry out; a flat still goes', {
    body: requests.haltRequest,
    isBodyOptional: true,
    data: status.liveStrategies,
  }),
  route('resume', 'POST', '/ops/live/resume', 'End a halt', {
    body: requests.haltRequest,
    isBodyOptional: true,
    data: status.liveStrategies,
  }),
  route('mode', 'POST', '/ops/live/mode', 'Order a strategy to be LIVE or DRY_RUN', {
    body: requests.modeRequest,
    data: status.liveStrategies,
    refusals: ['conflict'],
  }),
] as const

const ALL = [...SIGNALS, ...CLIENTS, ...WEBHOOKS, ...LIVE]

export type OperatorRouteId = (typeof ALL)[number]['id']

export const DESCRIBED_OPERATOR_ROUTES: readonly DescribedRoute<OperatorRouteId>[] = ALL
