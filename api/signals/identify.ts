import { LRUCache } from 'lru-cache'
import { ApiError } from '#core/contract/errors.ts'
import { authenticate } from '#signals/clients/api-keys.ts'
import type { Client, Identity } from '#signals/clients/clients.ts'
import { digestOf, parseToken } from '#signals/clients/token.ts'
import type { Exchange } from '../service/exchange.ts'
import type { SignalsParts, SignalsRoute } from './exchange.ts'

/** Wrong keys that are remembered by their digest: some megabytes. */
export const MOST_WRONG_KEYS = 10_000

/** Then a wrong key is looked up again, in case it came back with a Redis that was restored. */
export const WRONG_KEY_MS = 10_000

/**
 * Identifies the caller by the header `X-API-Key`, or throws `unauthorized`; or by a key that was given in another way, or null.
 * Looks every key up, whatever else came from its address: a valid key always works. A malformed one, and one that was wrong a
 * moment ago, is refused without Redis; guessing 256 bits is hopeless at any rate.
 */
export function createIdentify({ redis, clock }: Pick<SignalsParts, 'redis' | 'clock'>) {
  const wrong = new LRUCache<string, true>({
    max: MOST_WRONG_KEYS,
    ttl: WRONG_KEY_MS,
    perf: { now: clock.elapsed },
    ttlResolution: 0,
  })
  const ofKey = async (c: Exchange, token: string): Promise<Identity | null> => {
    const parsed = parseToken(token)
    if (parsed === null) return null
    c.set('keyId', parsed.id)
    const digest = digestOf(token)
    if (wrong.has(digest)) return null
    const identity = await authenticate(redis, token, clock.now())
    if (identity === null) wrong.set(digest, true)
    else c.set('client', identity.client.id)
    return identity
  }
  const ofRequest = async (c: Exchange): Promise<Identity> => {
    const token = c.req.header('x-api-key')
    if (token === undefined || token === '') throw unauthorized(MISSING_KEY)
    const identity = await ofKey(c, token)
    if (identity === null) throw unauthorized(WRONG_KEY)
    return identity
  }
  return { ofKey, ofRequest }
}

const MISSING_KEY =
  'an API key is needed in the header X-API-Key; one in the address is ignored, and seen by others'

export const WRONG_KEY = 'the API key is mistyped, unknown or revoked'

export const unauthorized = (message: string): ApiError =>
  new ApiError('unauthorized', message, { headers: { 'www-authenticate': 'ApiKey header="X-API-Key"' } })

/** Throws if a client may not call a group of routes. The program is a separate entitlement, so for it the account need not be active. */
export function assertMayCall(group: SignalsRoute['group'], { status, program }: Client): void {
  if (group === 'account' && status !== 'active')
    throw new ApiError('account_not_active', 'the key is valid, and the account waits for its activation')
  if (group !== 'program' || program) return
  const why = 'the key is valid, and the accumulation program is not among what it may see'
  throw new ApiError('not_entitled', why)
}
