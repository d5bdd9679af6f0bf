import ipaddr from 'ipaddr.js'
import type { Exchange } from './exchange.ts'

/** One IPv6 subscriber has a /64. */
const IPV6_GROUPS = 4

/** The caller's network: IPv4 whole, the first 64 bits of IPv6. */
export type RemoteAddress = (c: Exchange) => string

/**
 * Determines the caller behind proxies, given as addresses and networks (`10.0.0.0/8`). Each proxy appends its peer to
 * X-Forwarded-For, which is read from the right for as long as the writer is trusted: what is further left may be made up.
 */
export function createRemoteAddress(trustedProxies: readonly string[]): RemoteAddress {
  const networks = trustedProxies.map(toNetwork)
  return c => {
    const hops = (c.req.header('x-forwarded-for') ?? '').split(',')
    let address = parseAddress(c.env?.incoming?.socket.remoteAddress ?? '')
    while (address !== null && ipaddr.subnetMatch(address, { trusted: networks }, 'none') === 'trusted') {
      const next = parseAddress(hops.pop() ?? '')
      if (next === null) break
      address = next
    }
    return address === null ? 'unknown' : neighbourhoodOf(address)
  }
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Some proxies add a port: `203.0.113.7:51234`, `[2001:db8::1]:51234`. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/

function parseAddress(text: string): Address | null {
  const trimmed = text.trim()
  const [, bracketed, plain] = WITH_PORT.exec(trimmed) ?? []
  const address = bracketed ?? plain ?? trimmed
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
    ? ipaddr.process(address)
    : null
}

const toNetwork = (text: string): [address: Address, bits: number] => {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.toByteArray().length * 8]
}

function neighbourhoodOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString()
  const groups = address.parts.slice(0, IPV6_GROUPS).map(part => part.toString(16))
  return `${groups.join(':')}::/64`
}
