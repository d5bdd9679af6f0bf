import type { Redis } from 'ioredis'
import { askRedis } from '../redis/connect.ts'
import { WEBHOOK_PREFIX, webhookKey } from '../redis/keys.ts'
import type { SecretBox } from './secret-box.ts'

/** Keys that are looked through at once. */
const BLOCK = 500

/** The fields of a webhook that are sealed. */
const SEALED = ['url', 'secrets'] as const

/** Somebody who rotates a secret at this moment is done before the second try. */
const MOST_TRIES = 10

export type Rekeyed = { readonly sealed: number; readonly untouched: number }

/**
 * Seals every webhook under the newest key of the ring; afterwards the older keys may go. Broken off anywhere it can be run
 * again: what is sealed by the newest is passed over. Throws SealError where the ring lacks the key of one.
 */
export async function rekeyWebhooks(redis: Redis, box: SecretBox): Promise<Rekeyed> {
  let sealed = 0
  let untouched = 0
  let cursor = '0'
  const done = new Set<string>() // a scan may name a key twice
  do {
    const [next, keys] = await askRedis(() =>
      redis.scan(cursor, 'MATCH', `${WEBHOOK_PREFIX}*`, 'COUNT', BLOCK),
    )
    cursor = next
    for (const client of keys.map(key => key.slice(WEBHOOK_PREFIX.length))) {
      if (done.has(client)) continue
      done.add(client)
      if (await rekeyOne(redis, box, client)) sealed++
      else untouched++
    }
  } while (cursor !== '0')
  return { sealed, untouched }
}

async function rekeyOne(redis: Redis, box: SecretBox, client: string): Promise<boolean> {
  for (let i = 0; i < MOST_TRIES; i++) {
    const was = await askRedis(() => redis.hmget(webhookKey(client), ...SEALED))
    const texts = was.filter(text => text !== null)
    if (texts.length < SEALED.length || texts.every(text => box.isSealedByNewest(text))) return false
    const renewed = SEALED.map((field, k) => {
      const context = { client, field }
      return box.seal(box.open(texts[k]!, context), context) // as many texts as fields
    })
    const reply = await askRedis(() => redis.eval(RESEAL_SCRIPT, 1, webhookKey(client), ...texts, ...renewed))
    if (reply === 1) return true
  }
  throw new Error(`the webhook of '${client}' is being changed all the time: run the command again`)
}

/** Writes only over what was read: a secret that was rotated meanwhile must not come back. */
const RESEAL_SCRIPT = `
local url, secrets = unpack(redis.call('HMGET', KEYS[1], 'url', 'secrets'))
if url ~= ARGV[1] or secrets ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'url', ARGV[3], 'secrets', ARGV[4])
return 1
`
