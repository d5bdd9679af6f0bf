import type { Redis } from 'ioredis'
import { z } from 'zod'
import { liveLeaseKey } from './keys.ts'
import { releaseLease, runScript, STRANDED } from './script.ts'

/** A runner that is silent for this long is gone. */
export const LEASE_MS = 15_000

/** Several renewals fit into a lease. */
export const RENEW_MS = 4_000

/**
 * The lease on a market. It saves a second runner its work and informs the operator; what prevents duplicate signals
 * is the cursor of the commit.
 */
export type Lease = Awaited<ReturnType<typeof takeLease>>

export class LeaseError extends Error {
  constructor(market: string, holder: string) {
    super(
      `another runner follows ${market}: ${holder}. Stop it first, or let this one be; two would only wait for each other`,
    )
    this.name = 'LeaseError'
  }
}

const holderShape = z.object({ pid: z.number(), host: z.string(), started: z.string() })

export type Holder = Readonly<z.output<typeof holderShape>>

/**
 * Takes the lease of a market. The lease of a process on this machine that has ended (`isGone`) is taken over at
 * once. Throws a LeaseError if another runner has it.
 */
export async function takeLease(
  redis: Redis,
  market: string,
  holder: Holder,
  isGone: (holder: Holder) => boolean,
) {
  const key = liveLeaseKey(market)
  const mine = JSON.stringify(holder)
  const claim = (from: string) => runScript(redis, CLAIM, [key], mine, from, LEASE_MS)
  /** Extends the lease. Throws if another runner has it. */
  const renew = async (): Promise<void> => {
    const there = await claim('')
    if (there !== null) throw new LeaseError(market, describe(there))
  }
  const there = await claim('')
  const other = there === null ? null : parseHolder(there)
  const isOver = other !== null && isGone(other)
  if (there !== null && (!isOver || (await claim(String(there))) !== null)) {
    throw new LeaseError(market, describe(there))
  }
  return { renew, release: () => releaseLease(redis, key, mine) }
}

/** Takes a lease that is free, ours, or held by the given holder; else returns the holder. */
const CLAIM = `${STRANDED}
local there = redis.call('GET', KEYS[1])
local is_held = there and not is_stranded(redis.call('PTTL', KEYS[1]), ARGV[3])
if is_held and there ~= ARGV[1] and there ~= ARGV[2] then return there end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return false
`

const parseHolder = (there: unknown): Holder | null =>
  holderShape.safeParse(JSON.parse(String(there))).data ?? null

function describe(there: unknown): string {
  const holder = parseHolder(there)
  return holder === null
    ? String(there)
    : `process ${holder.pid} on ${holder.host}, since ${holder.started}; it is free ${LEASE_MS / 1_000} s after it ended`
}
