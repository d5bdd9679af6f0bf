// What became of a signal at each endpoint of a client, in sentences for the client.
import type { Redis } from 'ioredis'
import { instantOf } from '#core/calendar.ts'
import type { Client } from '../clients/clients.ts'
import { type LoggedSignal, readSignal, viewOf } from '../log/read-log.ts'
import { DEFAULT_ENDPOINT, type Destination, destinationOf, endpointOf } from '../outbox/destination.ts'
import { type DeliveryState, readAttempts, readDelivery } from '../outbox/outbox.ts'
import { endpointsOf } from '../outbox/webhooks.ts'
import { readWebhookStates } from '../views/overview.ts'
import { type ShownDelivery, showDelivery } from '../views/recent.ts'
import { isUnsent, whyNotSent } from '../views/why-not-sent.ts'

/**
 * A signal that the client may see, or was owed, with its state at each endpoint that is set, and at `default`; null if there is
 * no such signal, or it is another client's. Throws RedisDownError.
 */
export async function explainSignal(redis: Redis, client: Client, seq: number) {
  const [signal, names] = await Promise.all([readSignal(redis, seq), endpointsOf(redis, client.id)])
  if (signal === null) return null
  const destinations = [...new Set([DEFAULT_ENDPOINT, ...names])].map(name => destinationOf(client.id, name))
  const found = await Promise.all(
    destinations.map(async destination => ({
      ...{ client, destination },
      state: await readDelivery(redis, seq, destination),
    })),
  )
  if (!viewOf(client)(signal) && found.every(({ state }) => state === null)) return null
  const webhooks = await readWebhookStates(redis, [client.id])
  const unsent = found.filter(({ state, destination }) => isUnsent(state, webhooks.get(destination)))
  const whys = await whyNotSent(redis, signal, unsent)
  const { alias, atMs } = signal
  const endpoints = await Promise.all(
    found.map(async each => {
      const why = whys[unsent.indexOf(each)]
      return explain(redis, signal, each, why === undefined ? null : `not sent: ${why}`)
    }),
  )
  return { seq, alias, fired_at: instantOf(atMs), endpoints }
}

type Found = { readonly destination: Destination; readonly state: DeliveryState | null }

async function explain(
  redis: Redis,
  { seq, alias, atMs }: LoggedSignal,
  found: Found,
  notSent: string | null,
) {
  const { destination, state } = found
  const [attempts, shown] = await Promise.all([
    readAttempts(redis, seq, destination),
    state && showDelivery(redis, { seq, destination, alias, firedAtMs: atMs, state }),
  ])
  return {
    endpoint: endpointOf(destination),
    delivery: shown && toOwnDelivery(shown),
    why: notSent ?? (shown === null ? '' : sentenceOf(shown)),
    attempts: attempts.map(({ at, ...rest }) => ({ at: instantOf(at), ...rest })),
  }
}

/** A delivery as its client sees it. */
export const toOwnDelivery = ({ client: _, ...delivery }: ShownDelivery) => delivery

function sentenceOf({ status, attempts, settled_at, next_attempt_at }: ShownDelivery): string {
  const count = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  if (status === 'delivered') return `delivered at ${settled_at}, after ${count}`
  if (status === 'exhausted')
    return `given up at ${settled_at} after ${count}: it is sent again only if you resend it, with POST /v1/resend`
  return `waiting: ${attempts === 0 ? 'not tried yet' : `${count} failed`}, and none is made before ${next_attempt_at}`
}
