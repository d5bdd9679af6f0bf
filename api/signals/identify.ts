import { LRUCache } from 'lru-cache'
import { ApiError } from '#core/contract/errors.ts'
import { createAddressCounts } from '#signals/address-counts.ts'
import { authenticate } from '#signals/clients/authenticate.ts'
import type { Identity } from '#signals/clients/client.ts'
import { digestOf, parseToken } from '#signals/clients/token.ts'
import type { Exchange, SignalsParts } from './exchange.ts'
import type { RemoteAddress } from './remote-address.ts'

/** Keys that were valid here before: still looked up when their address has failed too often. */
export const MOST_KNOWN_KEYS = 10_000

/** Identifies the caller by the header `X-API-Key`. Throws `unauthorized`. */
export type Identify = (c: Exchange) => Promise<Identity>

/**
 * A malformed key is refused without asking Redis, and so is any key after too many wrong ones from its address,
 * except keys that were valid before, so that a guessing neighbour locks nobody out.
 */
export function createIdentify(
  { redis, clock }: Pick<SignalsParts, 'redis' | 'clock'>,
  remoteAddress: RemoteAddress,
): Identify {
  const failed = createFailedKeys(clock.elapsed)
  const known = new LRUCache<string, true>({ max: MOST_KNOWN_KEYS })
  return async c => {
    const token = c.req.header('x-api-key')
    if (token === undefined || token === '') throw unauthorized(MISSING_KEY)
    if (parseToken(token) === null) throw unauthorized(WRONG_KEY)
    const address = remoteAddress(c)
    const digest = digestOf(token)
    if (failed.isSpent(address) && !known.has(digest)) throw unauthorized(WRONG_KEY)
    const identity = await authenticate(redis, token, clock.now())
    if (identity === null) {
      failed.add(address)
      known.delete(digest)
      throw unauthorized(WRONG_KEY)
    }
    known.set(digest, true)
    return identity
  }
}

const MISSING_KEY =
  'an API key is needed in the header X-API-Key; one in the address is ignored, and seen by others'

export const WRONG_KEY = 'the API key is mistyped, unknown or revoked'

export const unauthorized = (message: string): ApiError =>
  new ApiError('unauthorized', message, { headers: { 'www-authenticate': 'ApiKey header="X-API-Key"' } })

/** Failures per minute and address. Guessing from many addresses is hopeless at 256 bits. */
export const MOST_FAILURES = 20

export const WINDOW_MS = 60_000

/** Counts the failures of addresses per minute, in bounded memory; `elapsed` is a monotonic clock. */
export function createFailedKeys(elapsed: () => number) {
  const { add, countOf } = createAddressCounts(WINDOW_MS, elapsed)
  return { add, isSpent: (address: string) => countOf(address) >= MOST_FAILURES }
}
