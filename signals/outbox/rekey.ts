// The sealed fields of all webhooks: whether SECRET_KEY opens them, and how they are sealed under its newest key.
import type { Redis } from 'ioredis'
import pMap from 'p-map'
import { scanKeys } from '../redis/connect.ts'
import { webhookKey } from '../redis/keys.ts'
import { tryAgain } from '../redis/script.ts'
import type { Destination } from './destination.ts'
import { SealError, type SecretBox } from './secret-box.ts'
import { changeWebhook, readOf, readWebhook, removeWebhook, SEALED, sealed } from './webhooks.ts'

const BLOCK = 500

/** The destinations that have a webhook. */
async function destinationsWithWebhook(redis: Redis): Promise<readonly string[]> {
  const found = new Set<string>() // a scan may name a key twice
  for await (const keys of scanKeys(redis, webhookKey(''), BLOCK)) for (const key of keys) found.add(key)
  return [...found].map(key => key.slice(webhookKey('').length))
}

/** Replies of Redis that are waited for together. */
const READS_AT_ONCE = 500

/** Why SECRET_KEY does not open what is stored, with a destination that it concerns; null if it opens all. */
export async function sealFault(redis: Redis, box: SecretBox): Promise<string | null> {
  const faultOf = async (destination: Destination): Promise<string | null> => {
    try {
      await readWebhook(redis, box, destination)
      return null
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      return `the webhook of '${destination}' cannot be read: ${error.message}`
    }
  }
  const faults = await pMap(await destinationsWithWebhook(redis), faultOf, { concurrency: READS_AT_ONCE })
  return faults.find(fault => fault !== null) ?? null
}

/** What to do if a key of the ring is lost. */
export const LOST_KEY =
  'if that key is lost, `highwater ops rekey --remove-unreadable` removes such webhooks, and their clients set them again'

/**
 * Seals every webhook under the newest key of the ring; afterwards older keys can be dropped. Idempotent. Throws
 * SealError if the ring lacks a key, unless webhooks that no key opens are removed.
 */
export async function rekeyWebhooks(redis: Redis, box: SecretBox, { removesUnreadable = false } = {}) {
  const count = { sealed: 0, untouched: 0, removed: 0 }
  for (const destination of await destinationsWithWebhook(redis))
    try {
      count[(await rekeyOne(redis, box, destination)) ? 'sealed' : 'untouched']++
    } catch (error) {
      if (!(removesUnreadable && error instanceof SealError)) throw error
      await removeWebhook(redis, destination)
      count.removed++
    }
  return count
}

const rekeyOne = (redis: Redis, box: SecretBox, destination: Destination): Promise<boolean> =>
  tryAgain(`the webhook of '${destination}'`, async () => {
    const webhook = await readWebhook(redis, box, destination) // opened in any case: another key may have the id of the newest one
    if (webhook === null) return false
    const { url, secrets, stored } = webhook
    const headers = stored.headers ? webhook.headers : undefined // an earlier release has none
    if (SEALED.every(field => !stored[field] || box.isSealedByNewest(stored[field]))) return false
    const fields = sealed(box, destination, { url, secrets, headers })
    return (await changeWebhook(redis, destination, fields, readOf(webhook))) === 'ok' || null
  })
