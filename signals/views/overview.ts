// The state of the whole service, for the page, the command line, the metrics and the alerts.
import type { Redis } from 'ioredis'
import { listClients } from '../clients/clients.ts'
import { dueCounts, LANES, type Lane, owedCount } from '../delivery/outbox.ts'
import { type Condition, SOUND } from '../delivery/webhook-condition.ts'
import { haltedAliases, type LiveStatus, readStatus } from '../live/control.ts'
import { readHead } from '../log/read-log.ts'
import { durabilityProblems } from '../redis/boot-checks.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAY_CURSOR, RELAY_LEASE, webhookKey } from '../redis/keys.ts'

export type RedisHealth = {
  readonly version: string
  readonly usedBytes: number
  /** 0 if unlimited. */
  readonly limitBytes: number
  /** False if the last write of the append-only file failed. */
  readonly isWriting: boolean
  /** True if it takes no writes. */
  readonly isReplica: boolean
  /** Settings under which it could lose an acknowledged signal. */
  readonly problems: readonly string[]
}

export type Overview = {
  readonly seq: number
  readonly epoch: string
  readonly redis: RedisHealth
  /** Signals that the relay has not put into the outbox yet. */
  readonly relayLag: number
  /** False if no process relays. */
  readonly isRelayed: boolean
  /** Clients of each lane that are due and not started. */
  readonly queue: Readonly<Record<Lane, number>>
  readonly clients: { readonly total: number; readonly active: number }
  readonly webhooks: readonly WebhookState[]
  /** Halted aliases; `*` stands for all. */
  readonly halted: readonly string[]
  /** Strategies that have ever run live. */
  readonly live: readonly LiveStatus[]
}

export type OverviewParts = {
  readonly redis: Redis
  /** The strategies of the served dataset. */
  readonly aliases: () => ReadonlySet<string>
  readonly clock: { readonly now: () => number }
  readonly newEpoch: () => string
}

/** Throws RedisDownError. */
export async function readOverview(parts: OverviewParts): Promise<Overview> {
  const { redis } = parts
  const [head, health, cursor, lease, queue, clients, live, halted] = await Promise.all([
    readHead(redis, parts.newEpoch),
    readRedisHealth(redis),
    askRedis(() => redis.get(RELAY_CURSOR)),
    askRedis(() => redis.exists(RELAY_LEASE)),
    dueCounts(redis, parts.clock.now()),
    listClients(redis),
    readLive(redis, parts.aliases()),
    haltedAliases(redis),
  ])
  const webhooks = await readWebhookStates(
    redis,
    clients.map(({ id }) => id),
  )
  return {
    ...head,
    redis: health,
    relayLag: head.seq - Number(cursor ?? 0),
    isRelayed: lease === 1,
    queue,
    clients: { total: clients.length, active: clients.filter(({ status }) => status === 'active').length },
    webhooks: [...webhooks.values()],
    halted,
    live,
  }
}

/** The strategies that have ever run live, sorted. */
export async function readLive(redis: Redis, aliases: ReadonlySet<string>): Promise<readonly LiveStatus[]> {
  const all = await Promise.all([...aliases].sort().map(alias => readStatus(redis, alias)))
  return all.filter(({ cursorMs }) => cursorMs !== null)
}

async function readRedisHealth(redis: Redis): Promise<RedisHealth> {
  const [info, problems] = await Promise.all([askRedis(() => redis.info()), durabilityProblems(redis)])
  const field = (name: string): string => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? ''
  return {
    version: field('redis_version'),
    usedBytes: Number(field('used_memory')),
    limitBytes: Number(field('maxmemory')),
    isWriting: field('aof_last_write_status') !== 'err' && field('aof_last_bgrewrite_status') !== 'err',
    isReplica: field('role') === 'slave',
    problems,
  }
}

/** A client's webhook without its address and secrets, which stay sealed. */
export type WebhookState = {
  readonly client: string
  readonly enabled: boolean
  /** Null if enabled. */
  readonly disabledWhy: string | null
  readonly lane: Lane
  readonly condition: Condition
  readonly owed: number
}

const BLOCK = 500

/** The webhooks of some clients; clients without one are left out. */
export async function readWebhookStates(
  redis: Redis,
  clients: readonly string[],
): Promise<ReadonlyMap<string, WebhookState>> {
  const found = new Map<string, WebhookState>()
  for (let i = 0; i < clients.length; i += BLOCK) {
    const block = clients.slice(i, i + BLOCK)
    const states = await Promise.all(block.map(client => readWebhookState(redis, client)))
    for (const state of states) if (state !== null) found.set(state.client, state)
  }
  return found
}

async function readWebhookState(redis: Redis, client: string): Promise<WebhookState | null> {
  const [enabled, why, lane, condition] = await askRedis(() =>
    redis.hmget(webhookKey(client), 'enabled', 'disabled_why', 'lane', 'condition'),
  )
  if (enabled == null) return null
  return {
    client,
    enabled: enabled === '1',
    disabledWhy: why == null || why === '' ? null : why,
    lane: LANES.find(each => each === lane) ?? 'fast',
    condition: condition == null ? SOUND : (JSON.parse(condition) as Condition), // written by webhooks.ts alone
    owed: await owedCount(redis, client),
  }
}
