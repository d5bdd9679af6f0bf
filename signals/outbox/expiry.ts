// Entries that came too late for an endpoint: they are not pushed any more, stay in the pull, and are named there.
import type { Redis } from 'ioredis'
import type { Signal } from '#core/contract/signal.ts'
import type { LoggedSignal } from '../log/read-log.ts'
import { RELAY_CURSOR } from '../redis/keys.ts'
import { runScript } from '../redis/script.ts'
import { destinationOf, endpointOf } from './destination.ts'
import { type DeliveryState, NAMES } from './outbox.ts'
import { endpointsOf } from './webhooks.ts'

/**
 * Whether an attempt that is due is not to be made, because the signal was committed more than `afterS` seconds ago: a live entry
 * alone, and none that somebody had resent. A position must be closed however late: a `flat` never expires. Null is never.
 */
export function isExpired(
  { body, atMs }: LoggedSignal,
  { resent }: Pick<DeliveryState, 'resent'>,
  afterS: number | null,
  nowMs: number,
): boolean {
  if (afterS === null || resent === true || nowMs - atMs <= afterS * 1_000) return false
  const { mode, is_test, action } = JSON.parse(body) as Signal // the log holds signals alone
  return mode === 'LIVE' && !is_test && (action === 'long' || action === 'short')
}

export type Expired = { readonly seq: number; readonly endpoints: readonly string[] }

/** Of some signals, those that expired at endpoints that the client has, or at one of them, and where. */
export async function readExpired(
  redis: Redis,
  client: string,
  endpoint: string | null,
  signals: readonly LoggedSignal[],
): Promise<readonly Expired[]> {
  const names = endpoint === null ? await endpointsOf(redis, client) : [endpoint]
  const destinations = names.map(name => destinationOf(client, name))
  if (destinations.length === 0) return []
  const args = [destinations.length, ...destinations, ...signals.map(({ seq }) => seq)]
  const found = (await runScript(redis, EXPIRED_SCRIPT, [RELAY_CURSOR], ...args)) as string[][] // as it returns
  return found.map(([seq, ...there]) => ({ seq: Number(seq), endpoints: there.map(endpointOf) }))
}

/**
 * KEYS: any, for routing only. ARGV: how many destinations, the destinations, then numbers. Returns {number, destinations ...} for
 * each that expired somewhere: most pulls have none, and states are not sent to be parsed.
 */
const EXPIRED_SCRIPT = `${NAMES}
local last = 1 + tonumber(ARGV[1])
local found = {}
for i = last + 1, #ARGV do
  local row = {ARGV[i]}
  for k, state in ipairs(redis.call('HMGET', outbox(ARGV[i]), unpack(ARGV, 2, last))) do
    if state and string.find(state, '"status":"expired"', 1, true) then row[#row + 1] = ARGV[k + 1] end
  end
  if #row > 1 then found[#found + 1] = row end
end
return found
`
