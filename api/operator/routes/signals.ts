// The state of the service, signals and their deliveries.
import { z } from 'zod'
import { deliveryAccount, endpointName } from '#core/contract/endpoint.ts'
import { ApiError } from '#core/contract/errors.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { flag, list, named, object, text, textOrNull, whole } from '#core/contract/payloads/field.ts'
import { signal } from '#core/contract/signal.ts'
import { findClient } from '#signals/clients/clients.ts'
import { type LoggedSignal, readSignal } from '#signals/log/read-log.ts'
import { destinationOf } from '#signals/outbox/destination.ts'
import { readOutbox } from '#signals/outbox/outbox.ts'
import { accountFor } from '#signals/outbox/resend.ts'
import { type Overview, readOverview, readSealState } from '#signals/views/overview.ts'
import { recentDeliveries, recentSignals, rowsOf, showDeliveries, showSignal } from '#signals/views/recent.ts'
import { explainDeliveries } from '#signals/views/why-not-sent.ts'
import {
  attempt,
  count,
  deliveryQuery,
  instant,
  pageQuery,
  seq,
  seqOf,
  seqText,
} from '../../service/deliveries.ts'
import type { OperatorParts } from '../exchange.ts'
import { operatorRoute } from '../operator-route.ts'
import { delivery, endpointQuery, halted, liveStatus } from '../views.ts'
import { FIRE_ROUTE } from './fire.ts'

export const signalsQuery = z.strictObject(pageQuery)

export const deliveriesQuery = z.strictObject({
  seq: seqText.optional().describe('the number of one signal, from 1'),
  client: z.string().regex(ID_PATTERN).optional().describe('the id of a client'),
  endpoint: endpointName.optional().describe('the name of an endpoint'),
  ...deliveryQuery,
})

const accountQuery = z.strictObject({
  from: seqText.optional().describe('the number of the first signal, from 1'),
  to: seqText.optional().describe('the number of the last signal'),
  endpoint: endpointName.optional().describe('the name of one endpoint; all if it is left out'),
})

const logged = z.object({
  seq,
  fired_at: instant.describe('When it was written into the log.'),
  only_for: textOrNull('The client of a test fire, or `acme/backup` for one of its endpoints; else null.'),
  signal: signal.describe('What was written.'),
})

const signalSummary = named('SignalSummary', {
  ...logged.shape,
  deliveries: object('Number of deliveries in each state.', {
    owed: count.describe('Still to come.'),
    delivered: count.describe('Acknowledged.'),
    exhausted: count.describe('All attempts failed.'),
    withdrawn: count.describe('Withdrawn.'),
    expired: count.describe('Entries that came too late.'),
  }),
})

const signalDetails = named('SignalDetails', {
  ...logged.shape,
  deliveries: list('One for each endpoint that is owed it.', delivery),
})

const deliveryDetails = named('DeliveryDetails', {
  delivery: delivery.describe('Its state.'),
  why: textOrNull('Why it was withdrawn, expired, or waits at a paused endpoint; null otherwise.'),
  attempts: list('Oldest first.', attempt),
})

const serviceStatus = named('ServiceStatus', {
  seq: count.describe('Number of the newest signal.'),
  epoch: text('Names this history of the log.'),
  redis: object('What holds the log.', {
    version: text('Its version.'),
    used_bytes: count.describe('Memory that it takes.'),
    limit_bytes: count.describe('0 where it has no limit.'),
    writing: flag('False where it cannot write.'),
    problems: list('Settings under which it could lose an acknowledged signal.', z.string()),
  }),
  relay: object('What takes each signal from the log to the clients.', {
    lag: whole('Signals that wait for the relay.'),
    running: flag('Whether a process holds it.'),
  }),
  queue: object('Calls that wait in each lane.', {
    fast: count.describe('To receivers that answer quickly.'),
    slow: count.describe('To receivers that are slow or fail.'),
  }),
  clients: object('How many clients there are.', {
    total: count.describe('All.'),
    active: count.describe('Those that are switched on.'),
  }),
  webhooks: object('How the webhooks stand.', {
    enabled: count.describe('Those that are sent to.'),
    disabled: count.describe('Those that are not.'),
    failing: count.describe('Those to which no delivery succeeds at present.'),
    owed: count.describe('Deliveries to come, over all of them.'),
  }),
  halted,
  live: list('The strategies that have run live, fired or are halted.', liveStatus),
})

const sealState = named('SealState', {
  n: count.describe('Number of the newest seal, 0 before the first.'),
  to: instant
    .nullable()
    .describe('Its end: what was acknowledged before it is sealed; null before the first.'),
  age_seconds: count
    .nullable()
    .describe('Since that end; more than 1800 raises an alert. Null before the first.'),
  refused: textOrNull('Why none is signed now, and what to do, or that sealing is off; null if they are.'),
  at: instant.describe('When the sealer found that.'),
})

