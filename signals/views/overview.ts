// How the whole service stands at this moment: one reading for the page, the command line, the metrics and the alerts.
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
  /** 0 where it has no limit. */
  readonly limitBytes: number
  /** False where the last write of the append-only file failed. */
  readonly isWriting: boolean
  /** True where it follows another one, and takes no writes. */
  readonly isReplica: boolean
  /** Settings under which it could lose an acknowledged signal. */
  readonly problems: readonly string[]
}

export type Overview = {
  readonly seq: number
  readonly epoch: string
  readonly redis: RedisHealth
  /** Signals in the log that the relay has not yet put into the ledger. */
  readonly relayLag: number
  /** False where no process relays. */
  readonly isRelayed: boolean
  /** Clients of each lane that are due, and that no worker has begun with. */
  readonly queue: Readonly<Record<Lane, number>>
  readonly clients: { readonly total: number; readonly active: number }
  readonly webhooks: readonly WebhookState[]
  /** Aliases that are halted; `*` stands for all. */
  readonly halted: readonly string[]
  /** The strategies that have ever run live. */
  readonly live: readonly LiveStatus[]
}

export type OverviewParts = {
  readonly redis: Redis
  /** The ids of the strategies of the served dataset. */
  readonly aliases: () => ReadonlySet<string>
  readonly clock: { readonly now: () => number }
  readonly newEpoch: () => string
}

/** Reads it. Throws RedisDownError. */
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

/** How a client's webhook stands: everything but its address and its secrets, which stay sealed. */
export type WebhookState = {
  readonly client: string
  readonly enabled: boolean
  /** Why it is not, null where it is. */
  readonly disabledWhy: string | null
  readonly lane: Lane
  readonly condition: Condition
  /** Signals that it is owed. */
  readonly owed: number
}

/** Clients that are read at once. */
const BLOCK = 500

/** How the webhooks of some clients stand; who has none is not in it. */
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
