// The records of clients and of their webhooks, which every delivery needs: read again only if they have changed, because reading
// them would be a third of the work of Redis, and parsing them would cost more than sending.
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { type Client, toClient } from '../clients/clients.ts'
import { CLIENT_PREFIX, REVISION_PREFIX, WEBHOOKS } from '../redis/keys.ts'
import { runScript, TEXT_FUNCTION, toRecord } from '../redis/script.ts'
import { NAMES } from './outbox.ts'

/** The records of a client as they were at a revision. */
export type Records = {
  readonly revision: string
  /** The stored fields, sealed; empty if there is no webhook. */
  readonly webhook: Readonly<Record<string, string>>
  readonly record: Client | null
}

/** Clients whose records are cached: some kilobytes each. */
const MOST_CLIENTS = 20_000

const recordsByRedis = new WeakMap<Redis, LRUCache<string, Records>>()

export function knownRecords(redis: Redis): LRUCache<string, Records> {
  const records = recordsByRedis.get(redis) ?? new LRUCache<string, Records>({ max: MOST_CLIENTS })
  recordsByRedis.set(redis, records)
  return records
}

/** Keeps what a script returned of a client: the revision, its webhook and itself. */
export function keepRecords(redis: Redis, client: string, texts: readonly string[]): Records {
  const [revision = '', webhook = '', record = ''] = texts
  const records = { revision, webhook: toRecord(webhook), record: toClient(client, toRecord(record)) }
  knownRecords(redis).set(client, records)
  return records
}

/** The records of clients; those that have not changed are not read again. */
export async function readRecords(redis: Redis, clients: readonly string[]): Promise<readonly Records[]> {
  const known = clients.map(client => knownRecords(redis).get(client))
  const args = clients.flatMap((client, i) => [client, known[i]?.revision ?? ''])
  const changed = (await runScript(redis, READ_SCRIPT, [WEBHOOKS], ...args)) as (string[] | null)[]
  return clients.map((client, i) => (changed[i] ? keepRecords(redis, client, changed[i]) : known[i]!))
}

/** Lua: the revision of a client, and its webhook and itself, each record as one text. */
export const RECORDS = `${NAMES}${TEXT_FUNCTION}
local function revision_of(client) return redis.call('GET', '${REVISION_PREFIX}' .. client) or '0' end
local function records(client)
  return text(redis.call('HGETALL', webhook(client))), text(redis.call('HGETALL', '${CLIENT_PREFIX}' .. client))
end
`

/** Returns {revision, webhook, client} for each pair of a client and its known revision in ARGV, or nil if it is the same. */
const READ_SCRIPT = `${RECORDS}
local reply = {}
for i = 1, #ARGV, 2 do
  local revision = revision_of(ARGV[i])
  reply[#reply + 1] = revision ~= ARGV[i + 1] and {revision, records(ARGV[i])}
end
return reply
`
