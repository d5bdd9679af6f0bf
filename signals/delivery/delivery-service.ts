// Delivery as a whole, from the log to the subscribers' webhooks, in one process. Several may run it.
import { setTimeout as waitFor } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { createLogReader } from '../log/read-log.ts'
import { dueCounts, moveSchedules } from '../outbox/outbox.ts'
import { debtorsOf, type RelayParts, runRelay } from '../outbox/relay.ts'
import {
  CLOCK_TOLERANCE_MS,
  createSteadyClock,
  readClockDifference,
  readRedisStep,
  readRedisTime,
  type SteadyClock,
} from '../redis/clock.ts'
import { askRedis, connectRedis } from '../redis/connect.ts'
import { RELAY_LEASE } from '../redis/keys.ts'
import type { ConnectOptions, StartTimer } from '../send/guarded-connect.ts'
import type { SendMail } from '../send/mail.ts'
import { WAITS } from '../send/policy.ts'
import { createSender, createSendSignal } from '../send/send.ts'
import { sendNotices } from '../subscribers/notices.ts'
import { createFaults, type DeliveryParts } from './deliver.ts'
import { FLIGHT_MS } from './scripts.ts'
import { createWatchdog, startWorkers } from './workers.ts'

export type DeliveryOptions = Pick<DeliveryParts, 'box' | 'random' | 'newToken' | 'onEvent' | 'onError'> &
  Pick<ConnectOptions, 'resolveHost' | 'rules' | 'ca'> & {
    readonly redisUrl: string
    readonly clock: Pick<DeliveryParts, 'now' | 'elapsed'> & Pick<ConnectOptions, 'startTimer'>
    /** What all times of deliveries are by; default a clock of its own. */
    readonly steady?: SteadyClock
    /** How long a dead worker, a client left due by another process, or a dead relay goes unnoticed; shorter in tests. */
    readonly pace?: {
      readonly flightMs: number
      readonly pollEveryMs: number
      readonly leaseMs?: number
      readonly noticesEveryMs?: number
    }
    /** Sends notices by mail, if there is a server. */
    readonly mail?: SendMail | null
  }

/** The grace for requests under way: enough for a healthy receiver, less than an orchestrator waits. */
export const STOP_GRACE_MS = 3_000

/** A blocking read of the log that takes longer hangs on a dead connection. */
const WAITING_TIMEOUT_MS = 5_000

/** How long after the grace a result waits for Redis; then it is lost, and the signal is sent again. */
const SETTLE_GRACE_MS = 1_000

/** How often it is checked whether the workers are stuck. */
const WATCH_EVERY_MS = 5_000

/** After the last round of notices has ended. */
const NOTICES_EVERY_MS = 5_000

/** How often the clock of the machine is compared with that of Redis. */
const CLOCK_EVERY_MS = 1_000

/** Starts delivery. Rejects if Redis cannot be reached. */
export async function startDelivery(options: DeliveryOptions) {
  const { clock, pace, onError, steady = createSteadyClock(clock) } = options
  const { redis, waiting, wasOff } = await connect(options, steady)
  const { parts, sender, readAfter, stopped, givenUp } = createParts(options, redis, steady)
  const workers = startWorkers(parts, clock.startTimer, pace?.pollEveryMs)
  const token = options.newToken()
  const hasLease = async (): Promise<boolean> => (await askRedis(() => redis.get(RELAY_LEASE))) === token
  const relayParts: RelayParts = {
    ...parts,
    begin: workers.begin,
    token,
    readAfter,
    leaseMs: pace?.leaseMs,
    debtorsOf: signals => debtorsOf(redis, signals),
  }
  const relay = runRelay(relayParts, waiting, stopped.signal, onError)
  const look = createWatchdog({ ...parts, ...workers, counts: () => dueCounts(redis, steady.now()) })
  const keepTime = createTimeKeeper(parts, clock.now, steady, wasOff)
  const inform = async (): Promise<void> => {
    if (await hasLease()) await sendNotices({ ...parts, sender, mail: options.mail ?? null })
  }
  const stopTasks = [
    repeat(parts, pace?.noticesEveryMs ?? NOTICES_EVERY_MS, inform, clock.startTimer),
    repeat(parts, WATCH_EVERY_MS, look, clock.startTimer),
    repeat(parts, CLOCK_EVERY_MS, keepTime, clock.startTimer),
  ]
  return {
    /** Whether the lease of the relay is ours. */
    hasLease,
    /**
     * Starts no other delivery, waits for those under way, then aborts the rest: they stay owed and use up no attempt.
     */
    async stop(): Promise<void> {
      stopped.abort()
      for (const stopTask of stopTasks) stopTask()
      waiting.disconnect()
      const stopTimers = [
        clock.startTimer(STOP_GRACE_MS, () => void sender.close()),
        clock.startTimer(STOP_GRACE_MS + SETTLE_GRACE_MS, () => givenUp.abort()),
      ]
      await Promise.all([workers.close(), relay])
      for (const stopTimer of stopTimers) stopTimer()
      await sender.close()
      redis.disconnect()
    },
  }
}

