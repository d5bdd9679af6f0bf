import type { Redis } from 'ioredis'
import { askRedis } from '../redis/connect.ts'
import { RELAY_LEASE } from '../redis/keys.ts'
import { releaseLease } from '../redis/release-lease.ts'

/** How long a relay may be silent before another takes over: far longer than a step, far shorter than anybody notices. */
export const LEASE_MS = 3_000

/** A lease that has a smaller share left is renewed: a write waits for the disk, and most signals need not wait for this one. */
const RENEW_BELOW = 2 / 3

const RENEW_SCRIPT = `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return 1
end
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0
`

/** Takes or keeps the lease of the relay. False where another process has it. */
export async function holdLease(redis: Redis, token: string, leaseMs: number = LEASE_MS): Promise<boolean> {
  const renewBelowMs = Math.floor(leaseMs * RENEW_BELOW)
  const reply = await askRedis(() => redis.eval(RENEW_SCRIPT, 1, RELAY_LEASE, token, leaseMs, renewBelowMs))
  return reply === 1
}

/** Gives the lease back, so that another process need not wait for its end. */
export const giveBackLease = (redis: Redis, token: string): Promise<void> =>
  releaseLease(redis, RELAY_LEASE, token)
