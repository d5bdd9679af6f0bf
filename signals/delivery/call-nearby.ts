import type { DeliveryQueue } from './delivery-queue.ts'
import type { Workers } from './workers.ts'

/**
 * A queue whose calls for now are answered by the workers of this process as far as they have room, and by whoever has
 * room beyond that: the first attempt does not wait for the round trips of the queue. Should the process die before it has
 * taken a client, the ledger's time for it passes, and the reconciler calls again, as for a job that was lost.
 */
export const callNearby = (
  queue: DeliveryQueue,
  { answerHere }: Pick<Workers, 'answerHere'>,
): DeliveryQueue => ({
  ...queue,
  wake(lane, calls, delayMs = 0) {
    const others = delayMs > 0 ? calls : calls.filter(({ client }) => !answerHere(lane, client))
    return queue.wake(lane, others, delayMs)
  },
})
