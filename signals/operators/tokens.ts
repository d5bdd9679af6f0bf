// Tokens of operators, by name: Redis has their digests alone.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { nearestTo } from '#core/contract/near-miss.ts'
import { parseJson } from '#storage/parse-json.ts'
import { assertId } from '../clients/client.ts'
import { digestOf, matchesDigest, type RandomBytes } from '../clients/token.ts'
import { askRedis } from '../redis/connect.ts'
import { OPERATOR_TOKENS } from '../redis/keys.ts'

/** The name of OPERATOR_TOKEN, which no other token can have. */
export const MAIN_OPERATOR = 'operator'

const TOKEN_BYTES = 32

const stored = z.object({ digest: z.string(), created_at: z.string() })

/** Issues a token for a name, and returns it; it cannot be read again. Throws `conflict` if the name has one. */
export async function issueToken(
  redis: Redis,
  name: string,
  random: RandomBytes,
  nowMs: number,
): Promise<string> {
  assertId('name', name)
  const token = `hw_op_${Buffer.from(random(TOKEN_BYTES)).toString('base64url')}`
  const record = JSON.stringify({ digest: digestOf(token), created_at: toIsoInstant(nowMs) })
  const isNew =
    name !== MAIN_OPERATOR && (await askRedis(() => redis.hsetnx(OPERATOR_TOKENS, name, record))) === 1
  if (isNew) return token
  throw new ApiError(
    'conflict',
    `there is a token '${name}' already: revoke it first, or choose another name`,
  )
}

/** The names of all tokens but OPERATOR_TOKEN, and when each was issued. */
export async function listTokens(
  redis: Redis,
): Promise<readonly { readonly name: string; readonly created_at: string }[]> {
  const all = await askRedis(() => redis.hgetall(OPERATOR_TOKENS))
  return Object.entries(all)
    .map(([name, text]) => ({ name, created_at: stored.parse(parseJson(text)).created_at }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Revokes a token and its sessions. Throws `not_found`. */
export async function revokeToken(redis: Redis, name: string): Promise<void> {
  if ((await askRedis(() => redis.hdel(OPERATOR_TOKENS, name))) === 1) return
  const nearest = nearestTo(name, await askRedis(() => redis.hkeys(OPERATOR_TOKENS)))
  const hint = nearest === null ? '' : ` did you mean '${nearest}'?`
  throw new ApiError(
    'not_found',
    `there is no token '${name.slice(0, 64)}';${hint} \`highwater ops tokens list\` lists them`,
  )
}

/** The name of a token that was issued; null if it was not, or was revoked. */
export async function ownerOf(redis: Redis, token: string): Promise<string | null> {
  const all = Object.entries(await askRedis(() => redis.hgetall(OPERATOR_TOKENS)))
  const found = all.find(([, text]) => matchesDigest(token, stored.parse(parseJson(text)).digest))
  return found?.[0] ?? null
}

/** Whether a name still has a token. */
export const isOperator = async (redis: Redis, name: string): Promise<boolean> =>
  name === MAIN_OPERATOR || (await askRedis(() => redis.hexists(OPERATOR_TOKENS, name))) === 1
