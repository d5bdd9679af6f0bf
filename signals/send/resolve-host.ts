import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '#storage/error-code.ts'

/**
 * The addresses of a name. `unknown`: it does not exist or has no address, the subscriber's fault. `unanswered`: no name server
 * answers, or it cannot say: it, the zone or what is between them does not work.
 */
export type Resolution = readonly string[] | 'unknown' | 'unanswered'

export type ResolveHost = (host: string) => Promise<Resolution>

/** Two of these fit into the time that a connection may take. */
const QUERY_TIMEOUT_MS = 1_000
const QUERY_TRIES = 2

/** How long the answer for the other family is waited for (RFC 8305, 3). */
const OTHER_FAMILY_MS = 50

/**
 * Asks the name servers of this machine, or those given, for IPv4 before IPv6. Not `dns.lookup`, which blocks a
 * thread of the pool while a name server is silent: four dead names would stop every delivery.
 */
export function createHostResolver(servers: readonly string[] = []): ResolveHost {
  let resolver = createResolver(servers)
  return async host => {
    const used = resolver
    const [v4, v6] = [settle(used.resolve4(host)), settle(used.resolve6(host))]
    const resolution = merge(await Promise.all([inTime(v4, v6), inTime(v6, v4)]))
    // Reads the configuration again after a silence: the servers may have changed.
    if (resolution === 'unanswered' && used === resolver) resolver = createResolver(servers)
    return resolution
  }
}

function createResolver(servers: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES })
  if (servers.length > 0) resolver.setServers(servers)
  return resolver
}

/** The answer for a family; none if the other one has addresses and this one takes longer: some drop questions for IPv6. */
async function inTime(answer: Promise<Resolution>, other: Promise<Resolution>): Promise<Resolution> {
  const hasOther = other.then(found =>
    typeof found === 'string' ? answer : sleep(OTHER_FAMILY_MS, 'unanswered' as const),
  )
  return Promise.race([answer, hasOther])
}

/** Answers about the name itself. SERVFAIL and REFUSED are about the server: they say nothing about the name. */
const SAYS_NOTHING_THERE = /^E(?:NOTFOUND|NODATA|BADNAME|NONAME)$/

const settle = (query: Promise<string[]>): Promise<Resolution> =>
  query.catch((error: unknown) => (SAYS_NOTHING_THERE.test(String(codeOf(error))) ? 'unknown' : 'unanswered'))

function merge(resolutions: readonly Resolution[]): Resolution {
  const addresses = resolutions.flatMap(each => (typeof each === 'string' ? [] : each))
  if (addresses.length > 0) return addresses
  return resolutions.includes('unanswered') ? 'unanswered' : 'unknown'
}
