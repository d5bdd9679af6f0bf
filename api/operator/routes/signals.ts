// The state of the service, signals and their deliveries.
import { z } from 'zod'
import { deliveryAccount } from '#core/contract/delivery-account.ts'
import { ApiError } from '#core/contract/errors.ts'
import { fireRequest, parseFireRequest } from '#core/contract/fire-request.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { type Signal, type SignalContent, signal } from '#core/contract/signal.ts'
import type { ValueOf } from '#core/contract/value-of.ts'
import { accountFor } from '#signals/delivery/account-for.ts'
import { readAttempts, readDelivery, readOutbox } from '#signals/delivery/outbox.ts'
import { assertClock, ClockError } from '#signals/live/run-bar.ts'
import { commit, SignalConflictError } from '#signals/log/commit.ts'
import { type LoggedSignal, readSignal } from '#signals/log/read-log.ts'
import { RedisDownError, WritesRefusedError } from '#signals/redis/connect.ts'
import { type Overview, readOverview } from '#signals/views/overview.ts'
import { recentDeliveries, recentSignals, rowsOf } from '#signals/views/recent.ts'
import { type Answer, type Exchange, readJson } from '../exchange.ts'
import { operatorRoute } from '../operator-route.ts'
import type { OperatorParts } from '../parts.ts'
import {
  count,
  DELIVERY_STATUSES,
  delivery,
  halted,
  instant,
  instantOf,
  liveStatus,
  seq,
  toDelivery,
  toLive,
} from '../views.ts'

/** Rows per answer. */
const MOST_ROWS = 500
const USUAL_ROWS = 50

/** The number of a signal in a query or a path. */
export const seqText = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER)

const limit = z.coerce.number().int().min(1).max(MOST_ROWS).default(USUAL_ROWS)

export const signalsQuery = z.strictObject({
  before: seqText.optional().describe('the number of a signal, from 1: only older ones are listed'),
  limit: limit.describe(`a number from 1 to ${MOST_ROWS}`),
})

const deliveriesQuery = z.strictObject({
  client: z.string().regex(ID_PATTERN).optional().describe('the id of a client'),
  status: z
    .enum(DELIVERY_STATUSES)
    .optional()
    .describe(`one of ${DELIVERY_STATUSES.join(', ')}`),
  before: seqText.optional().describe('the number of a signal, from 1: only older ones are listed'),
  limit: limit.describe(`a number from 1 to ${MOST_ROWS}`),
})

const accountQuery = z.strictObject({
  from: seqText.optional().describe('the number of the first signal, from 1'),
  to: seqText.optional().describe('the number of the last signal'),
})

const logged = z.object({
  seq,
  fired_at: instant.describe('When it was written into the log.'),
  only_for: z.string().nullable().describe('The client of a test fire, else null.'),
  signal: signal.describe('What was written.'),
})

const signalSummary = logged
  .extend({
    deliveries: z
      .object({
        owed: count.describe('Still to come.'),
        delivered: count.describe('Acknowledged.'),
        exhausted: count.describe('All attempts failed.'),
        withdrawn: count.describe('Withdrawn.'),
      })
      .describe('Number of deliveries in each state.'),
  })
  .meta({ id: 'SignalSummary' })

const signalDetails = logged
  .extend({ deliveries: z.array(delivery).describe('One for each client that is owed it.') })
  .meta({ id: 'SignalDetails' })

const attempt = z
  .object({
    at: instant.describe('When it began.'),
    n: count.nullable().describe('Which try it was, from 1; null for a probe, which does not count.'),
    ok: z.boolean().describe('Whether it was acknowledged with 2xx.'),
    status: z.int().nullable().describe('HTTP status, null if no answer came.'),
    reason: z.string().nullable().describe('What went wrong, in a word; null if nothing did.'),
    first_byte_ms: z.number().nullable().describe('Until the answer began, milliseconds; null if none came.'),
    total_ms: z.number().describe('Until it was over, milliseconds.'),
    excerpt: z.string().describe('Beginning of the answer of the receiver, redacted.'),
  })
  .meta({ id: 'Attempt' })

const deliveryDetails = z
  .object({
    delivery: delivery.describe('Its state.'),
    attempts: z.array(attempt).describe('Oldest first.'),
  })
  .meta({ id: 'DeliveryDetails' })

const firedSignal = z
  .object({
    seq,
    signal_id: z.string().describe('Its id, as it was sent.'),
    repeated: z
      .boolean()
      .describe('True if it was fired before under the same id: then nothing was written.'),
    implied_leverage: signal.shape.implied_leverage,
  })
  .meta({ id: 'FiredSignal' })

