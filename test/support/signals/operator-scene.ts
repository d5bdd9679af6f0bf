// A scene for the operator's page: clients in every state, signals, deliveries that went well and some that did not.
import type { Redis } from 'ioredis'
import { halt } from '#signals/live/live-record.ts'
import { type DeliveryState, owe } from '#signals/outbox/outbox.ts'
import { conditionAfter, SOUND } from '#signals/outbox/webhook-condition.ts'
import { disableWebhook } from '#signals/outbox/webhooks.ts'
import {
  attemptsKey,
  EPOCH,
  liveKey,
  outboxKey,
  READY_PREFIX,
  RELAY_CURSOR,
  SCHEDULES,
  SEAL_STATE,
  webhookKey,
} from '#signals/redis/keys.ts'
import { setWebhook } from './operator.ts'
import { addClient, fire, NOW_MS, ORDERED, seededBytes } from './signals.ts'

const ALIASES = ['alder', 'birch']

/** Plays it: six signals, of which the third is exhausted for one client. */
export async function playScene(redis: Redis): Promise<void> {
  const random = seededBytes('scene')
  for (const id of ['acme-capital', 'north-ridge', 'quiet-harbour', 'old-mill']) {
    await addClient(redis, id, ALIASES, random)
    await setWebhook(redis, id)
  }
  await disableWebhook(
    redis,
    'old-mill',
    '24 attempts of at least 3 signals failed, and none succeeded for three days',
  )
  const failed = { kind: 'failed', status: 502, retryAfterMs: null } as const
  const { health } = conditionAfter(SOUND, 3, failed, NOW_MS - 5_400_000).condition
  const condition = { breaker: { kind: 'open', probes: 2, probeAtMs: NOW_MS + 60_000 }, health }
  await redis.hset(webhookKey('north-ridge'), { condition: JSON.stringify(condition), lane: 'slow' })
  await redis.hset(webhookKey('north-ridge'), 'probe_at', condition.breaker.probeAtMs)
  await redis.hset(webhookKey('acme-capital'), { condition: JSON.stringify(SOUND) })
  for (let i = 1; i <= 6; i++) await playSignal(redis, i)
  await redis.mset(EPOCH, 'epoch-1', RELAY_CURSOR, 6)
  await redis.del(...Object.values(SCHEDULES))
  await redis.zadd(SCHEDULES.slow, condition.breaker.probeAtMs, 'north-ridge')
  for (const alias of ALIASES)
    await redis.hset(liveKey(alias), { cursor: NOW_MS - 5_000, live_from: NOW_MS - 864e5, mode: 'LIVE' })
  await halt(redis, 'birch', ORDERED)
  await redis.hset(SEAL_STATE, { n: 42, to: NOW_MS - 125_000, refused: '', at: NOW_MS - 5_000 })
}

async function playSignal(redis: Redis, i: number): Promise<void> {
  const seq = await fire(redis, `sig_${i}`, ALIASES[i % 2]!)
  const clients = ['acme-capital', 'north-ridge', 'quiet-harbour']
  await owe(
    redis,
    clients.map(destination => ({ destination, signals: [{ seq, prev: seq - 1 }] })),
    NOW_MS,
  )
  await settleAs(redis, seq, 'acme-capital', 'delivered', 1)
  await settleAs(redis, seq, 'quiet-harbour', 'delivered', 2)
  if (seq === 3) await settleAs(redis, seq, 'north-ridge', 'exhausted', 16)
}

/** Writes what became of a delivery, as the worker leaves it. */
export async function settleAs(
  redis: Redis,
  seq: number,
  client: string,
  status: DeliveryState['status'],
  attempts: number,
): Promise<void> {
  const state: DeliveryState = {
    ...{ status, prev: seq - 1, attempts, round: 1 },
    ...{ owed_at: NOW_MS + 2, first_attempt_at: NOW_MS + 9, settled_at: NOW_MS + 140 * attempts },
  }
  await redis.hset(outboxKey(seq), client, JSON.stringify(state))
  await redis.zrem(`${READY_PREFIX}${client}`, seq)
  for (let n = 1; n <= attempts; n++) {
    const ok = n === attempts && status === 'delivered'
    const failed = { status: 502, reason: 'status', excerpt: '<h1>Bad gateway</h1>' }
    const answer = ok ? { status: 200, reason: null, excerpt: 'ok' } : failed
    const times = { at: NOW_MS + 140 * n, first_byte_ms: 81, total_ms: 93 }
    await redis.rpush(attemptsKey(seq, client), JSON.stringify({ ...times, n, ok, ...answer }))
  }
}
