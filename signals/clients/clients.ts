// Clients: the record of one, what it may see, and its changes. Each change is one command or one script, so that no reader sees
// half of it.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { didYouMean } from '#core/contract/near-miss.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { askRedis } from '../redis/connect.ts'
import { accountSessionsKey, CLIENTS, clientKey, REVISE } from '../redis/keys.ts'
import { rememberText, runScript, toRecord, tryAgain } from '../redis/script.ts'

export const CLIENT_STATUSES = ['pending', 'active'] as const

export type Client = Readonly<z.output<typeof stored>> & { readonly id: string }

/** The caller, and the id of its key. */
export type Identity = { readonly client: Client; readonly keyId: string }

const stored = z.object({
  /** The operator's own name for what was sold. */
  tier: z.string(),
  /** `pending` until the operator activates the account. */
  status: z.enum(CLIENT_STATUSES),
  aliases: z.string().transform(text => z.array(z.string()).readonly().parse(JSON.parse(text))),
  program: z.enum(['0', '1']).transform(text => text === '1'),
  created_at: z.string(),
  /** Where notices are mailed; null if they are not. */
  email: z.string().nullable().default(null),
  /** Whether the account was active and the operator suspended it. */
  suspended: z
    .literal('1')
    .optional()
    .transform(text => text === '1'),
})

/** Parses a stored record; null if there is none. Throws if it is malformed. */
const toClient = (id: string, fields: Readonly<Record<string, string>>): Client | null =>
  Object.keys(fields).length === 0 ? null : { id, ...stored.parse(fields) }

const toStoredClient = ({ tier, status, aliases, program, created_at, email }: Client) => ({
  tier,
  status,
  aliases: JSON.stringify(aliases),
  program: program ? '1' : '0',
  created_at,
  ...(email === null ? {} : { email }),
})

/** Throws `validation_error` unless a text is a valid id of a client, a tier or an alias. */
export function assertId(param: string, value: string): void {
  if (ID_PATTERN.test(value)) return
  const reason = 'expected 1 to 64 of a-z, 0-9, - and _, the first one a letter or a digit'
  throw invalidParameter(param, value.slice(0, ECHO_LENGTH), reason)
}

const ECHO_LENGTH = 80

/** Clients whose latest record is cached: some megabytes. */
const MOST_CLIENTS = 10_000

/** The client of a record that was read as one text; null if there is none. Each text is parsed once. */
export const clientOfText = rememberText(MOST_CLIENTS, (text, id) => toClient(id, toRecord(text)))

/** A change of what a client may see, and of where its notices are mailed. Absent fields stay as they are. */
type ClientChange = {
  /** Replaces the whole list. */
  readonly aliases?: readonly string[] | undefined
  readonly add?: readonly string[] | undefined
  readonly remove?: readonly string[] | undefined
  readonly program?: boolean | undefined
  readonly email?: string | null | undefined
}

/** A book has at most a thousand strategies. */
const MOST_ALIASES = 1_000

/** The first state of a client: without it, pending and entitled to nothing. */
type ClientBeginning = ClientChange & Partial<Pick<Client, 'status'>>

/**
 * Adds a client atomically. Throws `conflict` if the id exists, `validation_error`, and what entitleClient throws.
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
  assertAliases(change, programAlias)
  const created_at = toIsoInstant(nowMs)
  const blank = { aliases: [], program: false, email: null, suspended: false }
  const client = changed({ id, tier, status, created_at, ...blank }, change)
  const fields = Object.entries(toStoredClient(client)).flat()
  const reply = await runScript(redis, CREATE_SCRIPT, [CLIENTS, clientKey(id)], id, created_at, ...fields)
  if (reply !== 'ok') throw new ApiError('conflict', `there is a client '${id}' already: choose another id`)
  return client
}

/** Activates an account. Throws `not_found`. */
export const activateClient = (redis: Redis, id: string): Promise<Client> => setStatus(redis, id, 'active')

/** Suspends an account: its keys stay valid, its pulls, deliveries and sessions of links end. Throws `not_found`. */
export const suspendClient = (redis: Redis, id: string): Promise<Client> => setStatus(redis, id, 'pending')

/**
 * Changes entitlements and the mail address. The alias of the program is not a strategy; its flag is used instead. Throws
 * `not_found`, or `validation_error` on an invalid alias.
 */
