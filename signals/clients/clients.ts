// What the operator does with clients. Each change is one command or one script, so that no reader sees half of it.
import type { Redis } from 'ioredis'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { askRedis } from '../redis/connect.ts'
import { CLIENTS, clientKey } from '../redis/keys.ts'
import { assertId, type Client, type ClientStatus, toClient, toStoredClient } from './client.ts'

/** A change of what a client may see. What is left out stays as it is. */
export type EntitlementChange = {
  /** The whole list anew. */
  readonly aliases?: readonly string[]
  readonly add?: readonly string[]
  readonly remove?: readonly string[]
  readonly program?: boolean
}

/** A book holds a thousand strategies at the most. */
const MOST_ALIASES = 1_000

/** Clients that are read at once: a reply of some hundred kilobytes. */
const LIST_BLOCK = 500

/** Operators who change the same client at the same moment are few. */
const MOST_TRIES = 20

/** What a client may have from its first moment on: else it waits for its activation and may see nothing yet. */
export type ClientBeginning = EntitlementChange & { readonly status?: ClientStatus }

/**
 * Adds a client whole, or not at all. Throws `conflict` where there is one of this id, or `validation_error`; with
 * entitlements, what entitleClient throws of them.
 */
export async function createClient(
  redis: Redis,
  id: string,
  tier: string,
  nowMs: number,
  { status = 'pending', ...change }: ClientBeginning = {},
  programAlias = '',
): Promise<Client> {
  assertId('id', id)
  assertId('tier', tier)
  assertAliases([...(change.aliases ?? []), ...(change.add ?? [])], programAlias)
  const created_at = toIsoInstant(nowMs)
  const client = entitled({ id, tier, status, aliases: [], program: false, created_at }, change)
  const fields = Object.entries(toStoredClient(client)).flat()
  const reply = await askRedis(() =>
    redis.eval(CREATE_SCRIPT, 2, CLIENTS, clientKey(id), id, created_at, ...fields),
  )
  if (reply !== 'ok') throw new ApiError('conflict', `there is a client '${id}' already: choose another id`)
  return client
}

/** Switches an account on. Throws `not_found`. */
export const activateClient = (redis: Redis, id: string): Promise<Client> => setStatus(redis, id, 'active')

/** Switches an account off again: its keys stay valid, its pulls and deliveries stop. Throws `not_found`. */
export const suspendClient = (redis: Redis, id: string): Promise<Client> => setStatus(redis, id, 'pending')

/**
 * Changes what a client may see. The program has an alias, which is no strategy and stands for the flag. Throws
 * `not_found`, or `validation_error` on an alias that cannot be one.
 */
export async function entitleClient(
  redis: Redis,
  id: string,
  change: EntitlementChange,
  programAlias: string,
): Promise<Client> {
  assertAliases([...(change.aliases ?? []), ...(change.add ?? [])], programAlias)
  for (let i = 0; i < MOST_TRIES; i++) {
    const before = await findClient(redis, id)
    const after = entitled(before, change)
    if (await replaceEntitlement(redis, before, after)) return after
  }
  throw new ApiError('conflict', `the client '${id}' is being changed by others: try again`)
}

/** The client of an id, or null. */
export async function getClient(redis: Redis, id: string): Promise<Client | null> {
  return toClient(id, await askRedis(() => redis.hgetall(clientKey(id))))
}

/** The client of an id. Throws `not_found`. */
export async function findClient(redis: Redis, id: string): Promise<Client> {
  const client = await getClient(redis, id)
  if (client === null) throw unknownClient(id)
  return client
}

/** All clients, sorted by id. */
export async function listClients(redis: Redis): Promise<readonly Client[]> {
  const ids = (await askRedis(() => redis.smembers(CLIENTS))).sort()
  const clients: Client[] = []
  for (let at = 0; at < ids.length; at += LIST_BLOCK) {
    const block = await Promise.all(ids.slice(at, at + LIST_BLOCK).map(id => getClient(redis, id)))
    clients.push(...block.filter(client => client !== null))
  }
  return clients
}

export const unknownClient = (id: string): ApiError =>
  new ApiError(
    'not_found',
    `there is no client '${id.slice(0, ECHO_LENGTH)}'; \`highwater ops clients list\` lists them`,
  )

/** Longer names are cut in messages. */
const ECHO_LENGTH = 64

/** Made again after a lost reply it finds what it has made itself, and says ok. */
const CREATE_SCRIPT = `
if redis.call('EXISTS', KEYS[2]) == 1 then
  return redis.call('HGET', KEYS[2], 'created_at') == ARGV[2] and 'ok' or 'exists'
end
redis.call('HSET', KEYS[2], unpack(ARGV, 3))
redis.call('SADD', KEYS[1], ARGV[1])
return 'ok'
`

async function setStatus(redis: Redis, id: string, status: ClientStatus): Promise<Client> {
  const reply = await askRedis(() => redis.eval(STATUS_SCRIPT, 1, clientKey(id), status))
  if (reply !== 'ok') throw unknownClient(id)
  return findClient(redis, id)
}

const STATUS_SCRIPT = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end
redis.call('HSET', KEYS[1], 'status', ARGV[1])
return 'ok'
`

function assertAliases(aliases: readonly string[], programAlias: string): void {
  for (const alias of aliases) {
    assertId('aliases', alias)
    if (alias !== programAlias) continue
    const reason = `'${alias}' is the program and no strategy: set its flag instead`
    throw new ApiError('validation_error', `aliases: ${reason}`, {
      details: [{ param: 'aliases', value: alias, reason }],
    })
  }
}

function entitled(client: Client, { aliases, add = [], remove = [], program }: EntitlementChange): Client {
  const wanted = new Set([...(aliases ?? client.aliases), ...add])
  for (const alias of remove) wanted.delete(alias)
  if (wanted.size > MOST_ALIASES) {
    const reason = `${wanted.size} aliases are more than the ${MOST_ALIASES} that a client may have`
    throw new ApiError('validation_error', `aliases: ${reason}`, {
      details: [{ param: 'aliases', value: String(wanted.size), reason }],
    })
  }
  return { ...client, aliases: [...wanted].sort(), program: program ?? client.program }
}

/** Writes an entitlement over the one that was read; false where another has written meanwhile. */
async function replaceEntitlement(redis: Redis, before: Client, after: Client): Promise<boolean> {
  const [from, to] = [toStoredClient(before), toStoredClient(after)]
  const reply = await askRedis(() =>
    redis.eval(ENTITLE_SCRIPT, 1, clientKey(before.id), from.aliases, from.program, to.aliases, to.program),
  )
  return reply === 'ok'
}

const ENTITLE_SCRIPT = `
local aliases, program = unpack(redis.call('HMGET', KEYS[1], 'aliases', 'program'))
if aliases ~= ARGV[1] or program ~= ARGV[2] then return 'moved' end
redis.call('HSET', KEYS[1], 'aliases', ARGV[3], 'program', ARGV[4])
return 'ok'
`