export const SIGNAL_ROUTES = [
  operatorRoute({
    id: 'status',
    path: '/ops/status',
    title: 'State of the whole service',
    about:
      'The log and its Redis, the relay, the queues, clients, webhooks and live strategies: what ' +
      '`highwater ops status` prints.',
    data: serviceStatus,
    command: { usage: 'status' },
    handler: async (_, parts) => ({ data: toStatus(await readOverview(parts)) }),
  }),
  operatorRoute({
    id: 'seals',
    path: '/ops/seals',
    title: 'State of the seals',
    about: 'The newest seal of the live signals, and why none is signed if none is.',
    data: sealState,
    refusals: ['not_found'],
    command: { usage: 'seals' },
    handler: async (_, { redis, clock }) => {
      const state = await readSealState(redis, clock.now())
      if (state === null)
        throw new ApiError(
          'not_found',
          'nothing is sealed yet: the first seal is made within ten minutes of the start',
        )
      return { data: state }
    },
  }),
  operatorRoute({
    id: 'signals',
    path: '/ops/signals',
    title: 'The newest signals, with the states of their deliveries',
    about: 'Newest first. `meta.next` is what to give as `before` for older ones; null if there are none.',
    query: signalsQuery,
    data: z.array(signalSummary),
    example: { path: '/ops/signals?limit=2' },
    command: { usage: 'signals' },
    handler: async (asked, { redis }) => {
      const { rows, next } = await recentSignals(redis, asked)
      return { data: rows, meta: { next } }
    },
  }),
  FIRE_ROUTE,
  operatorRoute({
    id: 'signal',
    path: '/ops/signals/{seq}',
    title: 'A signal and its deliveries',
    about: 'What was written and when, and the state of its delivery to each client that is owed it.',
    data: signalDetails,
    refusals: ['validation_error'],
    example: { path: '/ops/signals/3' },
    command: { usage: 'signal <seq>' },
    handler: async ({ seq }, { redis }) => {
      const found = await findSignal(seq, redis)
      const deliveries = await showDeliveries(redis, rowsOf(found, await readOutbox(redis, found.seq)))
      return { data: { ...showSignal(found), deliveries } }
    },
  }),
  operatorRoute({
    id: 'delivery',
    path: '/ops/signals/{seq}/{client}',
    title: 'A delivery and its attempts',
    about:
      'The state of the delivery of one signal to an endpoint of a client, and what the receiver answered to each attempt. The refusal ' +
      'of a signal that the client was not sent says why.',
    query: endpointQuery,
    data: deliveryDetails,
    refusals: ['validation_error'],
    example: { path: '/ops/signals/2/quiet-harbour' },
    command: { usage: 'signal <seq> <client>' },
    handler: async (asked, { redis }) => {
      const { client, endpoint } = asked
      const destination = destinationOf(client, endpoint)
      const found = await findSignal(asked.seq, redis)
      const owner = await findClient(redis, client)
      const [explained] = await explainDeliveries(redis, found, owner, [destination])
      const { delivery, why, attempts } = explained!
      if (delivery === null)
        throw new ApiError('not_found', `signal ${found.seq} was not sent to '${destination}': ${why}`)
      return { data: { delivery, why, attempts } }
    },
  }),
  operatorRoute({
    id: 'deliveries',
    path: '/ops/deliveries',
    title: 'The newest deliveries',
    about:
      'Newest first, of all clients or of one, or of one of its endpoints, of one signal or strategy, in one state, of some time. A search for rare deliveries ends ' +
      'after some thousand signals: `meta.next`, given as `before`, continues it.',
    query: deliveriesQuery,
    data: z.array(delivery),
    example: { path: '/ops/deliveries?status=exhausted' },
    command: { usage: 'deliveries' },
    handler: async (asked, { redis }) => {
      const { rows, next } = await recentDeliveries(redis, asked)
      return { data: rows, meta: { next } }
    },
  }),
  operatorRoute({
    id: 'account',
    path: '/ops/clients/{client}/account',
    title: 'The state of every signal of a client, with a digest of them',
    about:
      'The account that the client reads at `/v1/signals/account`. It ends with the newest signal that ' +
      'the client sees unless `to` is given, and spans as many numbers as one answer may unless `from` ' +
      'is.',
    query: accountQuery,
    data: deliveryAccount,
    example: { path: '/ops/clients/north-ridge/account?from=2&to=5' },
    command: {
      usage: 'account <client>',
      prints: answer =>
        Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, shortened(value)])),
    },
    handler: async ({ client, from = null, to = null, endpoint }, { redis }) => ({
      data: await accountFor(redis, client, from, to, endpoint),
    }),
  }),
]

/** The signal of a number that stands in a path. Throws `not_found`, `validation_error`. */
export async function findSignal(text: string, redis: OperatorParts['redis']): Promise<LoggedSignal> {
  const seq = seqOf(text)
  const found = await readSignal(redis, seq)
  if (found === null) throw new ApiError('not_found', `there is no signal ${seq}`)
  return found
}

/** Of a list how many signals, and which: a number of one alone would be read as how many. */
function shortened(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.length === 0 ? '0' : `${value.length} (${value.map(seq => `#${seq}`).join(', ')})`
}

const toStatus = ({ redis, webhooks, relayLag: lag, isRelayed: running, ...others }: Overview) =>
  serviceStatus.parse({
    ...others,
    redis: { ...redis, writing: redis.isWriting && !redis.isReplica },
    relay: { lag, running },
    webhooks: {
      enabled: webhooks.filter(({ enabled }) => enabled).length,
      disabled: webhooks.filter(({ enabled }) => !enabled).length,
      failing: webhooks.filter(({ failing_since }) => failing_since !== null).length,
      owed: webhooks.reduce((sum, { owed }) => sum + owed, 0),
    },
  })