const serviceStatus = z
  .object({
    seq: count.describe('Number of the newest signal.'),
    epoch: z.string().describe('Names this history of the log.'),
    redis: z
      .object({
        version: z.string().describe('Its version.'),
        used_bytes: count.describe('Memory that it takes.'),
        limit_bytes: count.describe('0 where it has no limit.'),
        writing: z.boolean().describe('False where it cannot write.'),
        problems: z.array(z.string()).describe('Settings under which it could lose an acknowledged signal.'),
      })
      .describe('What holds the log.'),
    relay: z
      .object({
        lag: z.int().describe('Signals that wait for the relay.'),
        running: z.boolean().describe('Whether a process holds it.'),
      })
      .describe('What takes each signal from the log to the clients.'),
    queue: z
      .object({
        fast: count.describe('To receivers that answer quickly.'),
        slow: count.describe('To receivers that are slow or fail.'),
      })
      .describe('Calls that wait in each lane.'),
    clients: z
      .object({ total: count.describe('All.'), active: count.describe('Those that are switched on.') })
      .describe('How many clients there are.'),
    webhooks: z
      .object({
        enabled: count.describe('Those that are sent to.'),
        disabled: count.describe('Those that are not.'),
        failing: count.describe('Those to which no delivery succeeds at present.'),
        owed: count.describe('Deliveries to come, over all of them.'),
      })
      .describe('How the webhooks stand.'),
    halted,
    live: z.array(liveStatus).describe('The strategies that have ever run live.'),
  })
  .meta({ id: 'ServiceStatus' })

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
    id: 'signals',
    path: '/ops/signals',
    title: 'The newest signals, with the states of their deliveries',
    about: 'Newest first. `meta.next` is what to give as `before` for older ones; null if there are none.',
    query: signalsQuery,
    data: z.array(signalSummary),
    example: { path: '/ops/signals?limit=2' },
    command: { usage: 'signals' },
    handler: async (c, { redis }) => {
      const { rows, next } = await recentSignals(redis, parseRequest(signalsQuery, c.req.query()))
      const data = rows.map(({ signal, counts }) => ({ ...describe(signal), deliveries: counts }))
      return { data, meta: { next } }
    },
  }),
  operatorRoute({
    id: 'fire',
    method: 'POST',
    path: '/ops/signals',
    title: 'Fire a signal: 201 if it is new, 200 if the same id was fired before',
    about:
      'Answers once the signal is on disk; it goes to every client that is entitled to its alias. The ' +
      'same `signal_id` with the same content gets its first number again, so a fire whose answer was ' +
      'lost can be repeated; with other content it is a `conflict`. So is an entry of a halted strategy; ' +
      'a `flat` is fired nevertheless.',
    body: fireRequest,
    data: firedSignal,
    statuses: [201, 200],
    refusals: ['conflict'],
    example: {
      path: '/ops/signals',
      body: {
        signal_id: 'alder-20261121-1',
        alias: 'alder',
        action: 'long',
        signal_price: 50_000,
        stop: 49_000,
        base_risk_pct: 0.02,
        timestamp: '2026-11-21T00:00:00Z',
      },
    },
    command: { usage: 'fire <file>' },
    handler: async (c, parts) => {
      const content = parseFireRequest(await readJson(c), parts.aliases(), parts.clock.now())
      try {
        return await fireOnce(content, parts)
      } catch (error) {
        throw await toRefusal(error, parts)
      }
    },
  }),
  operatorRoute({
    id: 'signal',
    path: '/ops/signals/{seq}',
    title: 'A signal and its deliveries',
    about: 'What was written and when, and the state of its delivery to each client that is owed it.',
    data: signalDetails,
    refusals: ['validation_error'],
    example: { path: '/ops/signals/3' },
    command: { usage: 'signal <seq>' },
    handler: async (c, { redis }) => {
      const found = await signalOf(c, redis)
      const deliveries = rowsOf(found, await readOutbox(redis, found.seq)).map(toDelivery)
      return { data: { ...describe(found), deliveries } }
    },
  }),
  operatorRoute({
    id: 'delivery',
    path: '/ops/signals/{seq}/{client}',
    title: 'A delivery and its attempts',
    about:
      'The state of the delivery of one signal to one client, and what the receiver answered to each ' +
      'attempt.',
    data: deliveryDetails,
    refusals: ['validation_error'],
    example: { path: '/ops/signals/2/quiet-harbour' },
    command: { usage: 'signal <seq> <client>' },
    handler: async (c, { redis }) => {
      const { seq, alias, atMs: firedAtMs } = await signalOf(c, redis)
      const client = c.req.param('client') ?? ''
      const state = await readDelivery(redis, seq, client)
      if (state === null)
        throw new ApiError('not_found', `signal ${seq} was never owed to the client '${client.slice(0, 64)}'`)
      const attempts = await readAttempts(redis, seq, client)
      return {
        data: {
          delivery: toDelivery({ seq, client, alias, firedAtMs, state }),
          attempts: attempts.map(({ at, ...rest }) => ({ at: instantOf(at), ...rest })),
        },
      }
    },
  }),
  operatorRoute({
    id: 'deliveries',
    path: '/ops/deliveries',
    title: 'The newest deliveries',
    about:
      'Newest first, of all clients or of one, in all states or in one. A search for rare deliveries ends ' +
      'after some thousand signals: `meta.next`, given as `before`, continues it.',
    query: deliveriesQuery,
    data: z.array(delivery),
    example: { path: '/ops/deliveries?status=exhausted' },
    command: { usage: 'deliveries' },
    handler: async (c, { redis }) => {
      const { rows, next } = await recentDeliveries(redis, parseRequest(deliveriesQuery, c.req.query()))
      return { data: rows.map(toDelivery), meta: { next } }
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
    command: { usage: 'account <client>' },
    handler: async (c, { redis }) => {
      const { from = null, to = null } = parseRequest(accountQuery, c.req.query())
      return { data: await accountFor(redis, c.req.param('client') ?? '', from, to) }
    },
  }),
]

