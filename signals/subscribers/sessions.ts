// Sessions of subscribers on their page. A session is of one client, begun with a key or with a link of an operator, and ends at
// once with that key, or with the token of that operator or the activity of the account.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { ApiError } from '#core/contract/errors.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { clientOfText, findClient } from '../clients/clients.ts'
import { digestOf, type RandomBytes } from '../clients/token.ts'
import { MAIN_OPERATOR, type Operator, storedOperator } from '../operators/tokens.ts'
import type { Setter } from '../outbox/setter.ts'
import { askRedis } from '../redis/connect.ts'
import * as keys from '../redis/keys.ts'
import { runScript, TEXT_FUNCTION } from '../redis/script.ts'

/** Whose a session or a link is: of the holder of a key, or of a link of an operator, each with the digest of its token. */
const holder = z.union([
  z.object({ keyId: z.string(), digest: z.string() }),
  z.object({ operator: z.string(), digest: z.string() }),
])

type Holder = z.output<typeof holder>

const session = z.object({ holder, csrf: z.string() })

const link = z.object({ client: z.string(), holder })

export const SESSION_SECONDS = 8 * 3_600

export const LINK_SECONDS = 15 * 60

/** Sessions of a client at a time: a further one ends the oldest. */
export const MOST_SESSIONS = 20

/** What the token of a link begins with. */
export const LINK_TOKEN = 'hw_link_'

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** Makes a link that logs in once. Its token cannot be read again. Throws `not_found`, and `conflict` if the account is not active. */
export async function createLink(
  redis: Redis,
  client: string,
  { name: operator, digest }: Pick<Operator, 'name' | 'digest'>,
  random: RandomBytes,
  nowMs: number,
): Promise<{ readonly token: string; readonly expiresAtMs: number }> {
  const { id, status } = await findClient(redis, client)
  if (status !== 'active')
    throw new ApiError(
      'conflict',
      `the account of '${id}' is not active, so that a link would let nobody in: activate it first, with \`highwater ops clients activate ${id}\``,
    )
  const token = LINK_TOKEN + textOf(random(32))
  const record = JSON.stringify({ client: id, holder: { operator, digest } })
  await askRedis(() => redis.set(keys.accountLinkKey(digestOf(token)), record, 'EX', LINK_SECONDS))
  return { token, expiresAtMs: nowMs + LINK_SECONDS * 1_000 }
}

/** What a link is for, which is used up; null if there is none. */
export async function useLink(redis: Redis, token: string): Promise<z.output<typeof link> | null> {
  const text = await askRedis(() => redis.getdel(keys.accountLinkKey(digestOf(token))))
  return text === null ? null : link.parse(parseJson(text))
}

/** Begins a session; returns its token, for a cookie. */
export async function beginSession(
  redis: Redis,
  client: string,
  holder: Holder,
  random: RandomBytes,
  nowMs: number,
): Promise<string> {
  const token = `${client}.${textOf(random(32))}`
  const record = JSON.stringify({ holder, csrf: Buffer.from(random(16)).toString('hex') })
  const endsMs = nowMs + SESSION_SECONDS * 1_000
  const args = [digestOf(token), `${endsMs} ${record}`, nowMs, MOST_SESSIONS, SESSION_SECONDS]
  await runScript(redis, BEGIN_SCRIPT, [keys.accountSessionsKey(client)], ...args)
  return token
}

/** Forgets what has ended, and the oldest one where there are as many as may be. */
const BEGIN_SCRIPT = `
local digest, record, now, most, seconds = unpack(ARGV)
local all, oldest, ends, count = redis.call('HGETALL', KEYS[1]), nil, math.huge, 0
for i = 1, #all, 2 do
  local at = tonumber(string.match(all[i + 1], '^%d+'))
  if at <= tonumber(now) then
    redis.call('HDEL', KEYS[1], all[i])
  else
    count = count + 1
    if at < ends then oldest, ends = all[i], at end
  end
end
if count >= tonumber(most) then redis.call('HDEL', KEYS[1], oldest) end
redis.call('HSET', KEYS[1], digest, record)
return redis.call('EXPIRE', KEYS[1], seconds)
`

export const endSession = (redis: Redis, token: string): Promise<unknown> =>
  askRedis(() => redis.hdel(keys.accountSessionsKey(clientOf(token)), digestOf(token)))

const clientOf = (token: string): string => token.split('.', 1)[0]!

/** The session of a token and its form token; null if there is none, or it has ended. `mainDigest` is that of OPERATOR_TOKEN. */
export async function readSession(redis: Redis, token: string, mainDigest: string, nowMs: number) {
  const client = clientOf(token)
  const names = [keys.accountSessionsKey(client), keys.clientKey(client), keys.OPERATOR_TOKENS]
  const reply = await runScript(redis, READ_SCRIPT, names, digestOf(token), keys.apiKeyKey(''))
  const [text, clientText, keyDigest, keyEndsMs, operatorText] = reply as Reply
  if (!(nowMs < Number.parseInt(text, 10))) return null
  const found = clientOfText(clientText, client)
  if (found === null) return null
  const { holder, csrf } = session.parse(parseJson(text.slice(text.indexOf(' ') + 1)))
  const sessionOf = (by: Setter) => ({ client: found, by, csrf })
  if ('keyId' in holder) {
    const isLive = keyDigest === holder.digest && nowMs < Number(keyEndsMs || Number.POSITIVE_INFINITY)
    return isLive ? sessionOf({ kind: 'key', id: holder.keyId }) : null
  }
  const issued = operatorText === '' ? null : storedOperator.parse(parseJson(operatorText)).digest
  const live = holder.operator === MAIN_OPERATOR ? mainDigest : issued
  const isLive = live === holder.digest && found.status === 'active'
  return isLive ? sessionOf({ kind: 'link', id: holder.operator }) : null
}

/** All texts; '' for what there is not. */
type Reply = [session: string, client: string, keyDigest: string, keyEndsMs: string, operator: string]

/** The session, its client, and what it hangs on: a key or the token of an operator. */
const READ_SCRIPT = `${TEXT_FUNCTION}
local session = redis.call('HGET', KEYS[1], ARGV[1])
if not session then return {'', '', '', '', ''} end
local holder = cjson.decode(string.match(session, '{.*')).holder
local key = holder.keyId and redis.call('HMGET', ARGV[2] .. holder.keyId, 'sha256', 'expires_at') or {}
local operator = holder.operator and redis.call('HGET', KEYS[3], holder.operator)
return {session, text(redis.call('HGETALL', KEYS[2])), key[1] or '', key[2] or '', operator or ''}
`
