import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { QUEUE_PREFIX } from '../redis/keys.ts'

/** Clients whose webhook answers quickly share the fast lane; one that was slow or failed goes to the slow one. */
export const LANES = ['fast', 'slow'] as const
export type Lane = (typeof LANES)[number]

/** A call to look after a client. */
export type WakeUp = { readonly client: string; readonly seq: number }

/** A job: several calls in one. Which signals are owed stands in the ledger; a job holds ids and nothing else. */
export type Call = { readonly clients: readonly string[] }

/** Clients in a job: each job costs several round trips, as much as a delivery. */
const CLIENTS_A_CALL = 32

/**
 * The queue of work. It is a cache: what is owed stands in the ledger, and whatever the queue loses is put back from there.
 */
export type DeliveryQueue = {
  /** Asks for clients to be looked after, at once or later. A call under an id that waits already is the same call. */
  wake(
    lane: Lane,
    calls: readonly (WakeUp & { readonly generation: string })[],
    delayMs?: number,
  ): Promise<void>
  /** How much waits in each lane. */
  counts(): Promise<Readonly<Record<Lane, number>>>
  close(): Promise<void>
}

/** Finished jobs leave nothing behind: the ledger tells what became of them. */
const JOB_OPTIONS = { removeOnComplete: true, removeOnFail: true, attempts: 1 }

/** The queue on a connection, which closing it leaves open. */
export function createDeliveryQueue(connection: Redis): DeliveryQueue {
  const queues = {
    fast: new Queue<Call>('fast', { connection, prefix: QUEUE_PREFIX }),
    slow: new Queue<Call>('slow', { connection, prefix: QUEUE_PREFIX }),
  }
  for (const queue of Object.values(queues)) queue.on('error', () => {}) // told by the connection itself
  return {
    async wake(lane, calls, delayMs = 0) {
      if (calls.length === 0) return
      await queues[lane].addBulk(toJobs(calls, delayMs))
    },
    async counts() {
      const [fast, slow] = await Promise.all([waiting(queues.fast), waiting(queues.slow)])
      return { fast, slow }
    },
    async close() {
      await Promise.all(Object.values(queues).map(queue => queue.close()))
    },
  }
}

/** Jobs for calls of one generation, named after their first client and how many there are. BullMQ takes no colon. */
function toJobs(calls: readonly (WakeUp & { readonly generation: string })[], delay: number) {
  const jobs = []
  for (let i = 0; i < calls.length; i += CLIENTS_A_CALL) {
    const block = calls.slice(i, i + CLIENTS_A_CALL)
    const { client, seq, generation } = block[0]! // never empty
    const jobId = `d-${seq}-${client}-${block.length}-g${generation}`
    const data = { clients: block.map(call => call.client) }
    jobs.push({ name: 'wake', data, opts: { ...JOB_OPTIONS, jobId, delay } })
  }
  return jobs
}

const waiting = async (queue: Queue<Call>): Promise<number> => (await queue.getWaitingCount()) ?? 0