/** The signal named in the path. Throws `not_found`, `validation_error`. */
export async function signalOf(c: Exchange, redis: OperatorParts['redis']): Promise<LoggedSignal> {
  const { seq } = parseRequest(seqInPath, { seq: c.req.param('seq') ?? '' })
  const found = await readSignal(redis, seq)
  if (found === null) throw new ApiError('not_found', `there is no signal ${seq}`)
  return found
}

const seqInPath = z.strictObject({ seq: seqText.describe('the number of a signal, from 1') })

const describe = ({ seq, body, onlyFor, atMs }: LoggedSignal): ValueOf<typeof logged> => ({
  seq,
  fired_at: instantOf(atMs),
  only_for: onlyFor,
  signal: JSON.parse(body) as Signal, // the log holds what was written as JSON
})

const toStatus = ({ redis, webhooks, queue, clients, ...rest }: Overview): ValueOf<typeof serviceStatus> => ({
  seq: rest.seq,
  epoch: rest.epoch,
  redis: {
    version: redis.version,
    used_bytes: redis.usedBytes,
    limit_bytes: redis.limitBytes,
    writing: redis.isWriting && !redis.isReplica,
    problems: redis.problems,
  },
  relay: { lag: rest.relayLag, running: rest.isRelayed },
  queue,
  clients,
  webhooks: {
    enabled: webhooks.filter(({ enabled }) => enabled).length,
    disabled: webhooks.filter(({ enabled }) => !enabled).length,
    failing: webhooks.filter(({ condition }) => condition.health.failingSinceMs !== null).length,
    owed: webhooks.reduce((sum, { owed }) => sum + owed, 0),
  },
  halted: rest.halted,
  live: rest.live.map(toLive),
})

async function fireOnce(
  content: SignalContent,
  parts: OperatorParts,
): Promise<Answer<ValueOf<typeof firedSignal>>> {
  const { redis, clock, onFired } = parts
  await assertClock(redis, clock.now)
  const startedMs = clock.elapsed()
  const outcome = await commit(redis, [{ content, onlyFor: null }], clock.now())
  if (outcome.kind === 'halted') throw haltedError(outcome.alias)
  onFired?.(clock.elapsed() - startedMs)
  const [fired] = outcome.kind === 'committed' ? outcome.signals : []
  if (fired === undefined) throw new Error('a fire without a cursor was turned away by one')
  const { seq, isRepeat } = fired
  return {
    status: isRepeat ? 200 : 201,
    data: {
      seq,
      signal_id: content.signal_id,
      repeated: isRepeat,
      implied_leverage: content.implied_leverage,
    },
  }
}

/** A halt stops entries from every source; a `flat` reduces risk, and a repeated fire is answered again. */
const haltedError = (alias: string): ApiError =>
  new ApiError('conflict', `${alias} is halted: entries are not fired until \`highwater ops live resume\``)

/** Only a fire can be repeated after a lost reply: the id makes it safe. */
async function toRefusal(error: unknown, { diskUsed }: OperatorParts): Promise<unknown> {
  if (error instanceof SignalConflictError) return new ApiError('conflict', error.message)
  if (error instanceof ClockError) return new ApiError('unavailable', error.message)
  if (error instanceof WritesRefusedError)
    return new ApiError('unavailable', `${error.message}; nothing was fired`)
  if (error instanceof RedisDownError)
    return new ApiError('unavailable', `${whyDown((await diskUsed?.()) ?? 0)}${OUTCOME_UNKNOWN}`)
  return error
}

const OUTCOME_UNKNOWN = 'outcome unknown: send the same signal_id again'

/** A Redis that cannot write ends and removes what was half written, so its disk is slightly below full. */
const FULL_FROM = 0.98

const whyDown = (diskUsed: number): string =>
  diskUsed < FULL_FROM
    ? ''
    : 'Redis is away, and its disk is full: make room, and start it again where it does not come back; '
