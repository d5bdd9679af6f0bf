// The workers of one process: they take clients that are due from the schedules of the outbox; there is no
// other queue.
import { LANES, type Lane, readSchedule } from '../outbox/outbox.ts'
import type { StartTimer } from '../send/guarded-connect.ts'
import type { Outcome } from '../send/outcome.ts'
import { MOST_SUSPECTS, SLOT_GIVEN_BACK_AFTER_MS } from '../send/policy.ts'
import type { DeliveryParts, SendOrder } from './delivery-parts.ts'
import { drainClient } from './worker.ts'

/**
 * Clients served at the same time, beside those whose receiver is suspect. One that begins to hang has its slot for 100 ms; those
 * that failed together are tried again at a pace that leaves time for the others.
 */
const CLIENTS_AT_ONCE: { readonly [L in Lane]: number } = { fast: 1_024, slow: 64 }

/** If more is due than there is room for, the schedule is read again once this share of the room is free. */
const REFILL_SHARE = 1 / 8

/** How often the schedules are read, to find what other processes leave: clients of dead workers, resends. */
export const POLL_EVERY_MS = 250

/** After an error, such as Redis being away, polls are this much rarer. */
const POLLS_LEFT_OUT = 4

export type Workers = ReturnType<typeof startWorkers>

/** Starts the workers of both lanes. A client whose worker dies is due again when its lease ends. */
export function startWorkers(
  parts: DeliveryParts,
  startTimer: StartTimer,
  onError: (error: unknown) => void,
  pollEveryMs: number = POLL_EVERY_MS,
  most = CLIENTS_AT_ONCE,
) {
  const { redis, now } = parts
  const atWork = { fast: new Map<string, Promise<void>>(), slow: new Map<string, Promise<void>>() }
  const isCrowded = { fast: false, slow: false }
  /** Clients at work that gave their slot back. */
  const suspects = { fast: 0, slow: 0 }
  let lastStartMs = 0
  let isClosing = false

  const roomIn = (lane: Lane): number => most[lane] - atWork[lane].size + suspects[lane]
  const refill = (lane: Lane): void => {
    if (isCrowded[lane] && roomIn(lane) >= most[lane] * REFILL_SHARE) poll.by(now())
  }
  /** Starts with clients at once as far as there is room; the others stay due. */
  const begin = (lane: Lane, clients: readonly string[]): void => {
    for (const client of clients) {
      if (atWork[lane].has(client)) continue
      isCrowded[lane] ||= roomIn(lane) <= 0
      if (isClosing || roomIn(lane) <= 0) return
      lastStartMs = now()
      atWork[lane].set(client, lookAfter(client, lane))
    }
  }
  const lookAfter = async (client: string, lane: Lane): Promise<void> => {
    let isSuspect = false
    const giveBack = (): boolean => {
      if (suspects.fast + suspects.slow >= MOST_SUSPECTS) return false
      isSuspect = true
      suspects[lane]++
      refill(lane)
      return true
    }
    const { send, stop } = watchAttempts(parts, startTimer, giveBack)
    try {
      const result = await drainClient({ ...parts, send }, client, lane)
      if (result.kind === 'later') poll.by(result.atMs)
    } catch (error) {
      onError(error)
    }
    stop()
    atWork[lane].delete(client)
    if (isSuspect) suspects[lane]--
    refill(lane)
  }
  /** Starts clients that are due in a lane; returns when the next one is due. */
  const fill = async (lane: Lane): Promise<number> => {
    // Clients whose lease is not written yet are still due there: as many as there are slots, at most.
    const scheduled = await readSchedule(redis, lane, most[lane] + 1)
    const due = scheduled.flatMap(({ client, atMs }) =>
      atMs <= now() && !atWork[lane].has(client) ? [client] : [],
    )
    isCrowded[lane] = due.length > roomIn(lane)
    begin(lane, due)
    return scheduled.find(({ atMs }) => atMs > now())?.atMs ?? Number.POSITIVE_INFINITY
  }
  const poll = startPolling({ now, startTimer, onError, everyMs: pollEveryMs }, async () =>
    Math.min(...(await Promise.all(LANES.map(fill)))),
  )
  return {
    begin,
    /** When a client was last started, epoch milliseconds; 0 before the first. */
    lastStartMs: () => lastStartMs,
    /** Starts no other client, and waits for those under way. */
    async close(): Promise<void> {
      isClosing = true
      poll.stop()
      const running = () => LANES.flatMap(lane => [...atWork[lane].values()])
      while (running().length > 0) await Promise.all(running())
    },
  }
}

