// Deliveries for tests: a subscriber with a webhook, and a world whose clock and answers are made. Processes and benches use
// it too, so it needs no test runner.
import type { Redis } from 'ioredis'
import {
  createFaults,
  type DeliveryEvent,
  type DeliveryParts,
  drainDestination,
} from '#signals/delivery/deliver.ts'
import { type DeliveryOptions, startDelivery } from '#signals/delivery/delivery-service.ts'
import { createLogReader } from '#signals/log/read-log.ts'
import type { Destination } from '#signals/outbox/destination.ts'
import { readOutbox } from '#signals/outbox/outbox.ts'
import { debtorsOf, relayOnce } from '#signals/outbox/relay.ts'
import { createSecretBox, parseKeyRing, type SecretBox } from '#signals/outbox/secret-box.ts'
import { OPERATOR } from '#signals/outbox/setter.ts'
import { type SetAt, saveWebhook } from '#signals/outbox/webhooks.ts'
import { READY_PREFIX, waitingKey } from '#signals/redis/keys.ts'
import type { Outcome } from '#signals/send/outcome.ts'
import type { SendOrder } from '#signals/send/send.ts'
import { createWebhookSecret } from '#signals/send/sign.ts'
import { addClient, fire, NOW_MS, seededBytes } from './signals.ts'

export const BOX: SecretBox = createSecretBox(
  parseKeyRing(`k1:${Buffer.alloc(32, 7).toString('base64')}`),
  seededBytes('box'),
)

const secretBytes = seededBytes('webhook secrets')
const keyBytes = seededBytes('api keys')

export const owedCount = async (redis: Redis, client: string): Promise<number> =>
  (await redis.zcard(`${READY_PREFIX}${client}`)) + (await redis.zcard(waitingKey(client)))

/** The setter of webhooks for which it does not matter. */
export const BY_OPERATOR: SetAt = { ...OPERATOR, atMs: NOW_MS }

/** The setter with a key. */
export const byKey = (id: string): SetAt => ({ kind: 'key', id, atMs: NOW_MS })

/** An active client with an enabled webhook; gives its secret. */
export async function addSubscriber(
  redis: Redis,
  client: string,
  url: string,
  aliases: readonly string[] = ['alder'],
): Promise<string> {
  await addClient(redis, client, aliases, keyBytes)
  return addEndpoint(redis, client, url)
}

/** An enabled endpoint of a client that exists; gives its secret. */
export async function addEndpoint(redis: Redis, destination: Destination, url: string): Promise<string> {
  const secret = createWebhookSecret(secretBytes)
  const secrets = [{ text: secret, expiresAtMs: null }]
  await saveWebhook(redis, BOX, { destination, url, secrets }, BY_OPERATOR)
  return secret
}

export const delivered = (total_ms = 5): Outcome => ({
  ...{ kind: 'delivered', status: 200, retryAfterMs: null, first_byte_ms: total_ms, total_ms, excerpt: '' },
})

export const failed = (status: number | null = 500): Outcome => ({
  ...{ kind: 'failed', reason: status === null ? 'timeout' : 'status', status },
  ...{ retryAfterMs: null, first_byte_ms: null, total_ms: 5, excerpt: '' },
})

/** What a receiver answers. */
export type Answer = (order: SendOrder) => Outcome | Promise<Outcome>

/** A world in which a test says what time it is and what receivers answer. */
export function madeWorld(redis: Redis, answer: Answer = () => delivered()) {
  const clock = { ms: NOW_MS }
  const sent: SendOrder[] = []
  const events: DeliveryEvent[] = []
  const errors: unknown[] = []
  let tokens = 0
  const parts: DeliveryParts = {
    redis,
    box: BOX,
    now: () => clock.ms,
    elapsed: () => clock.ms,
    random: () => 0.5, // no jitter
    newToken: () => `worker-${++tokens}`,
    sleep: async () => {},
    startTimer,
    readSignal: createLogReader(redis).readSignal,
    send(order) {
      sent.push(order)
      return Promise.resolve(answer(order))
    },
    flightMs: 20_000,
    isStopping: () => false,
    faults: createFaults(),
    onEvent: event => void events.push(event),
    onError: error => void errors.push(error),
  }
  return {
    ...{ parts, clock, sent, events, errors },
    /** The numbers that were sent, and each with the one before it. */
    seqs: () => sent.map(({ signal }) => signal.seq),
    pairs: () => sent.map(({ signal, prevSeq }) => [signal.seq, prevSeq]),
    eventsOf: (wanted: DeliveryEvent['kind']) => events.filter(({ kind }) => kind === wanted),
  }
}

/** The highest of the random numbers: a shuffle by it leaves every list as it is. */
export const KEEPS_ORDER = () => 1 - Number.EPSILON

/** Carries the log into the outbox, and gives the clients that workers were to begin with. */
export async function relayAll(redis: Redis, now: () => number): Promise<readonly string[]> {
  const begun: string[] = []
  await relayOnce({
    redis,
    begin: (_, clients) => void begun.push(...clients),
    token: 'relay',
    readAfter: createLogReader(redis).readAfter,
    now,
    random: KEEPS_ORDER,
    debtorsOf: signals => debtorsOf(redis, signals),
  })
  return begun
}

/** The same, in which signals are fired and owed, and a worker delivers to `acme`. */
export function owingWorld(redis: Redis, answer?: Answer) {
  const world = madeWorld(redis, answer)
  let ids = 0
  return {
    ...world,
    /** Fires a signal under each alias, and relays. */
    async more(...aliases: readonly string[]): Promise<void> {
      for (const alias of aliases) await fire(redis, `s${++ids}`, alias)
      await relayAll(redis, world.parts.now)
    },
    drain: (lane: 'fast' | 'slow' = 'slow', destination: Destination = 'acme') =>
      drainDestination(world.parts, destination, lane),
  }
}

export type TestDelivery = Awaited<ReturnType<typeof startDelivery>> & {
  readonly events: DeliveryEvent[]
  readonly errors: unknown[]
}

export const REAL_CLOCK = { now: () => Date.now(), elapsed: () => performance.now() }

/** The whole delivery with the real clock, to receivers on loopback. What it reports is kept. */
export async function startTestDelivery(
  redisUrl: string,
  more: Partial<DeliveryOptions> = {},
): Promise<TestDelivery> {
  const events: DeliveryEvent[] = []
  const errors: unknown[] = []
  const delivery = await startDelivery({
    redisUrl,
    box: BOX,
    clock: { ...REAL_CLOCK, startTimer },
    random: Math.random,
    newToken: () => crypto.randomUUID(),
    resolveHost: async () => 'unknown',
    rules: { allowLoopback: true },
    onEvent: event => void events.push(event),
    onError: error => void errors.push(error),
    ...more,
  })
  return { ...delivery, events, errors }
}

/** A real timer. */
export const startTimer = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** Resolves as soon as something holds; what decides is that it holds, and never how long it took. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 5))
}

/** The state of a delivery; null if it was never owed. */
export const readDelivery = async (redis: Redis, seq: number, destination: Destination) =>
  (await readOutbox(redis, seq)).get(destination) ?? null
