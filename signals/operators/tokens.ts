// Tokens of operators, by name: Redis has their digests alone. A session on the page belongs to the digest of its
// token, so no later token of the same name continues it.
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { toIsoInstant } from '#core/calendar.ts'
import { ApiError } from '#core/contract/errors.ts'
import { parseJson } from '#storage/json-bytes.ts'
import { assertId, unknownName } from '../clients/clients.ts'
import { digestOf, type RandomBytes } from '../clients/token.ts'
import { askRedis } from '../redis/connect.ts'
import { OPERATOR_TOKENS, sessionsKey } from '../redis/keys.ts'

/** The name of OPERATOR_TOKEN, which no other token can have. */
export const MAIN_OPERATOR = 'operator'

/** What a route may need of a token. */
export type Scope = 'read' | 'fire' | 'clients' | 'everything'

/** A scope as a token has it: that to fire may be limited to one strategy. */
export const grant = z.string().regex(/^(?:read|fire(?::[a-z0-9][a-z0-9_-]{0,63})?|clients|everything)$/)

const TOKEN_BYTES = 32

export const storedOperator = z.object({
  digest: z.string(),
  created_at: z.string(),
  scopes: z.array(z.string()).readonly().default(['everything']), // those of earlier releases have none
})

/** Who asks: the holder of a token. */
export type Operator = z.output<typeof storedOperator> & { readonly name: string }

/** The holder of OPERATOR_TOKEN. */
export const mainOperator = (token: string): Operator => ({
  name: MAIN_OPERATOR,
  digest: digestOf(token),
  scopes: ['everything'],
  created_at: '', // it was not issued
})

/** Everyone with a token that was issued, by name. */
export async function listOperators(redis: Redis): Promise<readonly Operator[]> {
  const all = await askRedis(() => redis.hgetall(OPERATOR_TOKENS))
  return Object.entries(all)
    .map(([name, text]) => ({ name, ...storedOperator.parse(parseJson(text)) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The scope that a token lacks, null if it lacks none; `alias` is the strategy that it would fire, if it is known. */
export function missingScope({ scopes }: Operator, needed: Scope, alias?: string | null): string | null {
  const exact = needed === 'fire' && alias ? `fire:${alias}` : needed
  return ['everything', needed, exact].some(scope => scopes.includes(scope)) ? null : exact
}

/** Whether a token allows some use of a scope: firing one strategy is some. */
export const mayUse = (who: Operator, needed: Scope): boolean =>
  missingScope(who, needed) === null || who.scopes.some(scope => scope.startsWith(`${needed}:`))

/** Throws `forbidden` if a token lacks a scope. */
export function assertScope(who: Operator, needed: Scope, alias?: string | null): void {
  const missing = missingScope(who, needed, alias)
  if (missing === null) return
  const got = `got that of '${who.name}' with ${who.scopes.join(', ')}`
  const fix = `\`highwater ops tokens add NAME --scopes ${missing}\` issues one`
  throw new ApiError('forbidden', `expected a token with the scope ${missing}, ${got}: ${fix}`)
}

/** Issues a token for a name, and returns it; it cannot be read again. Throws `conflict` if the name has one. */
export async function issueToken(
  redis: Redis,
  name: string,
  scopes: readonly string[],
  random: RandomBytes,
  nowMs: number,
): Promise<string> {
  assertId('name', name)
  const token = `hw_op_${Buffer.from(random(TOKEN_BYTES)).toString('base64url')}`
  const record = JSON.stringify({ digest: digestOf(token), created_at: toIsoInstant(nowMs), scopes })
  const isNew =
    name !== MAIN_OPERATOR && (await askRedis(() => redis.hsetnx(OPERATOR_TOKENS, name, record))) === 1
  if (isNew) return token
  throw new ApiError(
    'conflict',
    `there is a token '${name}' already: revoke it first, or choose another name`,
  )
}

/** Revokes a token and ends its sessions. Throws `not_found`. */
export async function revokeToken(redis: Redis, name: string): Promise<void> {
  const all = await listOperators(redis)
  const found = all.find(each => each.name === name)
  if (found === undefined) {
    const known = all.map(each => each.name)
    throw unknownName('token', name.slice(0, 64), known)
  }
  await askRedis(() => redis.multi().hdel(OPERATOR_TOKENS, name).del(sessionsKey(found.digest)).exec())
}
