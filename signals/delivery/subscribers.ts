import type { Redis } from 'ioredis'
import type { Client } from '../clients/client.ts'
import { clientOfText } from '../clients/client-text.ts'
import type { LoggedSignal } from '../log/read-log.ts'
import { viewOf } from '../log/visible.ts'
import { askRedis } from '../redis/connect.ts'
import { CLIENT_PREFIX, RELAYED, WEBHOOK_PREFIX, WEBHOOKS } from '../redis/keys.ts'
import { TEXT_FUNCTION } from '../redis/record-text.ts'
import { createScript, runScript } from '../redis/script.ts'
import type { Lane } from './delivery-queue.ts'
import type { Debt } from './ledger.ts'
import { isRegistrationTest } from './test-fire.ts'
import { enabledWebhooks } from './webhooks.ts'

/** Who has a webhook that is enabled, in which lane it is, and the signal before this one that it may see. */
export type Subscriber = Debt & { readonly lane: Lane }

/** Clients that are read at once. */
const BLOCK = 500

/** Whether a client may have a signal now: a test is for whom it addresses, everything else for whoever is entitled. */
export const isEntitled = (client: Client, signal: LoggedSignal): boolean =>
  (client.status === 'active' || signal.onlyFor === client.id) && viewOf(client)(signal)

/**
 * The clients that a signal is to be delivered to, each with the number of the signal before it that it may see: the
 * newest of its aliases, and of the tests for it, that the relay has passed, `passed` among them. So a client that had no webhook for a while
 * sees the gap, and what it is told agrees with what it can pull.
 */
export async function subscribersOf(
  redis: Redis,
  signal: LoggedSignal,
  passed: ReadonlyMap<string, number>,
): Promise<readonly Subscriber[]> {
  if (isRegistrationTest(signal)) return [] // sent by the registration itself
  const [enabled, relayed] = await Promise.all([
    enabledWebhooks(redis),
    askRedis(() => redis.hgetall(RELAYED)),
  ])
  const candidates = signal.onlyFor === null ? enabled : enabled.filter(client => client === signal.onlyFor)
  if (candidates.length === 0) return []
  const newest = { ...relayed, ...Object.fromEntries(passed) }
  const found: Subscriber[] = []
  for (let i = 0; i < candidates.length; i += BLOCK) {
    found.push(...(await entitledAmong(redis, candidates.slice(i, i + BLOCK), signal, newest)))
  }
  return found
}

type Relayed = Readonly<Record<string, string | number>>

/** Gives for each client of ARGV its record as a text, and the lane of its webhook or ''. */
const READ_SCRIPT = createScript(`${TEXT_FUNCTION}
local reply = {}
for _, client in ipairs(ARGV) do
  reply[#reply + 1] = text(redis.call('HGETALL', '${CLIENT_PREFIX}' .. client))
  reply[#reply + 1] = redis.call('HGET', '${WEBHOOK_PREFIX}' .. client, 'lane') or ''
end
return reply
`)

async function entitledAmong(
  redis: Redis,
  clients: readonly string[],
  signal: LoggedSignal,
  relayed: Relayed,
): Promise<Subscriber[]> {
  const values = (await runScript(redis, READ_SCRIPT, [WEBHOOKS], ...clients)) as string[] // two a client
  return clients.flatMap((client, i) => {
    const record = clientOfText(values[2 * i]!, client)
    if (record === null || !isEntitled(record, signal)) return []
    const lane = values[2 * i + 1] === 'slow' ? ('slow' as const) : ('fast' as const)
    return [{ client, lane, prev: newestRelayed(relayed, record) }]
  })
}

function newestRelayed(relayed: Relayed, { id, aliases }: Client): number {
  let newest = Number(relayed[testsOf(id)] ?? 0)
  for (const alias of aliases) newest = Math.max(newest, Number(relayed[alias] ?? 0))
  return newest
}

/** Under which the newest test for a client is noted. */
const testsOf = (client: string): string => `test:${client}`

/** Under which a signal is noted as the newest of its kind. */
export const kindOf = ({ alias, onlyFor }: LoggedSignal): string =>
  onlyFor === null ? alias : testsOf(onlyFor)
