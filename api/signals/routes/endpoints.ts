// The endpoints of a client: up to five addresses that its signals are sent to, each with its own settings.
import { z } from 'zod'
import {
  endpointChange,
  endpointRequest,
  endpointState,
  registeredEndpoint,
  rotatedEndpoint,
  rotationRequest,
  testFired,
} from '#core/contract/endpoint.ts'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { didYouMean } from '#core/contract/near-miss.ts'
import { destinationOf } from '#signals/outbox/destination.ts'
import { REGISTRATIONS, registerWebhook, rotateWebhookSecret } from '#signals/outbox/register-webhook.ts'
import { fireTest } from '#signals/outbox/test-fire.ts'
import { setSettings } from '#signals/outbox/webhooks.ts'
import { hourKeyOf } from '#signals/redis/keys.ts'
import { assertLeft, countInHour, type HourLimit } from '#signals/redis/per-hour.ts'
import { refusalOfHeaders } from '#signals/send/headers.ts'
import { readOwnEndpoint, readOwnEndpoints } from '#signals/subscribers/endpoints.ts'
import { assertEnabled, REMOVE, ROTATE, removeEndpoint, SET, TEST } from '../../service/endpoint-actions.ts'
import type { Warning } from '../../service/page/page-route.ts'
import type { ServedParts } from '../exchange.ts'
import { type Caller, keyedRoute } from '../keyed-route.ts'
import { died } from './client.ts'

const ENDPOINTS = '/v1/endpoints'
const ENDPOINT = '/v1/endpoints/{endpoint}'

/** Each is an alert for the operator. */
export const CHANGES: HourLimit = { most: 60, what: 'endpoints can be changed', keyOf: hourKeyOf('changes') }

/** Each is a signal with a number, which stays in the log. */
export const TESTS: HourLimit = { most: 30, what: 'a test can be fired', keyOf: hourKeyOf('tests') }

export const ENDPOINT_ROUTES = [
  keyedRoute({
    id: 'endpoints',
    group: 'key',
    path: ENDPOINTS,
    title: 'The endpoints',
    about: 'Every endpoint that is set, `default` first, without secrets, paths and values of headers.',
    data: z.array(endpointState),
    handler: async (_, { registering }, { client }) => ({
      data: await readOwnEndpoints(registering, client.id),
    }),
  }),
  keyedRoute({
    ...SET,
    id: 'put_endpoint',
    group: 'key',
    path: ENDPOINT,
    about: `${SET.about} As \`PUT /v1/webhook\`, which sets \`default\`. Five registrations an hour are for all endpoints together.`,
    body: endpointRequest,
    data: registeredEndpoint,
    refusals: ['rate_limited', 'conflict'],
    example: { path: `${ENDPOINTS}/backup`, body: { url: 'https://backup.example.org/signals' } },
    needs: (_, { redis }, { client }) => assertLeft(redis, REGISTRATIONS, client.id),
    handler: async ({ endpoint, ...request }, parts, caller) => {
      assertHeaders(request.headers ?? {})
      const destination = destinationOf(caller.client.id, endpoint)
      const registered = registerWebhook(parts.registering, destination, request, caller.by)
      const { made, dropsSecrets } = await registered.catch(died)
      const state = await findEndpoint({ endpoint }, parts, caller)
      return { data: { ...state, secret: made, secrets_dropped: dropsSecrets } }
    },
  }),
  keyedRoute({
    id: 'patch_endpoint',
    group: 'key',
    method: 'PATCH',
    path: ENDPOINT,
    title: 'Change the settings of an endpoint',
    about:
      'What is left out stays as it is. A paused endpoint is sent what it is owed when it goes on; an expired entry stays in the pull, ' +
      'and a `flat` never expires. `headers` replaces all, and needs the key that set the endpoint.',
    body: endpointChange,
    data: endpointState,
    refusals: ['conflict', 'rate_limited'],
    example: { path: `${ENDPOINTS}/default`, body: { filter: ['alder'], expire_entries_after_s: 300 } },
    form: {
      offers: [
        { at: 'settings of an endpoint', button: 'Save', inputs: ['filter', 'expire_entries_after_s'] },
        { at: 'settings of an endpoint', button: 'Set headers…', inputs: ['headers'] },
        { at: 'endpoint', button: 'Pause…', tone: 'quiet', when: { paused: false } },
        { at: 'endpoint', button: 'Go on', when: { paused: true } },
      ],
      warn: warnOfChange,
      done: 'The settings of the endpoint are changed.',
    },
    handler: async ({ endpoint, ...change }, parts, caller) => {
      const { paused: isPaused, filter, headers, expire_entries_after_s: expireAfterS } = change
      assertFilter(filter ?? [], caller.client.aliases)
      assertHeaders(headers ?? {})
      const { redis, box, onChange } = parts.registering
      await countInHour(redis, CHANGES, caller.client.id)
      const destination = destinationOf(caller.client.id, endpoint)
      await setSettings(redis, box, destination, { filter, expireAfterS, isPaused, headers }, caller.by)
      onChange({ destination, change: 'changed', by: caller.by })
      return { data: await findEndpoint({ endpoint }, parts, caller) }
    },
  }),
  keyedRoute({
    ...REMOVE,
    id: 'delete_endpoint',
    group: 'key',
    path: ENDPOINT,
    data: z.null(),
    example: { path: `${ENDPOINTS}/backup` },
    needs: findEndpoint,
    handler: ({ endpoint }, { registering }, { client, by }) =>
      removeEndpoint(registering, destinationOf(client.id, endpoint), by),
  }),
  keyedRoute({
    ...ROTATE,
    id: 'rotate_endpoint',
    group: 'key',
    path: `${ENDPOINT}/rotate`,
    about: `${ROTATE.about} It needs the key that set the endpoint.`,
    body: rotationRequest,
    data: rotatedEndpoint,
    refusals: ['conflict', 'rate_limited'],
    example: { path: `${ENDPOINTS}/default/rotate`, body: { overlap_hours: 24 } },
    handler: async ({ endpoint, overlap_hours: hours }, parts, caller) => {
      await countInHour(parts.redis, CHANGES, caller.client.id)
      const destination = destinationOf(caller.client.id, endpoint)
      const secret = await rotateWebhookSecret(parts.registering, destination, hours, caller.by)
      return { data: { ...(await findEndpoint({ endpoint }, parts, caller)), secret } }
    },
  }),
  keyedRoute({
    ...TEST,
    id: 'test_endpoint',
    group: 'key',
    path: `${ENDPOINT}/test`,
    data: testFired,
    refusals: ['conflict', 'rate_limited'],
    form: { ...TEST.form, next: ({ seq }) => `/account/deliveries/${seq}` },
    needs: findEndpoint,
    handler: async ({ endpoint }, parts, caller) => {
      if ((await findEnabled({ endpoint }, parts, caller)).paused)
        throw new ApiError('conflict', `'${endpoint}' is paused, so a test would wait: let it go on first`)
      await countInHour(parts.redis, TESTS, caller.client.id)
      return { data: { seq: await fireTest(parts.registering, destinationOf(caller.client.id, endpoint)) } }
    },
  }),
]

