// Delivering as a whole: everything between the log and the subscribers' webhooks, in one process. Several may run it.
import type { Redis } from 'ioredis'
import type { ObjectStore } from '#storage/object-store.ts'
import { connectRedis } from '../redis/connect.ts'
import type { AddressRules } from './address-guard.ts'
import { createFaults, type DeliveryEvent, type DeliveryParts } from './delivery-parts.ts'
import type { StartTimer } from './guarded-connect.ts'
import { createHighWater } from './high-water.ts'
import { dueCounts } from './outbox.ts'
import { WAITS, type Waits } from './policy.ts'
import { type RelayParts, runRelay, shuffled } from './relay.ts'
import type { ResolveHost } from './resolve-host.ts'
import type { SecretBox } from './secret-box.ts'
import { createSender, createSendSignal } from './send.ts'
import { subscribersOf } from './subscribers.ts'
import { FLIGHT_MS } from './work.ts'
import { startWatchdog, startWorkers, type Workers } from './workers.ts'

export type DeliveryOptions = {
  readonly redisUrl: string
  readonly box: SecretBox
  /** Where the high-water mark is kept. */
  readonly privateStore: ObjectStore
  readonly clock: { readonly now: () => number; readonly startTimer: StartTimer }
  readonly dice: { readonly random: () => number; readonly newToken: () => string }
  readonly resolveHost: ResolveHost
  readonly rules: AddressRules
  /** Authorities to trust in place of the machine's, PEM. */
  readonly ca?: string
  /** How long a dead worker, a client that another process left due, or a dead relay goes unnoticed; shorter in tests. */
  readonly pace?: { readonly flightMs: number; readonly pollEveryMs: number; readonly leaseMs?: number }
  /** WAITS but in tests. */
  readonly waits?: Waits
  readonly onEvent: (event: DeliveryEvent) => void
  /** Told of what went wrong and is tried again. */
  readonly onError: (error: unknown) => void
}

export type Delivery = {
  /** Begins no other delivery, gives those under way a moment, breaks off the rest: that is our fault, and owed as before. */
  readonly stop: () => Promise<void>
}

/** What requests under way get at a stop: as much as a healthy receiver needs, less than an orchestrator waits. */
export const STOP_GRACE_MS = 3_000

/** A read of the log that waits for longer than it was told to hangs on a dead connection. */
const WAITING_TIMEOUT_MS = 5_000

/** How long after the grace a result waits for a Redis that is away: then it is lost, and the signal is sent again. */
const SETTLE_GRACE_MS = 1_000

/** Starts to deliver. Rejects where Redis cannot be reached. */
export async function startDelivery(options: DeliveryOptions): Promise<Delivery> {
  const { redisUrl, clock, onError } = options
  const redis = connectRedis(redisUrl, onError)
  const waiting = connectRedis(redisUrl, onError, { commandTimeout: WAITING_TIMEOUT_MS })
  const connections = [redis, waiting]
  try {
    await Promise.all(connections.map(connection => connection.connect()))
  } catch (error) {
    for (const connection of connections) connection.disconnect()
    throw error
  }

  const stopped = new AbortController()
  const sender = createSender({ ...options, ...clock })
  const givenUp = new AbortController()
  const parts = {
    ...deliveryParts(options, redis, createSendSignal(sender, clock.now), stopped.signal),
    sleep: createSleep(clock.startTimer, givenUp.signal),
  }
  const workers = startWorkers(parts, clock.startTimer, onError, options.pace?.pollEveryMs)
  const relay = runRelay(relayParts(options, redis, workers.begin), waiting, stopped.signal, onError)
  const stopWatchdog = startWatchdog(
    { ...parts, ...workers, counts: () => dueCounts(redis, clock.now()) },
    clock.startTimer,
    onError,
  )
  return {
    async stop() {
      stopped.abort()
      stopWatchdog()
      waiting.disconnect()
      const stopTimers = [
        clock.startTimer(STOP_GRACE_MS, () => void sender.close()),
        clock.startTimer(STOP_GRACE_MS + SETTLE_GRACE_MS, () => givenUp.abort()),
      ]
      await Promise.all([workers.close(), relay])
      for (const stopTimer of stopTimers) stopTimer()
      await sender.close()
      for (const connection of connections) connection.disconnect()
    },
  }
}

const deliveryParts = (
  { box, clock, dice, pace, waits, onEvent, onError }: DeliveryOptions,
  redis: Redis,
  send: DeliveryParts['send'],
  stopped: AbortSignal,
): Omit<DeliveryParts, 'sleep'> => ({
  redis,
  box,
  now: clock.now,
  ...dice,
  send,
  flightMs: pace?.flightMs ?? FLIGHT_MS,
  waits: waits ?? WAITS,
  isStopping: () => stopped.aborted,
  faults: createFaults(),
  onEvent,
  onError,
})

const relayParts = (
  { clock, dice, pace, privateStore }: DeliveryOptions,
  redis: Redis,
  begin: Workers['begin'],
): RelayParts => ({
  redis,
  begin,
  highWater: createHighWater(privateStore),
  token: dice.newToken(),
  leaseMs: pace?.leaseMs,
  now: clock.now,
  shuffle: list => shuffled(list, dice.random),
  subscribersOf: signals => subscribersOf(redis, signals),
})

/** Waits, and rejects once a stop waits no longer. */
const createSleep =
  (startTimer: StartTimer, givenUp: AbortSignal): DeliveryParts['sleep'] =>
  ms =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => {
        stopTimer()
        reject(
          new Error('the service was stopped while Redis was away: a signal that was sent is sent again'),
        )
      }
      const stopTimer = startTimer(ms, () => {
        givenUp.removeEventListener('abort', giveUp)
        resolve()
      })
      if (givenUp.aborted) giveUp()
      else givenUp.addEventListener('abort', giveUp, { once: true })
    })
