import { beforeEach, expect, test } from 'vitest'
import { toIsoInstant } from '#core/calendar.ts'
import {
  authenticate,
  confirmKey,
  issueKey,
  listKeys,
  noteUse,
  revokeKey,
} from '#signals/clients/api-keys.ts'
import { createClient } from '#signals/clients/clients.ts'
import { digestOf } from '#signals/clients/token.ts'
import { apiKeyKey } from '#signals/redis/keys.ts'
import { NOW_MS, seededBytes } from '../../support/signals/signals.ts'
import { redis, useRedis } from '../../support/signals/test-redis.ts'

useRedis()
beforeEach(async () => {
  await createClient(redis, 'acme', 'gold', NOW_MS)
})

const random = seededBytes('api-keys')
const issue = () => issueKey(redis, 'acme', random, NOW_MS)
const isValid = async (token: string): Promise<boolean> => (await authenticate(redis, token, NOW_MS)) !== null
const idsOf = async (): Promise<string[]> => (await listKeys(redis, 'acme')).map(({ id }) => id)

test('a key names its client, and is stored as its digest alone', async () => {
  const { id, token } = await issue()
  expect(await authenticate(redis, token, NOW_MS)).toMatchObject({ client: { id: 'acme' }, keyId: id })
  const everything = await redis.hgetall(apiKeyKey(id))
  expect(everything).toMatchObject({ client: 'acme', sha256: digestOf(token) })
  expect(JSON.stringify(everything)).not.toContain(token.slice(17, 60))
})

test('a key for a client that does not exist is refused', async () => {
  const unknown = issueKey(redis, 'ghost', random, NOW_MS)
  await expect(unknown).rejects.toMatchObject({ code: 'not_found' })
  expect(await redis.keys('*ghost*')).toEqual([])
})

test('a client has two live keys at the most, however many are issued at once or later', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, issue))
  await expect(issue()).rejects.toMatchObject({ code: 'conflict' })
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  expect(await idsOf()).toHaveLength(2)
})

test('a key is refused from its end on as a revoked one is, stands in the list until it is revoked, takes no place of another nor keeps an older one from being confirmed, and cannot end in the past', async () => {
  const endMs = NOW_MS + 1_000
  const { id, token } = await issueKey(redis, 'acme', random, NOW_MS, endMs)
  expect(await authenticate(redis, token, endMs - 1)).toMatchObject({ keyId: id })
  expect(await authenticate(redis, token, endMs)).toBeNull()
  expect(await listKeys(redis, 'acme')).toMatchObject([{ id, expires_at: toIsoInstant(endMs) }])
  const [older, newer] = [await issue(), await issueKey(redis, 'acme', random, endMs, endMs + 1)]
  await expect(issueKey(redis, 'acme', random, endMs)).rejects.toMatchObject({ code: 'conflict' })
  await expect(confirmKey(redis, older.id, endMs)).rejects.toMatchObject({ code: 'conflict' })
  expect((await confirmKey(redis, older.id, endMs + 1)).retired).toEqual([id])
  expect(await idsOf()).toEqual([older.id, newer.id])
  expect(await revokeKey(redis, older.id)).toMatchObject({ client: 'acme' })
  const past = issueKey(redis, 'acme', random, NOW_MS, NOW_MS)
  await expect(past).rejects.toMatchObject({ code: 'validation_error' })
})

test('a key gets another random id if its id is taken, three at the most, and never the key of another client', async () => {
  let draws = 0 // an id and a secret for each token
  const stuck = (size: number) => (draws++ % 2 === 0 ? new Uint8Array(size).fill(7) : random(size))
  const first = await issueKey(redis, 'acme', stuck, NOW_MS)
  await createClient(redis, 'other', 'gold', NOW_MS)
  await expect(issueKey(redis, 'other', stuck, NOW_MS)).rejects.toThrow('three random key ids')
  expect(draws).toBe(8)
  const second = await issueKey(redis, 'other', size => (draws === 8 ? stuck : random)(size), NOW_MS)
  expect(second.id).not.toBe(first.id)
  expect(await authenticate(redis, first.token, NOW_MS)).toMatchObject({ client: { id: 'acme' } })
  expect(await authenticate(redis, second.token, NOW_MS)).toMatchObject({ client: { id: 'other' } })
})

test('a rotation cannot be confirmed with the old key, also within one millisecond, and is confirmed once with the new one', async () => {
  const [old, { id }] = [await issue(), await issue()]
  await expect(confirmKey(redis, old.id, NOW_MS)).rejects.toMatchObject({ code: 'conflict' })
  expect(await idsOf()).toEqual([old.id, id])
  await confirmKey(redis, id, NOW_MS)
  const again = await confirmKey(redis, id, NOW_MS + 60_000)
  expect(again).toEqual({ client: 'acme', keyId: id, retired: [], suspendedBy: '', suspended: [] })
  expect(await listKeys(redis, 'acme')).toMatchObject([{ id, confirmed_at: '2026-11-21T00:00:05Z' }])
})

test('a revoked key is refused from the next request on, leaves nothing behind, also if a use is noted late, and makes room for another', async () => {
  const { id, token } = await issue()
  const keeper = await issue()
  expect(await isValid(token)).toBe(true)
  expect(await revokeKey(redis, id)).toEqual({ client: 'acme', suspended: [] })
  expect(await isValid(token)).toBe(false)
  expect(await idsOf()).toEqual([keeper.id])
  await noteUse(redis, id, NOW_MS) // late
  expect(await redis.exists(apiKeyKey(id))).toBe(0)
  expect(await revokeKey(redis, id)).toBeNull()
  await expect(issue()).resolves.toMatchObject({})
})

test('the last use of a key is noted at the first one, and then once a minute at the most, and no guess is', async () => {
  const { token } = await issue()
  const lastUse = async () => (await listKeys(redis, 'acme'))[0]?.last_used_at
  await authenticate(redis, `${token.slice(0, -1)}x`, NOW_MS)
  expect(await lastUse()).toBeNull()
  await authenticate(redis, token, NOW_MS)
  expect(await lastUse()).toBe('2026-11-21T00:00:05Z')
  await authenticate(redis, token, NOW_MS + 59_999)
  expect(await lastUse()).toBe('2026-11-21T00:00:05Z')
  await authenticate(redis, token, NOW_MS + 60_000)
  expect(await lastUse()).toBe('2026-11-21T00:01:05Z')
})
