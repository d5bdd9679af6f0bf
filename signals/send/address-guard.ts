// Deliveries go to public addresses only: which URLs are allowed, and which addresses connections may end at.

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { AttemptError } from './outcome.ts'

/** Development switch: allows `http`, ports above 1023 and loopback. Never in production. */
export type AddressRules = { readonly allowLoopback: boolean }

/** A URL or an address that deliveries must not go to. The message has what is expected, never an address. */
export class RefusedAddressError extends AttemptError {
  constructor(expected: string) {
    super('address_refused')
    this.message = `the webhook is refused: ${expected}`
    this.name = 'RefusedAddressError'
  }
}

/** It is logged with every line about the endpoint. */
const LONGEST_URL = 2048

/** Other ports would let a registration probe services that speak something else. */
const PORTS: readonly string[] = ['443', '8443']

const FIRST_UNPRIVILEGED_PORT = 1024

const PRIVATE_SUFFIX = /\.(?:localhost|local|internal|lan|home|corp|intranet|private|home\.arpa|onion)$/

/**
 * Parses the URL of a webhook. Throws RefusedAddressError unless it is https, without credentials, at an allowed
 * port, and its host is a public address or a public name. Names are resolved and checked when a connection is made.
 */
export function checkUrl(text: string, rules: AddressRules): URL {
  if (text.length > LONGEST_URL)
    throw new RefusedAddressError(`a URL has ${LONGEST_URL} characters at the most`)
  // `new URL` removes these or reads a backslash as a slash: the URL would differ from what was checked.
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(text))
    throw new RefusedAddressError('a URL has no blanks, backslashes or invisible characters')
  if (!URL.canParse(text)) throw new RefusedAddressError('expected a URL such as https://example.org/hook')
  const url = new URL(text)
  checkScheme(url, rules)
  if (url.username !== '' || url.password !== '')
    throw new RefusedAddressError('a URL holds no user and no password')
  checkPort(url, rules)
  checkHost(hostOf(url), rules)
  return url
}

/** Throws RefusedAddressError unless a connection may end at `address`, in the form that sockets report. */
export function checkAddress(address: string, { allowLoopback }: AddressRules): void {
  if (isPublicAddress(address) || (allowLoopback && isLoopbackAddress(address))) return
  throw new RefusedAddressError('its host is not a public address')
}

/** The host of a URL as resolvers and sockets take it: IPv6 without brackets. */
export const hostOf = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** `localhost` is not resolved: a resolver could answer anything. */
export const isLocalhost = (host: string): boolean => host === 'localhost'

function checkScheme(url: URL, { allowLoopback }: AddressRules): void {
  if (url.protocol === 'https:') return
  const host = hostOf(url)
  const isHere = isLocalhost(host) || isLoopbackAddress(host)
  if (url.protocol === 'http:' && allowLoopback && isHere) return
  throw new RefusedAddressError('expected a URL that begins with https://')
}

function checkPort({ port, protocol }: URL, { allowLoopback }: AddressRules): void {
  const isDefault = port === '' && protocol === 'https:'
  if (isDefault || PORTS.includes(port)) return
  if (allowLoopback && Number(port) >= FIRST_UNPRIVILEGED_PORT) return
  const others = allowLoopback ? `, or one from ${FIRST_UNPRIVILEGED_PORT} on` : ''
  throw new RefusedAddressError(`expected one of the ports ${PORTS.join(', ')}${others}`)
}

/** `new URL` has normalised every notation of IPv4 and every script's digits and dots. */
function checkHost(host: string, rules: AddressRules): void {
  if (isIP(host) !== 0) {
    checkAddress(host, rules)
    return
  }
  if (rules.allowLoopback && isLocalhost(host)) return
  const isName = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/.test(host)
  if (!isName || PRIVATE_SUFFIX.test(host))
    throw new RefusedAddressError('its host is not a public name: expected one such as hooks.example.org')
}

/** Global unicast, the only block from which IANA assigns IPv6 networks. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** NAT64: the last 32 bits are the IPv4 destination. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** Whether a normalised address is public. An IPv6 address with an embedded IPv4 one is checked by that. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text)
  if (address === null) return false
  // 6to4 and Teredo embed an IPv4 address too, and are always refused: `range` names them, and what is reserved.
  const isAssigned = address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST)
  return isAssigned && address.range() === 'unicast'
}

export const isLoopbackAddress = (text: string): boolean => parseAddress(text)?.range() === 'loopback'

/** Null for anything but a plain address: sockets report no zones and no other notations. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (isIP(text) === 0 || text.includes('%')) return null
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return address.match(NAT64) ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address
}
