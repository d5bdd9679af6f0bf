import type { Redis } from 'ioredis'
import type { Client } from '../clients/client.ts'
import { type LoggedSignal, viewOf } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAYED } from '../redis/keys.ts'
import type { Debts, Lane } from './outbox.ts'
import { type Records, readRecords } from './records.ts'
import { isRegistrationTest } from './test-fire.ts'
import { enabledWebhooks } from './webhooks.ts'

/** What a client with an enabled webhook is to be owed, and its lane. */
export type Debtor = Debts & { readonly lane: Lane }

const BLOCK = 500

/** Whether a client may get a signal now: a test goes to its addressee, others to entitled clients. */
export const isEntitled = (client: Client, signal: LoggedSignal): boolean =>
  signal.onlyFor === null
    ? client.status === 'active' && client.aliases.includes(signal.alias)
    : signal.onlyFor === client.id

/**
 * The recipients of these signals, which ascend, each signal with the previous number that its recipient may see: the
 * newest of its aliases and of its tests that the relay has passed. So a client without a webhook for a while sees
 * the gap, and the number agrees with what it can pull. Everything is read once for all signals.
 */
export async function debtorsOf(redis: Redis, signals: readonly LoggedSignal[]): Promise<readonly Debtor[]> {
  const [enabled, relayed] = await Promise.all([
    enabledWebhooks(redis),
    askRedis(() => redis.hgetall(RELAYED)),
  ])
  const isForAll = signals.some(({ onlyFor }) => onlyFor === null)
  const addressed = new Set(signals.map(({ onlyFor }) => onlyFor))
  const readers = isForAll ? enabled : enabled.filter(client => addressed.has(client))
  // All blocks are asked for together: under load each reply waits for deliveries.
  const reading: Promise<readonly Records[]>[] = []
  for (let from = 0; from < readers.length; from += BLOCK)
    reading.push(readRecords(redis, readers.slice(from, from + BLOCK)))
  return (await Promise.all(reading)).flat().flatMap(({ record, webhook }) => {
    const owed = record === null ? [] : owedTo(record, signals, relayed)
    const lane = webhook.lane === 'slow' ? 'slow' : 'fast'
    return record === null || owed.length === 0 ? [] : [{ client: record.id, lane, signals: owed }]
  })
}

function owedTo(
  client: Client,
  signals: readonly LoggedSignal[],
  relayed: Readonly<Record<string, string>>,
): Debts['signals'] {
  const owed: { seq: number; prev: number }[] = []
  const isVisible = viewOf(client)
  let prev = Number(relayed[testsOf(client.id)] ?? 0)
  for (const alias of client.aliases) prev = Math.max(prev, Number(relayed[alias] ?? 0))
  for (const signal of signals) {
    // The test of a registration was sent by the registration itself.
    if (isEntitled(client, signal) && !isRegistrationTest(signal)) owed.push({ seq: signal.seq, prev })
    if (isVisible(signal)) prev = signal.seq
  }
  return owed
}

const testsOf = (client: string): string => `test:${client}`

/** The kind under which a signal is recorded as the newest. */
export const kindOf = ({ alias, onlyFor }: LoggedSignal): string =>
  onlyFor === null ? alias : testsOf(onlyFor)
