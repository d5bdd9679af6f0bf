import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { isLocalhost } from './address-guard.ts'
import { UNPROVEN_FAULT_MS } from './policy.ts'

/** Later ones replace the oldest, whose next failure is ours once more. */
const MOST_FAILING_HOSTS = 4_096

/** So many different hosts do not fail at one time for reasons of their own. */
const MANY_HOSTS = 3

/** Whether a name server is needed for a host. */
const isName = (host: string): boolean => isIP(host) === 0 && !isLocalhost(host)

/**
 * Decides whose fault it is that a host could not be connected to. It is the host's if an attempt that began after the
 * first of its failures has connected to another host by its name: name servers and network work then. An attempt that
 * began before may have been answered before the network was lost; an address or this machine proves nothing, because no
 * name server was needed, and perhaps no network. As long as none has, it is ours if many hosts fail, or if the failure
 * `isDoubtful`, as that of a name server is. A service with a single receiver never has such a proof: after
 * UNPROVEN_FAULT_MS a doubtful fault is the host's without one.
 */
export function createFaultJudge(now: () => number) {
  let begun = 0
  /** The last attempt that proves that name servers and network work. */
  let proof = 0
  /** By host, its first attempt that failed, and when it did. */
  const failing = new LRUCache<string, { attempt: number; atMs: number }>({ max: MOST_FAILING_HOSTS })
  const areMany = (): boolean => {
    const unproven = [...failing].filter(([host, { attempt }]) => attempt >= proof && isName(host))
    return unproven.length >= MANY_HOSTS
  }
  return {
    /** Call it when an attempt to connect to `host` begins, and one of these when it ends. */
    begin(host: string) {
      const attempt = ++begun
      return {
        onConnected(): void {
          if (isName(host)) proof = Math.max(proof, attempt)
          failing.delete(host)
        },
        /** Whether a failure is the host's. */
        isOfHost(isDoubtful: boolean): boolean {
          const first = failing.get(host) ?? { attempt, atMs: now() }
          failing.set(host, first)
          if (proof > first.attempt) return true
          if (areMany()) return false
          return !isDoubtful || now() - first.atMs >= UNPROVEN_FAULT_MS
        },
      }
    },
  }
}
