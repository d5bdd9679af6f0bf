// The state of the whole service, for the page, the command line, the metrics and the alerts.
import type { Redis } from 'ioredis'
import { instantOf, instantOrNull } from '#core/calendar.ts'
import { type Client, clientOfText } from '../clients/clients.ts'
import { haltedAliases, readStatus } from '../live/live-record.ts'
import { firedAliases, readHead } from '../log/read-log.ts'
import { clientOf, type Destination, endpointOf } from '../outbox/destination.ts'
import { dueCounts } from '../outbox/outbox.ts'
import { RECORDS } from '../outbox/records.ts'
import { probeAtMs } from '../outbox/webhook-condition.ts'
import { clearPartOf, shownOf } from '../outbox/webhooks.ts'
import { durabilityProblems } from '../redis/boot-checks.ts'
import { askRedis } from '../redis/connect.ts'
import * as keys from '../redis/keys.ts'
import { runScript, toRecord } from '../redis/script.ts'

export type Overview = Awaited<ReturnType<typeof readOverview>>

export type OverviewParts = {
  readonly redis: Redis
  readonly aliases: () => ReadonlySet<string>
  readonly clock: { readonly now: () => number }
}

/** Throws RedisDownError. */
export async function readOverview(parts: OverviewParts) {
  const { redis } = parts
  const [head, health, cursor, lease, queue, [clients, webhooks], live, halted, continued, seals] =
    await Promise.all([
      readHead(redis),
      readRedisHealth(redis),
      askRedis(() => redis.get(keys.RELAY_CURSOR)),
      askRedis(() => redis.exists(keys.RELAY_LEASE)),
      dueCounts(redis, parts.clock.now()),
      readAllClients(redis),
      readLive(redis, parts.aliases(), parts.clock.now()),
      haltedAliases(redis),
      readContinued(redis, parts.clock.now()),
      readSealState(redis, parts.clock.now()),
    ])
  return {
    ...head,
    redis: health,
    continued,
    /** Signals that the relay has not put into the outbox yet. */
    relayLag: await readLag(redis, Number(cursor ?? 0), head.seq),
    /** False if no process relays. */
    isRelayed: lease === 1,
    /** Clients of each lane that are due and not started. */
    queue,
    clients: { total: clients.length, active: clients.filter(({ status }) => status === 'active').length },
    webhooks: [...webhooks.values()],
    /** Halted aliases; `*` stands for all. */
    halted,
    /** Strategies that have run live, fired or are halted. */
    live,
    /** Null before the first seal. */
    seals,
  }
}

/** Waiting signals that are counted one by one. */
const MOST_COUNTED = 200

/** How many signals the log has after a number; of many, not more than this. Numbers that were never given count for none. */
async function readLag(redis: Redis, cursor: number, newest: number): Promise<number> {
  const found = await askRedis(() => redis.xrange(keys.LOG, `(${cursor}-0`, '+', 'COUNT', MOST_COUNTED))
  const last = Number.parseInt(found.at(-1)?.[0] ?? '0', 10)
  return found.length < MOST_COUNTED ? found.length : found.length + Math.max(0, newest - last)
}

/** An hour: the alert of it is sent again if a service is started within this time. */
const CONTINUED_SHOWN_MS = 3_600_000

/** Where the log was continued of late, because its end may have been lost; else null. */
async function readContinued(redis: Redis, nowMs: number) {
  const text = await askRedis(() => redis.hget(keys.HEAD, 'continued'))
  const [last = 0, above = 0, atMs = 0] = (text ?? '').split(' ').map(Number) // written by open-log.ts
  return nowMs - atMs < CONTINUED_SHOWN_MS ? { last, above, atMs } : null
}

export type SealState = NonNullable<Awaited<ReturnType<typeof readSealState>>>

/** The newest seal, 0 before the first, and why none is signed now, as the sealer wrote it; null if there is no sealer. */
export async function readSealState(redis: Redis, nowMs: number) {
  const { n, to = 0, refused = '', at } = await askRedis(() => redis.hgetall(keys.SEAL_STATE))
  if (n === undefined) return null
  const toMs = Number(to) || null
  const age_seconds = toMs && Math.max(0, Math.round((nowMs - toMs) / 1_000))
  return {
    n: Number(n),
    to: instantOrNull(toMs),
    age_seconds,
    refused: refused || null,
    at: instantOf(Number(at)),
  }
}

