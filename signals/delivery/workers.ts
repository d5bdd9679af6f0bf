// The workers of one process: they take destinations that are due from the schedules of the outbox; there is no
// other queue.
import { LANES, type Lane, readSchedule } from '../outbox/outbox.ts'
import { MOST_SUSPECTS, SLOT_GIVEN_BACK_AFTER_MS } from '../send/policy.ts'
import type { SendSignal } from '../send/send.ts'
import { type DeliveryParts, drainDestination } from './deliver.ts'

/**
 * Destinations served at the same time, beside those whose receiver is suspect. One that begins to hang has its slot for 100 ms; those
 * that failed together are tried again at a pace that leaves time for the others.
 */
const DESTINATIONS_AT_ONCE: { readonly [L in Lane]: number } = { fast: 1_024, slow: 64 }

/** If more is due than there is room for, the schedule is read again once this share of the room is free. */
const REFILL_SHARE = 1 / 8

/** How often the schedules are read, to find what other processes leave: destinations of dead workers, resends. */
const POLL_EVERY_MS = 250

/** After an error, such as Redis being away, polls are this much rarer. */
const POLLS_LEFT_OUT = 4

/** The workers of this process. */
type Floor = {
  readonly parts: DeliveryParts
  readonly lanes: { readonly [L in Lane]: WorkLane }
  /** Reads the schedules at a time, unless they are read before. */
  pollBy: (atMs: number) => void
  lastStartMs: number
  isClosing: boolean
}

/** `suspects` counts the destinations at work that gave their slot back; `isCrowded` says that more are due than there is room for. */
type WorkLane = {
  readonly most: number
  readonly atWork: Map<string, Promise<void>>
  suspects: number
  isCrowded: boolean
}

const emptyLane = (most: number): WorkLane => ({ most, atWork: new Map(), suspects: 0, isCrowded: false })

const roomIn = ({ most, atWork, suspects }: WorkLane): number => most - atWork.size + suspects

/** Starts the workers of both lanes. A destination whose worker dies is due again when its lease ends. */
export function startWorkers(
  parts: DeliveryParts,
  pollEveryMs: number = POLL_EVERY_MS,
  most = DESTINATIONS_AT_ONCE,
) {
  const lanes = { fast: emptyLane(most.fast), slow: emptyLane(most.slow) }
  const floor: Floor = { parts, lanes, pollBy: () => {}, lastStartMs: 0, isClosing: false }
  const poll = startPolling(parts, pollEveryMs, async () =>
    Math.min(...(await Promise.all(LANES.map(name => fill(floor, name))))),
  )
  floor.pollBy = poll.by
  return {
    begin: (name: Lane, destinations: readonly string[]): void => begin(floor, name, destinations),
    /** When a destination was last started, epoch milliseconds; 0 before the first. */
    lastStartMs: () => floor.lastStartMs,
    /** Starts no other destination, and waits for those under way. */
    async close(): Promise<void> {
      floor.isClosing = true
      poll.stop()
      const running = () => LANES.flatMap(lane => [...lanes[lane].atWork.values()])
      while (running().length > 0) await Promise.all(running())
    },
  }
}

/** Starts destinations that are due in a lane; returns when the next one is due. */
async function fill(floor: Floor, name: Lane): Promise<number> {
  const { redis, now } = floor.parts
  const lane = floor.lanes[name]
  // Destinations whose lease is not written yet are still due there: as many as there are slots, at most.
  const scheduled = await readSchedule(redis, name, lane.most + 1)
  const isDue = ({ atMs }: { readonly atMs: number }): boolean => atMs <= now()
  const due = scheduled.filter(isDue).map(({ destination }) => destination)
  lane.isCrowded = due.filter(destination => !lane.atWork.has(destination)).length > roomIn(lane)
  begin(floor, name, due)
  return scheduled.find(each => !isDue(each))?.atMs ?? Number.POSITIVE_INFINITY
}

/** Starts with destinations at once as far as there is room; the others stay due. */
function begin(floor: Floor, name: Lane, destinations: readonly string[]): void {
  const lane = floor.lanes[name]
  for (const destination of destinations) {
    if (lane.atWork.has(destination)) continue
    lane.isCrowded ||= roomIn(lane) <= 0
    if (floor.isClosing || roomIn(lane) <= 0) return
    floor.lastStartMs = floor.parts.now()
    lane.atWork.set(destination, lookAfter(floor, destination, name))
  }
}

async function lookAfter(floor: Floor, destination: string, name: Lane): Promise<void> {
  const { parts, lanes, pollBy } = floor
  const lane = lanes[name]
  let isSuspect = false
  const giveBack = (): boolean => {
    if (lanes.fast.suspects + lanes.slow.suspects >= MOST_SUSPECTS) return false
    isSuspect = true
    lane.suspects++
    refill(floor, lane)
    return true
  }
  const { send, stop } = watchAttempts(parts, giveBack)
  try {
    const released = await drainDestination({ ...parts, send }, destination, name)
    if (released.kind === 'later') pollBy(released.atMs)
  } catch (error) {
    parts.onError(error)
  }
  stop()
  lane.atWork.delete(destination)
  if (isSuspect) lane.suspects--
  refill(floor, lane)
}

function refill({ parts, pollBy }: Floor, lane: WorkLane): void {
  if (lane.isCrowded && roomIn(lane) >= lane.most * REFILL_SHARE) pollBy(parts.now())
}

/**
 * Calls `giveBack` once an attempt of a destination is suspect, and again until it returns true: receivers that hang must
 * not occupy the slots of those that answer.
 */
function watchAttempts({ now, send, startTimer }: DeliveryParts, giveBack: () => boolean) {
  /** When the attempt under way began. */
  let sinceMs: number | null = null
  const look = (): void => {
    const leftMs = (sinceMs ?? now()) + SLOT_GIVEN_BACK_AFTER_MS - now()
    if (leftMs > 0) stopTimer = startTimer(leftMs, look)
    else if (!giveBack()) stopTimer = startTimer(SLOT_GIVEN_BACK_AFTER_MS, look)
  }
  let stopTimer = startTimer(SLOT_GIVEN_BACK_AFTER_MS, look)
  const watched: SendSignal = async order => {
    sinceMs = now()
    try {
      return await send(order)
    } finally {
      sinceMs = null
    }
  }
  return { send: watched, stop: () => stopTimer() }
}

/** Polls now, at the time that each poll returns, and after `everyMs` at the latest; one at a time. */
function startPolling(
  { now, onError, startTimer }: DeliveryParts,
  everyMs: number,
  poll: () => Promise<number>,
) {
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

/** If destinations are due and none was started for this long, workers are stuck: a request takes 10 s at most. */
export const STUCK_AFTER_MS = 30_000

type Watched = Pick<DeliveryParts, 'now' | 'onEvent'> & {
  readonly lastStartMs: () => number
  readonly counts: () => Promise<Readonly<Record<Lane, number>>>
}

/** One check whether the workers are stuck: reports once per period in which destinations are due and none is started. */
export function createWatchdog({ counts, lastStartMs, now, onEvent }: Watched): () => Promise<void> {
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
