// Which addresses belong to the public internet. Whatever is not known to, does not.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Global unicast, the only block that IANA gives IPv6 networks from. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** What of it is nobody's: protocol assignments with Teredo, documentation, 6to4, documentation, the sink of AS112. */
const SPECIAL = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '2620:4f:8000::/48'].map(cidr =>
  ipaddr.IPv6.parseCIDR(cidr),
)

/** NAT64: the last 32 bits are the IPv4 address that the packet ends at. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** Whether `text`, an address in its plain form, is public. An IPv6 address that carries an IPv4 one is judged by that. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text)
  if (address === null) return false
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast'
  // 6to4 and Teredo carry an IPv4 address too, and are refused whatever it is.
  return address.match(GLOBAL_UNICAST) && !SPECIAL.some(block => address.match(block))
}

/** Whether `text`, an address in its plain form, is this machine's own. */
export function isLoopbackAddress(text: string): boolean {
  return parseAddress(text)?.range() === 'loopback'
}

/** Null for what is no address, has a zone, or hides behind another notation: sockets report none of these. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (isIP(text) === 0 || text.includes('%')) return null
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return address.match(NAT64) ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : address
}
