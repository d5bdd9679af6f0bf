import { setImmediate } from 'node:timers/promises'
import { ApiError } from '#core/contract/errors.ts'

/** Does one work after the other. Rejects with `overloaded` whoever comes when `most` wait or are under way. */
export function createGate(most: number, refusal: string): <T>(work: () => Promise<T>) => Promise<T> {
  let inside = 0
  let before: Promise<unknown> = Promise.resolve()
  return async work => {
    if (inside === most) throw new ApiError('overloaded', refusal)
    inside++
    const mine = before.then(() => setImmediate()).then(work) // a turn of the event loop for everyone else first
    before = Promise.allSettled([mine])
    try {
      return await mine
    } finally {
      inside--
    }
  }
}