/** Connects, and starts by the clock of Redis if that of the machine differs: no schedule and no signature was made by the machine's. */
async function connect({ redisUrl, clock, onError }: DeliveryOptions, steady: SteadyClock) {
  const redis = connectRedis(redisUrl, onError)
  const waiting = connectRedis(redisUrl, onError, { commandTimeout: WAITING_TIMEOUT_MS })
  try {
    await Promise.all([redis.connect(), waiting.connect()])
    const wasOff = (await readClockDifference(redis, clock.now)) > CLOCK_TOLERANCE_MS
    if (wasOff) steady.follow(await readRedisTime(redis))
    return { redis, waiting, wasOff }
  } catch (error) {
    for (const connection of [redis, waiting]) connection.disconnect()
    throw error
  }
}

/** `stopped` ends what waits for signals; `givenUp` what waits for Redis to take a result. */
function createParts(options: DeliveryOptions, redis: Redis, steady: SteadyClock) {
  const { clock, pace, newToken } = options
  const [stopped, givenUp] = [new AbortController(), new AbortController()]
  const sender = createSender({ ...options, now: steady.now, startTimer: clock.startTimer })
  const { readSignal, readAfter } = createLogReader(redis)
  const own = newToken()
  let turns = 0 // a count, because random bytes take as long as a signature
  const parts: DeliveryParts = {
    ...options,
    redis,
    now: steady.now,
    elapsed: clock.elapsed,
    newToken: () => `${own}-${++turns}`,
    readSignal,
    waits: WAITS,
    sleep: ms => waitFor(ms, undefined, { signal: givenUp.signal }).catch(giveUp),
    send: createSendSignal(sender, steady.now),
    flightMs: pace?.flightMs ?? FLIGHT_MS,
    isStopping: () => stopped.signal.aborted,
    faults: createFaults(),
  }
  return { parts, sender, readAfter, stopped, givenUp }
}

/**
 * Follows the clock of the machine, in small steps and in a jump, while the clock of Redis agrees with it. A time that
 * Redis does not confirm is used neither for schedules nor in a signature. `wasOffAtStart` says whether Redis denied that of the machine.
 */
function createTimeKeeper(
  { redis, onEvent }: DeliveryParts,
  machineNow: () => number,
  steady: SteadyClock,
  wasOffAtStart: boolean,
): () => Promise<void> {
  let wasOff = wasOffAtStart
  return async () => {
    const jumpMs = steady.jumpMs()
    const offMs = await readClockDifference(redis, machineNow)
    const [isJump, isOff] = [Math.abs(jumpMs), offMs].map(ms => ms > CLOCK_TOLERANCE_MS)
    if (isJump || isOff) onEvent({ kind: 'clock', jumpMs, offMs })
    if (isOff) {
      wasOff = true
      return
    }
    steady.follow() // at once, by what was compared: what is sent while schedules are moved is signed by the right time
    // Also over a restart, and for one of several processes; Redis may have been set back long before this machine was.
    const stepMs = Math.min(await readRedisStep(redis), wasOff ? jumpMs : 0)
    if (stepMs < -CLOCK_TOLERANCE_MS) {
      if (!isJump) onEvent({ kind: 'clock', jumpMs: stepMs, offMs })
      await moveSchedules(redis, stepMs)
    }
    wasOff = false
  }
}

function giveUp(): never {
  throw new Error('the service was stopped while Redis was away: a signal that was sent is sent again')
}

/** Runs something so long after its last end, again and again until the service stops; returns a function that stops its timer. */
function repeat(
  { onError, isStopping }: DeliveryParts,
  everyMs: number,
  run: () => Promise<void>,
  startTimer: StartTimer,
): () => void {
  let stopTimer = (): void => {}
  const wait = (): void => {
    if (!isStopping()) stopTimer = startTimer(everyMs, () => void run().catch(onError).finally(wait))
  }
  wait()
  return () => stopTimer()
}
