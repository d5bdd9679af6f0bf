import { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { QUEUE_PREFIX } from '../redis/keys.ts'
import type { DeliveryParts } from './delivery-parts.ts'
import { type Call, type DeliveryQueue, LANES, type Lane } from './delivery-queue.ts'
import { drainClient } from './drain.ts'
import { createSlots, type Slots } from './slots.ts'

/** Clients that are delivered to at the same time. A request is waiting for the network nearly all of its life. */
const CLIENTS_AT_ONCE: { readonly [L in Lane]: number } = { fast: 256, slow: 128 }

/** Calls that wait for room at the same time: enough that none waits for another one's round trip. */
const CALLS_AT_ONCE = 8

/** How often BullMQ looks for jobs whose worker has died, of the time in which that is noticed: every 5 s. */
const STALLED_SHARE = 1 / 4

/** A job that is found stalled is begun again, however often: the ledger decides when a signal is given up. */
const MOST_STALLS = 1_000_000

export type Workers = {
  /** Looks after a client at once, without a call of the queue; false where there is no room for it now. */
  readonly answerHere: (lane: Lane, client: string) => boolean
  /** When a call was last begun, epoch milliseconds; 0 before the first. */
  readonly lastStartMs: () => number
  /** Begins no other call, and waits for what is under way. */
  readonly close: () => Promise<void>
}

/**
 * Starts the workers of both lanes in this process. A call is done when its clients have been begun with: should the
 * process die then, their time in the ledger runs out and the reconciler calls again. `connection` must be ready to wait:
 * commands of theirs block.
 */
export function startWorkers(
  parts: DeliveryParts,
  queue: DeliveryQueue,
  connection: Redis,
  onError: (error: unknown) => void,
): Workers {
  let lastStartMs = 0
  let isClosing = false
  const room = { fast: createSlots(CLIENTS_AT_ONCE.fast), slow: createSlots(CLIENTS_AT_ONCE.slow) }
  const begun = (client: string, lane: Lane) => () => answerCall(parts, queue, client, lane).catch(onError)
  const lanes = LANES.map(lane => {
    const slots = room[lane]
    const answer = async ({ data }: { readonly data: Call }): Promise<void> => {
      lastStartMs = parts.now()
      for (const client of data.clients) {
        await slots.begin(begun(client, lane))
      }
    }
    return { worker: startWorker(lane, answer, parts, connection, onError), slots }
  })
  return {
    lastStartMs: () => lastStartMs,
    answerHere: (lane, client) => !isClosing && room[lane].tryBegin(begun(client, lane)),
    close: async () => {
      isClosing = true
      await Promise.all(lanes.map(lane => closeLane(lane, connection)))
    },
  }
}

function startWorker(
  lane: Lane,
  answer: (job: { readonly data: Call }) => Promise<void>,
  { flightMs }: DeliveryParts,
  connection: Redis,
  onError: (error: unknown) => void,
): Worker<Call> {
  const worker = new Worker<Call>(lane, answer, {
    connection,
    prefix: QUEUE_PREFIX,
    concurrency: CALLS_AT_ONCE,
    lockDuration: flightMs,
    stalledInterval: flightMs * STALLED_SHARE,
    maxStalledCount: MOST_STALLS,
  })
  worker.on('error', onError)
  worker.on('failed', (_, error) => onError(error)) // the reconciler calls again: nothing is lost
  return worker
}

/**
 * A worker that is closed in order waits for its connection, for ever where Redis is away: then it is closed by force, and
 * its calls come again. What is long, the requests under way, is waited for before.
 */
async function closeLane(
  { worker, slots }: { worker: Worker<Call>; slots: Slots },
  connection: Redis,
): Promise<void> {
  await worker.pause(true)
  await slots.idle()
  await worker.close(connection.status !== 'ready')
  await slots.idle()
}

/** Looks after a client, and asks for another look when there is more to do later. */
async function answerCall(
  parts: DeliveryParts,
  queue: DeliveryQueue,
  client: string,
  lane: Lane,
): Promise<void> {
  const result = await drainClient(parts, client, lane)
  if (result.kind !== 'later') return
  // Equal times make equal ids: however many calls end here, one comes back.
  const call = { client, seq: 0, generation: String(Math.ceil(result.atMs)) }
  await queue.wake(result.lane, [call], Math.max(0, Math.ceil(result.atMs - parts.now())))
}
