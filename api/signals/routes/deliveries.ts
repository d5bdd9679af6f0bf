// What was sent to the endpoints of a client, why a signal was not, and what is sent again.
import { z } from 'zod'
import { endpointName, resent } from '#core/contract/endpoint.ts'
import { ApiError } from '#core/contract/errors.ts'
import { list, named, text } from '#core/contract/payloads/field.ts'
import { destinationOf } from '#signals/outbox/destination.ts'
import { MOST_RESENT, resend } from '#signals/outbox/resend.ts'
import { hourKeyOf } from '#signals/redis/keys.ts'
import { countInHour, type HourLimit } from '#signals/redis/per-hour.ts'
import { explainSignal, toOwnDelivery } from '#signals/subscribers/deliveries.ts'
import { readOwnEndpoints } from '#signals/subscribers/endpoints.ts'
import { recentDeliveries } from '#signals/views/recent.ts'
import {
  attempt,
  deliveryFields,
  deliveryQuery,
  instant,
  isRange,
  resendFields,
  seq,
  seqOf,
  seqText,
} from '../../service/deliveries.ts'
import { nameOf, RESEND as RESEND_ACTION, resendWarning } from '../../service/endpoint-actions.ts'
import type { Warning } from '../../service/page/page-route.ts'
import type { ServedParts } from '../exchange.ts'
import { type Caller, keyedRoute } from '../keyed-route.ts'
import { findEnabled, findEndpoint } from './endpoints.ts'

const DELIVERIES = '/v1/deliveries'
const RESEND = '/v1/resend'

/** Signals searched for one answer: deliveries of others wait for Redis meanwhile. */
export const MOST_SEARCHED = 400

/** Each makes many requests. */
export const RESENDS: HourLimit = { most: 30, what: 'signals can be resent', keyOf: hourKeyOf('resends') }

/** Each reads as much of the log as a resend. */
export const COUNTS: HourLimit = {
  most: 120,
  what: 'signals to resend can be counted',
  keyOf: hourKeyOf('resends', ':counted'),
}

const ownDelivery = named('OwnDelivery', { seq, endpoint: text('Its endpoint.'), ...deliveryFields })

export const ownDeliveriesQuery = z.strictObject({
  seq: seqText.optional().describe('the number of one signal, from 1'),
  endpoint: endpointName.optional().describe('the name of an endpoint'),
  ...deliveryQuery,
})

const signalDeliveries = named('SignalDeliveries', {
  seq,
  alias: text('The strategy.'),
  fired_at: instant.describe('When it was written into the log.'),
  endpoints: list(
    'Each endpoint that is set, and `default`.',
    z.object({
      endpoint: text('Name of the endpoint.'),
      why: text(
        'What became of it there, in one sentence: when it was delivered, what it waits for, or why it was not sent.',
      ),
      delivery: ownDelivery.nullable().describe('Its state; null if it was never to be sent there.'),
      attempts: list('Oldest first.', attempt),
    }),
  ),
})

const resendRequest = z
  .strictObject({
    endpoint: endpointName
      .optional()
      .describe('the name of an endpoint; all that are enabled if it is not given'),
    ...resendFields(z.int().min(1)),
    dry_run: z.boolean().default(false).describe('true or false: whether they are only counted'),
  })
  .refine(isRange, { path: ['to'] })
  .meta({ id: 'ResendRequest' })

type Resend = z.output<typeof resendRequest>

export const DELIVERY_ROUTES = [
  keyedRoute({
    id: 'deliveries',
    group: 'account',
    path: DELIVERIES,
    title: 'The newest deliveries',
    about:
      'Newest first, to all endpoints that are set or to one, of one signal or strategy, in one state, of some time. `links.next` leads to older ones; it is absent at the end. A search for rare deliveries ends after some hundred signals, perhaps with no row, and `links.next` continues it.',
    query: ownDeliveriesQuery,
    data: z.array(ownDelivery),
    refusals: ['not_found'],
    example: { path: `${DELIVERIES}?status=exhausted` },
    handler: async (asked, parts, { client }) => {
      const { endpoint } = asked
      if (endpoint !== undefined) await findEndpoint({ endpoint }, parts, { client })
      const filter = { ...asked, client: client.id, mostSearched: MOST_SEARCHED }
      const { rows, next } = await recentDeliveries(parts.redis, filter)
      return { data: rows.map(toOwnDelivery), meta: { next } }
    },
  }),
  keyedRoute({
    id: 'delivery',
    group: 'account',
    path: `${DELIVERIES}/{seq}`,
    title: 'What became of a signal',
    about:
      'For each endpoint the state of a signal, every attempt with the first kilobyte of its answer, and one sentence that says what became of it, or why it was not sent. A signal that the client may not see is answered as one that does not exist.',
    data: signalDeliveries,
    refusals: ['validation_error'],
    example: { path: `${DELIVERIES}/2` },
    handler: async ({ seq }, { redis }, { client }) => ({
      data: await explainSignal(redis, client, seqOf(seq)),
    }),
  }),
  keyedRoute({
    ...RESEND_ACTION,
    id: 'resend',
    group: 'account',
    path: RESEND,
    about: `${RESEND_ACTION.about} \`dry_run\` counts and sends nothing. At most 30 times an hour, counted 120 times, and 10 000 signals at a time.`,
    body: resendRequest,
    data: resent,
    refusals: ['not_found', 'conflict', 'rate_limited'],
    example: { path: RESEND, body: { from: 3, only: 'exhausted', dry_run: true } },
    form: { ...RESEND_ACTION.form, warn: warnOfResend },
    handler: async (asked, parts, caller) => ({ data: await resendAsked(asked, parts, caller) }),
  }),
]

async function resendAsked(asked: Resend, parts: ServedParts, caller: Caller) {
  const { endpoint, dry_run, fired_from: firedFromMs, ...range } = asked
  const names = await sentTo(endpoint, parts, caller)
  const destinations = names.map(name => destinationOf(caller.client.id, name))
  await countInHour(parts.redis, dry_run ? COUNTS : RESENDS, caller.client.id)
  const bounds = { isDryRun: dry_run, most: MOST_RESENT }
  return resend(parts.registering, destinations, { ...range, firedFromMs }, bounds)
}

/** The endpoints that signals are sent to again. Throws `not_found`, and `conflict` if nothing is sent there. */
async function sentTo(endpoint: string | undefined, parts: ServedParts, { client }: Caller) {
  if (endpoint !== undefined) return [(await findEnabled({ endpoint }, parts, { client })).endpoint]
  const enabled = (await readOwnEndpoints(parts.registering, client.id)).filter(each => each.enabled)
  if (enabled.length > 0) return enabled.map(each => each.endpoint)
  const message = 'no endpoint is enabled, so nothing is sent: set one first, with PUT /v1/endpoints/NAME'
  throw new ApiError('conflict', message)
}

async function warnOfResend(asked: Resend, parts: ServedParts, caller: Caller): Promise<Warning | null> {
  const { signals } = await resendAsked({ ...asked, dry_run: true }, parts, caller)
  const { endpoint, only } = asked
  return resendWarning(
    signals,
    endpoint === undefined ? 'every enabled endpoint' : nameOf({ endpoint }),
    only,
  )
}