/**
 * Calls `giveBack` once an attempt of a client is suspect, and again until it returns true: receivers that hang must
 * not occupy the slots of those that answer.
 */
function watchAttempts(
  { now, send }: Pick<DeliveryParts, 'now' | 'send'>,
  startTimer: StartTimer,
  giveBack: () => boolean,
) {
  /** When the attempt under way began. */
  let sinceMs: number | null = null
  const look = (): void => {
    const leftMs = (sinceMs ?? now()) + SLOT_GIVEN_BACK_AFTER_MS - now()
    if (leftMs > 0) stopTimer = startTimer(leftMs, look)
    else if (!giveBack()) stopTimer = startTimer(SLOT_GIVEN_BACK_AFTER_MS, look)
  }
  let stopTimer = startTimer(SLOT_GIVEN_BACK_AFTER_MS, look)
  return {
    async send(order: SendOrder): Promise<Outcome> {
      sinceMs = now()
      try {
        return await send(order)
      } finally {
        sinceMs = null
      }
    },
    stop: () => stopTimer(),
  }
}

type PollingParts = {
  readonly now: () => number
  readonly startTimer: StartTimer
  readonly onError: (error: unknown) => void
  readonly everyMs: number
}

/** Polls now, at the time that each poll returns, and after `everyMs` at the latest; one at a time. */
function startPolling({ now, startTimer, onError, everyMs }: PollingParts, poll: () => Promise<number>) {
  let isPolling = false
  let isStopped = false
  let nextMs = Number.POSITIVE_INFINITY
  let stopTimer = (): void => {}
  /** Polls at a time, unless a poll is due before. */
  const by = (atMs: number): void => {
    if (isStopped || atMs >= nextMs) return
    nextMs = atMs
    if (isPolling) return
    stopTimer()
    if (atMs <= now()) void run()
    else stopTimer = startTimer(Math.min(atMs - now(), everyMs * POLLS_LEFT_OUT), () => void run()) // the clock may be set
  }
  const run = async (): Promise<void> => {
    stopTimer()
    isPolling = true
    nextMs = Number.POSITIVE_INFINITY
    let atMs = now() + everyMs
    try {
      atMs = Math.min(atMs, await poll())
    } catch (error) {
      atMs = now() + everyMs * POLLS_LEFT_OUT
      if (!isStopped) onError(error)
    }
    isPolling = false
    const wantedMs = Math.min(atMs, nextMs)
    nextMs = Number.POSITIVE_INFINITY
    by(wantedMs)
  }
  void run()
  return {
    by,
    stop: () => {
      isStopped = true
      stopTimer()
    },
  }
}

const WATCH_EVERY_MS = 5_000

/** If clients are due and none was started for this long, workers are stuck: a request takes 10 s at most. */
export const STUCK_AFTER_MS = 30_000

export type WatchdogParts = Pick<DeliveryParts, 'now' | 'onEvent'> &
  Pick<Workers, 'lastStartMs'> & {
    readonly counts: () => Promise<Readonly<Record<Lane, number>>>
  }

/** Checks periodically whether the workers are stuck; returns a function that stops it. */
export function startWatchdog(
  parts: WatchdogParts,
  startTimer: StartTimer,
  onError: (error: unknown) => void,
): () => void {
  return repeat(WATCH_EVERY_MS, createWatchdog(parts), startTimer, onError)
}

/** Runs something so long after its last end, again and again; returns a function that stops it. */
export function repeat(
  everyMs: number,
  run: () => Promise<void>,
  startTimer: StartTimer,
  onError: (error: unknown) => void,
): () => void {
  let isOver = false
  let stopTimer = (): void => {}
  const wait = (): void => {
    if (!isOver) stopTimer = startTimer(everyMs, () => void run().catch(onError).finally(wait))
  }
  wait()
  return () => {
    isOver = true
    stopTimer()
  }
}

/** One check: reports once per period in which clients are due and none is started. */
export function createWatchdog({ counts, lastStartMs, now, onEvent }: WatchdogParts): () => Promise<void> {
  let waitingSinceMs: number | null = null
  let reportedMs: number | null = null
  return async () => {
    const { fast, slow } = await counts()
    const waiting = fast + slow
    waitingSinceMs = waiting === 0 ? null : (waitingSinceMs ?? now())
    if (waitingSinceMs === null) return
    const sinceMs = Math.max(waitingSinceMs, lastStartMs())
    const forMs = now() - sinceMs
    if (forMs < STUCK_AFTER_MS || reportedMs === sinceMs) return
    reportedMs = sinceMs
    onEvent({ kind: 'stuck', waiting, forMs })
  }
}
