// Access control: the Host header must be one of ours, which a page of another site cannot achieve, and the
// token must match.
import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '#core/contract/errors.ts'
import type { Exchange } from './exchange.ts'
import type { OperatorParts } from './parts.ts'

/** The host names of this machine, and the bound address. */
export const hostsOf = (host: string, more: readonly string[] = []): ReadonlySet<string> =>
  new Set(['127.0.0.1', 'localhost', '[::1]', bracketed(host), ...more].map(name => name.toLowerCase()))

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/**
 * Throws unless the Host header is allowed. A name that an attacker points to 127.0.0.1 (DNS rebinding) would let his
 * page send requests here.
 */
export function assertHost(c: Exchange, { hosts }: Pick<OperatorParts, 'hosts'>): void {
  const name = new URL(c.req.url).hostname.toLowerCase()
  const given = (c.req.header('host') ?? name).toLowerCase().replace(/:\d+$/, '')
  if (hosts.has(given) && hosts.has(name)) return
  throw new ApiError(
    'forbidden',
    'this host name is not one of the operator interface: ask for the address that it listens on',
  )
}

/** Throws `unauthorized` unless the request carries the token. */
export function assertBearer(c: Exchange, { token }: Pick<OperatorParts, 'token'>): void {
  const [, given] = /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
  if (given !== undefined && isSame(given, token)) return
  throw new ApiError(
    'unauthorized',
    'the operator token is needed: Authorization: Bearer TOKEN, as in OPERATOR_TOKEN',
    {
      headers: { 'www-authenticate': 'Bearer realm="operator"' },
    },
  )
}

/** Compares two texts in constant time. */
export const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
