// The endpoints of a client as it sees them itself.
import type { Redis } from 'ioredis'
import { instantOrNull } from '#core/calendar.ts'
import { type Destination, destinationOf, endpointOf } from '../outbox/destination.ts'
import { LANES } from '../outbox/outbox.ts'
import type { SecretBox } from '../outbox/secret-box.ts'
import { endpointsOf, readWebhook, shownOf, type Webhook } from '../outbox/webhooks.ts'
import { askAll } from '../redis/connect.ts'
import { READY_PREFIX, SCHEDULES, waitingKey } from '../redis/keys.ts'

type Parts = { readonly redis: Redis; readonly box: SecretBox; readonly now: () => number }

/** All endpoints of a client that are set, `default` first. Throws SealError, RedisDownError. */
export async function readOwnEndpoints(parts: Parts, client: string) {
  const names = await endpointsOf(parts.redis, client)
  const found = await Promise.all(names.map(name => readOwnEndpoint(parts, client, name)))
  return found.filter(each => each !== null)
}

/** One of them; null if it is not set. */
export async function readOwnEndpoint({ redis, box, now }: Parts, client: string, endpoint: string) {
  const webhook = await readWebhook(redis, box, destinationOf(client, endpoint))
  if (webhook === null) return null
  const { destination, enabled, isPaused: paused, filter, condition } = webhook
  const { owed, dueMs } = await readDebts(redis, destination)
  const isSent = enabled && !paused && owed > 0 && dueMs !== null
  return {
    endpoint: endpointOf(destination),
    ...ownStateOf(webhook),
    ...{ paused, filter, owed, failures: condition.health.attempts },
    header_names: Object.keys(webhook.headers),
    expire_entries_after_s: webhook.expireAfterS,
    settings_by: webhook.settingsBy[0] ?? null,
    last_success_at: instantOrNull(webhook.lastSuccessMs),
    // What is due has been so since a moment that says nothing: it is now.
    next_attempt_at: instantOrNull(isSent ? Math.max(dueMs, now()) : null),
  }
}

/** Without the path of the address, which may contain a token, and without secrets, only their expiry. */
export const ownStateOf = (webhook: Webhook) => ({
  host: new URL(webhook.url).host,
  ...shownOf(webhook),
  secrets: webhook.secrets.map(({ expiresAtMs }) => ({ expires_at: instantOrNull(expiresAtMs) })),
})

/** How many deliveries a destination is owed, and when it is due; null if it is not scheduled. */
async function readDebts(redis: Redis, destination: Destination) {
  const asked = redis.multi().zcard(`${READY_PREFIX}${destination}`).zcard(waitingKey(destination))
  for (const lane of LANES) asked.zscore(SCHEDULES[lane], destination)
  const [ready, waiting, ...scores] = await askAll(asked)
  const dueAt = scores.find(score => score !== null)
  return { owed: Number(ready) + Number(waiting), dueMs: dueAt === undefined ? null : Number(dueAt) }
}
