// What became of a signal at each endpoint of a client, in sentences for the client.
import type { Redis } from 'ioredis'
import { instantOf } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import type { Client } from '../clients/clients.ts'
import { readSignal, viewOf } from '../log/read-log.ts'
import { DEFAULT_ENDPOINT, destinationOf, endpointOf } from '../outbox/destination.ts'
import { readDeliveries } from '../outbox/outbox.ts'
import { endpointsOf } from '../outbox/webhooks.ts'
import type { ShownDelivery } from '../views/recent.ts'
import { explainDeliveries } from '../views/why-not-sent.ts'

/**
 * A signal that the client may see, or was owed, with its state at each endpoint that is set, and at `default`. Throws `not_found`
 * if there is no such signal, or it is another client's, and RedisDownError.
 */
export async function explainSignal(redis: Redis, client: Client, seq: number) {
  const [signal, names] = await Promise.all([readSignal(redis, seq), endpointsOf(redis, client.id)])
  const destinations = [...new Set([DEFAULT_ENDPOINT, ...names])].map(name => destinationOf(client.id, name))
  const wasOwed = async () => (await readDeliveries(redis, [{ seq }], destinations)).flat().some(Boolean)
  if (signal === null || !(viewOf(client)(signal) || (await wasOwed())))
    throw new ApiError(
      'not_found',
      'there is no such signal that you may see: GET /v1/signals/history lists those',
    )
  const found = await explainDeliveries(redis, signal, client, destinations)
  const endpoints = found.map(({ destination, delivery, why, attempts }) => ({
    endpoint: endpointOf(destination),
    delivery: delivery && toOwnDelivery(delivery),
    // What was never owed has a reason.
    why:
      why === null
        ? sentenceOf(delivery!)
        : `${delivery?.attempts ? 'not acknowledged' : 'not sent'}: ${why}`,
    attempts,
  }))
  return { seq, alias: signal.alias, fired_at: instantOf(signal.atMs), endpoints }
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
