import type { Redis } from 'ioredis'
import type { Client } from '../clients/client.ts'
import { readRecords } from '../delivery/work.ts'
import type { LoggedSignal } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAYED } from '../redis/keys.ts'
import type { Lane } from './outbox.ts'
import { isRegistrationTest } from './test-fire.ts'
import { enabledWebhooks } from './webhooks.ts'

/** A client with an enabled webhook, its lane, and the number of the previous signal that it may see. */
export type Subscriber = { readonly client: string; readonly prev: number; readonly lane: Lane }

const BLOCK = 500

/** Whether a client may get a signal now: a test goes to its addressee, others to entitled clients. */
export const isEntitled = (client: Client, signal: LoggedSignal): boolean =>
  signal.onlyFor === null
    ? client.status === 'active' && client.aliases.includes(signal.alias)
    : signal.onlyFor === client.id

/**
 * The recipients of each signal, in the order of the numbers, each with the previous number that it may see: the
 * newest of its aliases and of its tests that the relay has passed. So a client without a webhook for a while sees
 * the gap, and the number agrees with what it can pull. Everything is read once for all signals.
 */
export async function subscribersOf(
  redis: Redis,
  signals: readonly LoggedSignal[],
): Promise<readonly (readonly Subscriber[])[]> {
  const [enabled, relayed] = await Promise.all([
    enabledWebhooks(redis),
    askRedis(() => redis.hgetall(RELAYED)),
  ])
  const isForAll = signals.some(({ onlyFor }) => onlyFor === null)
  const addressed = new Set(signals.map(({ onlyFor }) => onlyFor))
  const readers = await readReaders(
    redis,
    isForAll ? enabled : enabled.filter(client => addressed.has(client)),
  )
  const newest = new Map(Object.entries(relayed).map(([kind, seq]) => [kind, Number(seq)]))
  return signals.map(signal => {
    const found = subscribersAmong(readers, signal, newest)
    newest.set(kindOf(signal), signal.seq)
    return found
  })
}

type Reader = { readonly client: Client; readonly lane: Lane }

/** All blocks are asked for together: under load each reply waits for deliveries. */
async function readReaders(redis: Redis, clients: readonly string[]): Promise<readonly Reader[]> {
  const reading: ReturnType<typeof readRecords>[] = []
  for (let from = 0; from < clients.length; from += BLOCK)
    reading.push(readRecords(redis, clients.slice(from, from + BLOCK)))
  return (await Promise.all(reading)).flat().flatMap(({ record: client, webhook }) => {
    const lane = webhook.lane === 'slow' ? 'slow' : 'fast'
    return client === null ? [] : [{ client, lane }]
  })
}

function subscribersAmong(
  readers: readonly Reader[],
  signal: LoggedSignal,
  newest: ReadonlyMap<string, number>,
): readonly Subscriber[] {
  if (isRegistrationTest(signal)) return [] // sent by the registration itself
  const found: Subscriber[] = []
  for (const { client, lane } of readers) {
    if (isEntitled(client, signal)) found.push({ client: client.id, lane, prev: newestOf(newest, client) })
  }
  return found
}

function newestOf(newest: ReadonlyMap<string, number>, { id, aliases }: Client): number {
  let seq = newest.get(testsOf(id)) ?? 0
  for (const alias of aliases) seq = Math.max(seq, newest.get(alias) ?? 0)
  return seq
}

const testsOf = (client: string): string => `test:${client}`

/** The kind under which a signal is recorded as the newest. */
export const kindOf = ({ alias, onlyFor }: LoggedSignal): string =>
  onlyFor === null ? alias : testsOf(onlyFor)
