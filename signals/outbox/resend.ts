// What was sent to a client: sent again, and accounted for.
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { DeliveryAccount, RESENT } from '#core/contract/endpoint.ts'
import { ApiError } from '#core/contract/errors.ts'
import { type Client, findClient } from '../clients/clients.ts'
import {
  BLOCK_SIGNALS,
  newestVisible,
  readBefore,
  readVisible,
  signalIdOf,
  type Viewer,
  viewOf,
} from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAY_CURSOR, webhookKey } from '../redis/keys.ts'
import { clientOf, DEFAULT_ENDPOINT, type Destination, destinationOf } from './destination.ts'
import { type Debts, type DeliveryState, oweAgain, readDeliveries } from './outbox.ts'
import { endpointView } from './relay.ts'
import { endpointsOf, filterOf, removedEndpointsOf } from './webhooks.ts'

/** Which signals are sent again: from a number to another one, or to the newest, as far as `only` has their state. */
export type ResendRange = {
  readonly from: number
  readonly to?: number | undefined
  readonly only?: keyof typeof RESENT
  /** Epoch milliseconds: signals that were fired before are left out. */
  readonly firedFromMs?: number | undefined
}

/** Deliveries of one resend by a client to one endpoint. */
export const MOST_RESENT = 10_000

/**
 * Owes destinations again every signal of a range that they may be sent now, whatever its state unless `only` says so; or counts them
 * alone. An attempt under way does not count for the new round: the signal is sent once more after it. Signals that the relay has not
 * passed are left to it. Resolves with how many signals match, and how many deliveries follow. Throws `not_found`, and
 * `validation_error` if one destination would be sent more than `most`: then none is.
 */
export async function resend(
  { redis, now }: { readonly redis: Redis; readonly now: () => number },
  destinations: readonly Destination[],
  range: ResendRange,
  { isDryRun = false, most = Number.POSITIVE_INFINITY } = {},
) {
  const matching = new Set<number>()
  /** Block by block: a range may be the whole log. */
  const each = async (use: (debts: Debts, count: number) => unknown): Promise<number> => {
    let total = 0
    for (const destination of destinations) {
      let count = 0
      for await (const signals of debtsOf(redis, destination, range)) {
        for (const { seq } of signals) matching.add(seq)
        count += signals.length
        await use({ destination, signals }, count)
      }
      total += count
    }
    return total
  }
  const assertFew = (_: Debts, count: number): void => {
    if (count > most) throw tooMany(range.from, most)
  }
  if (isDryRun || most < Number.POSITIVE_INFINITY) await each(assertFew)
  if (isDryRun) return { signals: matching.size, owed_again: 0 }
  const owedAgain = await each(({ destination, signals }) =>
    oweAgain(redis, destination, signals, now(), true),
  )
  return { signals: matching.size, owed_again: owedAgain }
}

function tooMany(from: number, most: number): ApiError {
  const reason = `more than ${most} signals match: give \`to\`, or a later \`from\` or \`fired_from\``
  const details = [{ param: 'from', value: String(from), reason }]
  return new ApiError('validation_error', reason, { details })
}

/** The signals of a range in blocks, each with the number of the one before it that the destination is sent. Throws `not_found`. */
async function* debtsOf(
  redis: Redis,
  destination: Destination,
  { from, to, only = 'all', firedFromMs = 0 }: ResendRange,
): AsyncGenerator<Debts['signals'], void> {
  const viewer = await endpointViewer(redis, await findClient(redis, clientOf(destination)), destination)
  const relayed = Number((await askRedis(() => redis.get(RELAY_CURSOR))) ?? 0)
  const until = Math.min(to ?? relayed, relayed)
  let prev = await visibleBefore(redis, viewer, from)
  for await (const block of readVisible(redis, viewer, from - 1, until)) {
    const before = [prev, ...block.map(({ seq }) => seq)]
    const all = block.map(({ seq, atMs }, i) => ({ seq, prev: before[i]!, atMs }))
    prev = before.at(-1)!
    const states = only === 'all' ? [] : await readDeliveries(redis, all, [destination])
    yield all.filter(({ atMs }, i) => atMs >= firedFromMs && isResent(only, states[i]?.[0] ?? null))
  }
}

