// The records of clients and of their webhooks, which every delivery needs: read again only if they have changed, because reading
// them would be a third of the work of Redis, and parsing them would cost more than sending.
import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { type Client, clientOfText } from '../clients/clients.ts'
import { clientKey, REVISION_PREFIX, WEBHOOKS } from '../redis/keys.ts'
import { runScript, TEXT_FUNCTION, toRecord } from '../redis/script.ts'
import { clientOf, type Destination } from './destination.ts'
import { NAMES } from './outbox.ts'

/** The records of a destination as they were at a revision of its client. */
export type Records = {
  readonly revision: string
  /** The stored fields, sealed; empty if there is no webhook. */
  readonly webhook: Readonly<Record<string, string>>
  /** The client. */
  readonly record: Client | null
}

/** Destinations whose records are cached: some kilobytes each. */
const MOST_DESTINATIONS = 20_000

const recordsByRedis = new WeakMap<Redis, LRUCache<string, Records>>()

export function knownRecords(redis: Redis): LRUCache<string, Records> {
  const records = recordsByRedis.get(redis) ?? new LRUCache<string, Records>({ max: MOST_DESTINATIONS })
  recordsByRedis.set(redis, records)
  return records
}

/** Keeps what a script returned of a destination: the revision, its webhook and its client. */
export function keepRecords(redis: Redis, destination: Destination, texts: readonly string[]): Records {
  const [revision = '', webhook = '', record = ''] = texts
  const client = clientOfText(record, clientOf(destination))
  const records = { revision, webhook: toRecord(webhook), record: client }
  knownRecords(redis).set(destination, records)
  return records
}

/** The records of destinations; those that have not changed are not read again. */
export async function readRecords(
  redis: Redis,
  destinations: readonly Destination[],
): Promise<readonly Records[]> {
  const known = destinations.map(destination => knownRecords(redis).get(destination))
  const args = destinations.flatMap((destination, i) => [destination, known[i]?.revision ?? ''])
  const changed = (await runScript(redis, READ_SCRIPT, [WEBHOOKS], ...args)) as (string[] | null)[]
  return destinations.map((destination, i) =>
    changed[i] ? keepRecords(redis, destination, changed[i]) : known[i]!,
  )
}

/** Lua: the revision of a destination's client, and its webhook and its client, each record as one text. */
export const RECORDS = `${NAMES}${TEXT_FUNCTION}
local function revision_of(destination) return redis.call('GET', '${REVISION_PREFIX}' .. client_of(destination)) or '0' end
local function records(destination)
  return text(redis.call('HGETALL', webhook(destination))), text(redis.call('HGETALL', '${clientKey('')}' .. client_of(destination)))
end
`

/** Returns {revision, webhook, client} for each pair of a destination and its known revision in ARGV, or nil if it is the same. */
const READ_SCRIPT = `${RECORDS}
local reply = {}
for i = 1, #ARGV, 2 do
  local revision = revision_of(ARGV[i])
  reply[#reply + 1] = revision ~= ARGV[i + 1] and {revision, records(ARGV[i])}
end
return reply
`