/** The strategies that have run live, fired or are halted, sorted, whether they are in the served dataset or not. */
export async function readLive(redis: Redis, aliases: ReadonlySet<string>, nowMs: number) {
  const begun = await askRedis(() => redis.smembers(keys.LIVE_ALIASES))
  const seen = new Set([...(await firedAliases(redis)), ...(await haltedAliases(redis))])
  const known = new Set([...aliases, ...begun, ...seen])
  known.delete(keys.EVERY_ALIAS)
  const all = await Promise.all([...known].sort().map(alias => readStatus(redis, alias, nowMs)))
  return all.filter(({ alias, last_bar_close }) => last_bar_close !== null || seen.has(alias))
}

async function readRedisHealth(redis: Redis) {
  const [info, problems] = await Promise.all([askRedis(() => redis.info()), durabilityProblems(redis)])
  const field = (name: string): string => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? ''
  return {
    version: field('redis_version'),
    used_bytes: Number(field('used_memory')),
    /** 0 if unlimited. */
    limit_bytes: Number(field('maxmemory')),
    /** False if the last write of the append-only file failed. */
    isWriting: field('aof_last_write_status') !== 'err' && field('aof_last_bgrewrite_status') !== 'err',
    isReplica: field('role') === 'slave',
    /** Settings under which it could lose an acknowledged signal. */
    problems,
  }
}

export type WebhookState = NonNullable<ReturnType<typeof toWebhookState>>

const BLOCK = 500

/** Returns for each client of ARGV its record as one text, and of each of its endpoints the destination, the record and how many deliveries it is owed. */
const STATES_SCRIPT = `${RECORDS}
local reply = {}
for i, client in ipairs(ARGV) do
  local names = redis.call('SMEMBERS', '${keys.endpointsKey('')}' .. client)
  table.sort(names)
  table.insert(names, 1, '')
  reply[i] = {}
  for j, name in ipairs(names) do
    local destination = name == '' and client or client .. '/' .. name
    local hook, record = records(destination)
    local owed = redis.call('ZCARD', ready(destination)) + redis.call('ZCARD', waiting(destination))
    reply[i][1] = record
    reply[i][j + 1] = {destination, hook, owed}
  end
end
return reply
`

export type Webhooks = ReadonlyMap<Destination, WebhookState>

/** Every client, by id, and the endpoints that they have set, `default` first. */
export const readAllClients = async (redis: Redis): Promise<readonly [readonly Client[], Webhooks]> =>
  readBlocks(redis, (await askRedis(() => redis.smembers(keys.CLIENTS))).sort())

/** The endpoints that some clients have set, `default` first. */
export const readWebhookStates = async (redis: Redis, clients: readonly string[]): Promise<Webhooks> =>
  (await readBlocks(redis, clients))[1]

async function readBlocks(redis: Redis, ids: readonly string[]): Promise<readonly [Client[], Webhooks]> {
  const clients: Client[] = []
  const webhooks = new Map<Destination, WebhookState>()
  for (let from = 0; from < ids.length; from += BLOCK) {
    const block = ids.slice(from, from + BLOCK)
    const values = await runScript(redis, STATES_SCRIPT, [keys.WEBHOOKS], ...block)
    for (const [i, [record, ...endpoints]] of (values as States[]).entries()) {
      const client = clientOfText(record, block[i]!)
      if (client !== null) clients.push(client)
      for (const [destination, hook, owed] of endpoints) {
        const webhook = toWebhookState(destination, toRecord(hook), owed)
        if (webhook !== null) webhooks.set(destination, webhook)
      }
    }
  }
  return [clients, webhooks]
}

type States = readonly [record: string, ...(readonly [Destination, hook: string, owed: number])[]]

/** An endpoint as the audit log has it. */
export const toLogged = ({ enabled, owed: waiting, paused, filter }: WebhookState) => ({
  ...{ enabled, waiting },
  ...(paused && { paused }),
  ...(filter !== null && { filter }),
})

/** An endpoint of a client without what is sealed: its address, secrets and headers. */
function toWebhookState(destination: Destination, fields: Readonly<Record<string, string>>, owed: number) {
  if (fields.enabled === undefined) return null
  const open = clearPartOf(fields)
  const { lane, condition, isPaused: paused, filter, expireAfterS, settingsBy, lastSuccessMs } = open
  return {
    ...{ destination, client: clientOf(destination), endpoint: endpointOf(destination) },
    ...shownOf(open),
    ...{
      paused,
      filter,
      expire_entries_after_s: expireAfterS,
      settings_by: settingsBy[0] ?? null,
      last_success_at: instantOrNull(lastSuccessMs),
    },
    /** All who changed the filter, the expiry or the pause. */
    changers: settingsBy,
    lane,
    breaker: condition.breaker.kind,
    /** When an open breaker lets the next attempt through. */
    probe_at: instantOrNull(probeAtMs(condition)),
    owed,
  }
}