const isResent = (only: keyof typeof RESENT, state: DeliveryState | null): boolean =>
  only === 'all' ||
  state?.status === 'exhausted' ||
  (only === 'failed' && state?.status === 'withdrawn' && state.disabled === true)

/** What a client sees, or what one of its endpoints that are set is to be sent now. Throws `not_found`. */
export async function viewerOf(redis: Redis, client: Client, endpoint: string | null): Promise<Viewer> {
  if (endpoint === null) return client
  const names = await endpointsOf(redis, client.id)
  if (names.includes(endpoint)) return endpointViewer(redis, client, destinationOf(client.id, endpoint))
  const message = `there is no endpoint of this name; those that are set: ${names.join(', ') || 'none'}`
  throw new ApiError('not_found', message)
}

async function endpointViewer(redis: Redis, client: Client, destination: Destination): Promise<Viewer> {
  const filter = await askRedis(() => redis.hget(webhookKey(destination), 'filter'))
  return endpointView(client, destination, filterOf({ filter: filter ?? '' }))
}

/** The number of the signal before `seq` that a viewer sees, 0 if none. */
async function visibleBefore(redis: Redis, viewer: Viewer, seq: number): Promise<number> {
  const isVisible = viewOf(viewer)
  for (let before = seq; ; ) {
    const block = await readBefore(redis, before, BLOCK_SIGNALS)
    const found = block.find(isVisible)
    if (found !== undefined) return found.seq
    if (block.length < BLOCK_SIGNALS) return 0
    before = block.at(-1)!.seq
  }
}

/** Numbers that one account may span. */
export const MOST_ACCOUNTED = 10_000

/**
 * Accounts for every signal of a client between two numbers, both included: null means the newest that the client may
 * see, and as many before it as one answer spans. With an endpoint, for what that one is to be sent. Throws `not_found`,
 * `validation_error`.
 */
export async function accountFor(
  redis: Redis,
  client: string,
  first: number | null,
  last: number | null,
  endpoint: string | null = null,
): Promise<DeliveryAccount> {
  const record = await findClient(redis, client)
  const viewer = await viewerOf(redis, record, endpoint)
  const to = last ?? Math.max(first ?? 1, await newestVisible(redis, viewer))
  const from = first ?? Math.max(1, to - MOST_ACCOUNTED + 1)
  assertRange(from, to)
  const { destinations, setCount } = await accountedAt(redis, client, endpoint)
  const hash = createHash('sha256')
  const seqs: Seqs = { delivered: [], missing: [], owed: [], exhausted: [], withdrawn: [], expired: [] }
  for await (const block of readVisible(redis, viewer, from - 1, to)) {
    const read = await readDeliveries(redis, block, destinations)
    for (const [i, { seq, body }] of block.entries()) {
      hash.update(`${seq} ${signalIdOf(body)}\n`)
      const statuses = read[i]!.map(state => state?.status ?? 'missing') // as many as signals
      if (statuses.includes('delivered')) seqs.delivered.push(seq)
      else
        for (const status of new Set([...statuses.slice(0, setCount), 'missing'] as const))
          seqs[status].push(seq)
    }
  }
  const { delivered, ...others } = seqs
  const entitled = delivered.length + others.missing.length
  return { from, to, entitled, delivered: delivered.length, ...others, sha256: hash.digest('hex') }
}

type Seqs = Record<DeliveryState['status'] | 'missing', number[]>

/** Where is looked: first the endpoints that are set, and the webhook, then those that were removed, of which only what they acknowledged counts. */
async function accountedAt(redis: Redis, client: string, endpoint: string | null) {
  if (endpoint !== null) return { destinations: [destinationOf(client, endpoint)], setCount: 1 }
  const set = new Set([DEFAULT_ENDPOINT, ...(await endpointsOf(redis, client))])
  const all = new Set([...set, ...(await removedEndpointsOf(redis, client))])
  return { destinations: [...all].map(name => destinationOf(client, name)), setCount: set.size }
}

function assertRange(from: number, to: number): void {
  const isRange = Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 1 && to >= from
  if (isRange && to - from < MOST_ACCOUNTED) return
  const reason = `expected numbers from 1 on, at most ${MOST_ACCOUNTED} of them`
  throw new ApiError('validation_error', `from, to: ${reason}`, {
    details: [{ param: 'to', value: `${from} to ${to}`, reason }],
  })
}
