import type { Redis } from 'ioredis'
import { tolerate } from '#storage/tolerate.ts'
import { readGuardedHead } from '../log/guard.ts'
import { askRedis } from '../redis/connect.ts'
import { apiKeyKey } from '../redis/keys.ts'
import { noteUse, USE_NOTED_MS } from './api-keys.ts'
import type { Identity } from './client.ts'
import { getClient } from './clients.ts'
import { matchesDigest, parseToken } from './token.ts'

/**
 * The owner of a token, or null if it is malformed, unknown or revoked. Nothing is cached, so changes apply from the
 * next request on. Throws RedisDownError, or LogGoneError for an unknown token in a Redis that has lost its log,
 * because the keys went with it.
 */
export async function authenticate(redis: Redis, token: string, nowMs: number): Promise<Identity | null> {
  const keyId = parseToken(token)?.id
  if (keyId === undefined) return null
  const key = await readKey(redis, keyId)
  const isRight = matchesDigest(token, key?.sha256 ?? null) // also without a digest: an unknown id must take as long
  const client = key !== null && isRight ? await getClient(redis, key.client) : null
  if (key === null || client === null) {
    await readGuardedHead(redis) // after every failure, so that an unknown id takes as long as a wrong secret
    return null
  }
  if (nowMs - key.lastUsedMs >= USE_NOTED_MS)
    await tolerate(noteUse(redis, keyId, nowMs), 'the next use is noted')
  return { client, keyId }
}

type StoredKey = { readonly client: string; readonly sha256: string; readonly lastUsedMs: number }

async function readKey(redis: Redis, id: string): Promise<StoredKey | null> {
  const fields = await askRedis(() => redis.hmget(apiKeyKey(id), 'client', 'sha256', 'last_used_at'))
  const [client, sha256, lastUsed] = fields
  if (typeof client !== 'string' || typeof sha256 !== 'string') return null
  return { client, sha256, lastUsedMs: lastUsed == null ? Number.NEGATIVE_INFINITY : Number(lastUsed) }
}
