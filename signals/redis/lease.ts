// Leases: keys with an expiry that name their holder. If the holder has died, another process takes the lease when it expires.
import type { Redis } from 'ioredis'
import { type Holder, holder as holderShape } from '#storage/lock.ts'
import { liveLeaseKey } from './keys.ts'
import { runScript } from './script.ts'

/** Lua: whether a lease lasts longer than any is given for, because the clock was set back: its holder may be dead. */
export const STRANDED = `
local function is_stranded(left, ms) return left > 2 * ms end
`

/**
 * Takes or renews a lease that is free, ours, or held by `from`, and returns null; else returns the holder. One of ours that
 * lasts for `enoughMs` more is left as it is: a renewal waits for the disk.
 */
export const claimLease = (
  redis: Redis,
  key: string,
  mine: string,
  leaseMs: number,
  { from = '', enoughMs = leaseMs } = {},
): Promise<unknown> => runScript(redis, CLAIM_SCRIPT, [key], mine, from, leaseMs, enoughMs)

const CLAIM_SCRIPT = `${STRANDED}
local there, left = redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])
local mine, from, ms, enough = unpack(ARGV)
if there and there ~= mine and there ~= from and not is_stranded(left, ms) then return there end
if there == mine and left >= tonumber(enough) and left <= tonumber(ms) then return false end
redis.call('SET', KEYS[1], mine, 'PX', ms)
return false
`

/** Releases a lease, unless another process has it by now. */
export const releaseLease = async (redis: Redis, key: string, mine: string): Promise<void> =>
  void (await runScript(redis, RELEASE_SCRIPT, [key], mine))

const RELEASE_SCRIPT = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return false`

/** A live runner that is silent for this long is gone. */
export const LEASE_MS = 15_000

/** Several renewals fit into a lease. */
export const RENEW_MS = 4_000

/**
 * The lease on a market. It saves a second runner its work and informs the operator; what prevents duplicate signals
 * is the cursor of the commit.
 */
export type Lease = Awaited<ReturnType<typeof takeLease>>

/**
 * Takes the lease of a market. The lease of a process on this machine that has ended (`isGone`) is taken over at
 * once. Throws if another runner has it.
 */
export async function takeLease(
  redis: Redis,
  market: string,
  holder: Holder,
  isGone: (holder: Holder) => boolean,
) {
  const key = liveLeaseKey(market)
  const mine = JSON.stringify(holder)
  const claim = (from = '') => claimLease(redis, key, mine, LEASE_MS, { from })
  let there = await claim()
  const other = parseHolder(there)
  if (other !== undefined && isGone(other)) there = await claim(String(there))
  if (there !== null) throw taken(market, there)
  return {
    /** Extends the lease. Throws if another runner has it. */
    async renew(): Promise<void> {
      const found = await claim()
      if (found !== null) throw taken(market, found)
    },
    release: () => releaseLease(redis, key, mine),
  }
}

const parseHolder = (there: unknown): Holder | undefined =>
  there === null ? undefined : holderShape.safeParse(JSON.parse(String(there))).data

function taken(market: string, there: unknown): Error {
  const holder = parseHolder(there)
  const shown =
    holder === undefined
      ? there
      : `process ${holder.pid} on ${holder.host}, since ${holder.started}; it is free ${LEASE_MS / 1_000} s after it ended`
  return new Error(
    `another runner follows ${market}: ${shown}. Stop it first, or let this one be; two would only wait for each other`,
  )
}
