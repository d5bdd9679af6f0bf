// Access control: the Host header must be ours, which a page of another site cannot achieve, and the token must match.
import { ApiError } from '#core/contract/errors.ts'
import { digestOf, matchesDigest } from '#signals/clients/token.ts'
import { listOperators, mainOperator, type Operator } from '#signals/operators/tokens.ts'
import type { Exchange } from '../service/exchange.ts'
import { createGuessDelay } from '../service/guessing.ts'
import type { OperatorParts } from './exchange.ts'

export const hostsOf = (host: string, more: readonly string[] = []): ReadonlySet<string> =>
  new Set(['127.0.0.1', 'localhost', '[::1]', bracketed(host), ...more].map(name => name.toLowerCase()))

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Throws unless the Host header is ours: a name that an attacker points to 127.0.0.1 (DNS rebinding) would let his page in. */
export function assertHost(c: Exchange, { hosts }: OperatorParts): void {
  const name = new URL(c.req.url).hostname.toLowerCase()
  const given = (c.req.header('host') ?? name).toLowerCase().replace(/:\d+$/, '')
  if (hosts.has(given) && hosts.has(name)) return
  throw new ApiError(
    'forbidden',
    'this host name is not one of the operator interface: ask for the address that it listens on',
  )
}

/** The operator whose token a text is; null if it is none. Rejects with `rate_limited` if too many wrong ones wait. */
export type WhoseToken = (given: string) => Promise<Operator | null>

export function createTokenCheck(parts: OperatorParts): WhoseToken {
  const { token, redis } = parts
  const delay = createGuessDelay(parts, 'too many wrong operator tokens: send the one in OPERATOR_TOKEN')
  return async given => {
    if (matchesDigest(given, digestOf(token))) return mainOperator(token)
    const all = await listOperators(redis)
    const holder = all.find(({ digest }) => matchesDigest(given, digest))
    if (holder === undefined) await delay('') // one count for all addresses
    return holder ?? null
  }
}

/** The operator whose token the request carries. Throws `unauthorized` if it carries none. */
export async function operatorOf(c: Exchange, whoseToken: WhoseToken): Promise<Operator> {
  const [, given] = /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
  const who = given === undefined ? null : await whoseToken(given)
  if (who !== null) return who
  throw new ApiError(
    'unauthorized',
    'the operator token is needed: Authorization: Bearer TOKEN, as in OPERATOR_TOKEN',
    { headers: { 'www-authenticate': 'Bearer realm="operator"' } },
  )
}
