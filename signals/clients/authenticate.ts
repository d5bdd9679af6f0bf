import type { Redis } from 'ioredis'
import { tolerate } from '#storage/tolerate.ts'
import { assertHead, knownLog } from '../log/guard.ts'
import { apiKeyKey, CLIENT_PREFIX, EPOCH, HEAD } from '../redis/keys.ts'
import { TEXT_FUNCTION } from '../redis/record-text.ts'
import { runScript } from '../redis/script.ts'
import { noteUse, USE_NOTED_MS } from './api-keys.ts'
import { clientOfText, type Identity } from './client.ts'
import { matchesDigest, parseToken } from './token.ts'

/**
 * The owner of a token, or null if it is malformed, unknown or revoked, at the cost of one read. Nothing is cached, so
 * changes apply from the next request on. Throws RedisDownError, or LogGoneError for an unknown token in a Redis that
 * has lost its log, because the keys went with it.
 */
export async function authenticate(redis: Redis, token: string, nowMs: number): Promise<Identity | null> {
  const keyId = parseToken(token)?.id
  if (keyId === undefined) return null
  const log = knownLog(redis)
  const reply = await runScript(redis, READ_SCRIPT, [apiKeyKey(keyId), EPOCH, HEAD])
  const [owner, sha256, lastUsedMs, record, epoch, seq] = reply as Reply
  const isRight = matchesDigest(token, sha256 || null) // also without a digest: an unknown id must take as long
  const client = isRight ? clientOfText(record, owner) : null
  if (client === null) {
    assertHead(redis, { epoch: epoch || null, seq: Number(seq) }, log)
    return null
  }
  if (nowMs - Number(lastUsedMs || Number.NEGATIVE_INFINITY) >= USE_NOTED_MS)
    await tolerate(noteUse(redis, keyId, nowMs), 'the next use is noted')
  return { client, keyId }
}

/** What the script returns, all texts; '' for what there is not. */
type Reply = [owner: string, sha256: string, lastUsedMs: string, record: string, epoch: string, seq: string]

/** Reads a key, its client and the head of the log. The same commands run whether the key exists or not. */
const READ_SCRIPT = `${TEXT_FUNCTION}
local owner, sha256, last = unpack(redis.call('HMGET', KEYS[1], 'client', 'sha256', 'last_used_at'))
local record = text(redis.call('HGETALL', '${CLIENT_PREFIX}' .. (owner or '')))
return {owner or '', sha256 or '', last or '', record, redis.call('GET', KEYS[2]) or '', redis.call('HGET', KEYS[3], 'seq') or '0'}
`