type Change = { readonly endpoint: string } & z.output<typeof endpointChange>

function warnOfChange({ endpoint, paused, headers }: Change): Warning | null {
  const waits = 'Its signals wait, and are sent when it goes on; entries that have expired by then are not.'
  if (paused === true) return [`Pause the endpoint ${endpoint}?`, waits, 'Pause']
  if (headers === undefined) return null
  assertHeaders(headers)
  const replaced = 'These replace all headers of your own on its deliveries; without any they are removed.'
  return [`Replace the headers of the endpoint ${endpoint}?`, replaced, 'Replace the headers']
}

/** An endpoint of the caller. Throws `not_found`, with one sentence for every name that it has not. */
export async function findEndpoint(
  { endpoint }: { readonly endpoint: string },
  { registering }: ServedParts,
  { client }: Pick<Caller, 'client'>,
) {
  const found = await readOwnEndpoint(registering, client.id, endpoint)
  if (found !== null) return found
  const message = `there is no such endpoint: GET ${ENDPOINTS} lists yours, and PUT ${ENDPOINTS}/NAME sets one`
  throw new ApiError('not_found', message)
}

/** The same, to which something is to be sent. Throws `not_found`, and `conflict` if nothing is. */
export async function findEnabled(...asked: Parameters<typeof findEndpoint>) {
  const state = await findEndpoint(...asked)
  const fix = `set it again first, with PUT ${ENDPOINTS}/${state.endpoint}`
  assertEnabled(state, `the endpoint '${state.endpoint}'`, fix)
  return state
}

function assertFilter(filter: readonly string[], aliases: readonly string[]): void {
  const unknown = filter.find(alias => !aliases.includes(alias))
  if (unknown === undefined) return
  const reason = `expected strategies that you are entitled to, as /v1/whoami lists them${didYouMean(unknown, aliases)}`
  throw invalidParameter('filter', unknown, reason)
}

function assertHeaders(headers: Readonly<Record<string, string>>): void {
  const refusal = refusalOfHeaders(headers)
  if (refusal !== null) throw invalidParameter('headers', '(not repeated)', refusal)
}