export async function entitleClient(
  redis: Redis,
  id: string,
  change: ClientChange,
  programAlias: string,
): Promise<Client> {
  assertAliases(change, programAlias)
  return tryAgain(`the client '${id}'`, async () => {
    const before = await findClient(redis, id)
    const after = changed(before, change)
    const args = [before, after]
      .map(toStoredClient)
      .flatMap(({ aliases, program, email = '' }) => [aliases, program, email])
    return (await runScript(redis, ENTITLE_SCRIPT, [clientKey(id)], id, ...args)) === 'ok' ? after : null
  })
}

export const getClient = async (redis: Redis, id: string): Promise<Client | null> =>
  toClient(id, await askRedis(() => redis.hgetall(clientKey(id))))

export async function findClient(redis: Redis, id: string): Promise<Client> {
  const client = await getClient(redis, id)
  if (client === null) throw await unknownClient(redis, id)
  return client
}

/** The refusal of an id that names no client, with the nearest id that does. */
export async function unknownClient(redis: Redis, id: string): Promise<ApiError> {
  return unknownName('client', id.slice(0, ECHO_LENGTH), await askRedis(() => redis.smembers(CLIENTS)))
}

/** The refusal of a name, with the nearest one that there is. */
export const unknownName = (what: 'client' | 'token', name: string, known: readonly string[]): ApiError =>
  new ApiError(
    'not_found',
    `there is no ${what} '${name}';${didYouMean(name, known, ' ')} \`highwater ops ${what}s list\` lists them`,
  )

/** Idempotent: called again after a lost reply it finds its own client and returns ok. */
const CREATE_SCRIPT = `${REVISE}
if redis.call('EXISTS', KEYS[2]) == 1 then
  return redis.call('HGET', KEYS[2], 'created_at') == ARGV[2] and 'ok' or 'exists'
end
redis.call('HSET', KEYS[2], unpack(ARGV, 3))
redis.call('SADD', KEYS[1], ARGV[1])
revise(ARGV[1])
return 'ok'
`

/** An account that was never active is pending, and not suspended. */
async function setStatus(redis: Redis, id: string, status: Client['status']): Promise<Client> {
  const reply = await runScript(redis, STATUS_SCRIPT, [clientKey(id), accountSessionsKey(id)], id, status)
  if (reply !== 'ok') throw await unknownClient(redis, id)
  return findClient(redis, id)
}

const STATUS_SCRIPT = `${REVISE}
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end
if ARGV[2] == 'active' then
  redis.call('HDEL', KEYS[1], 'suspended')
elseif redis.call('HGET', KEYS[1], 'status') == 'active' then
  redis.call('HSET', KEYS[1], 'suspended', '1')
end
if ARGV[2] ~= 'active' then -- or a session of a link would go on once the account is active again
  local sessions = redis.call('HGETALL', KEYS[2])
  for i = 1, #sessions, 2 do
    if string.find(sessions[i + 1], '"operator":', 1, true) then redis.call('HDEL', KEYS[2], sessions[i]) end
  end
end
redis.call('HSET', KEYS[1], 'status', ARGV[2])
revise(ARGV[1])
return 'ok'
`

function assertAliases({ aliases = [], add = [] }: ClientChange, programAlias: string): void {
  for (const alias of [...aliases, ...add]) {
    assertId('aliases', alias)
    if (alias !== programAlias) continue
    const reason = `'${alias}' is the program and no strategy: set its flag instead`
    throw invalidParameter('aliases', alias, reason)
  }
}

function changed(client: Client, change: ClientChange): Client {
  const { aliases, add = [], remove = [], program = client.program, email = client.email } = change
  const asked = [...(aliases ?? client.aliases), ...add]
  const wanted = new Set(asked.filter(alias => !remove.includes(alias)))
  if (wanted.size > MOST_ALIASES) {
    const reason = `${wanted.size} aliases are more than the ${MOST_ALIASES} that a client may have`
    throw invalidParameter('aliases', String(wanted.size), reason)
  }
  return { ...client, aliases: [...wanted].sort(), program, email }
}

/** Replaces what was read, unless it changed meanwhile. */
const ENTITLE_SCRIPT = `${REVISE}
local aliases, program, email = unpack(redis.call('HMGET', KEYS[1], 'aliases', 'program', 'email'))
if aliases ~= ARGV[2] or program ~= ARGV[3] or (email or '') ~= ARGV[4] then return 'moved' end
redis.call('HSET', KEYS[1], 'aliases', ARGV[5], 'program', ARGV[6])
if ARGV[7] == '' then redis.call('HDEL', KEYS[1], 'email') else redis.call('HSET', KEYS[1], 'email', ARGV[7]) end
revise(ARGV[1])
return 'ok'
`
