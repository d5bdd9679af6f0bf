// The rhythm of the sealer: beside the relay, every ten minutes, whatever there is to seal.
import { messageOf, tolerate } from '#storage/error-code.ts'
import { SEAL_MS } from '#storage/seals/seal.ts'
import { askAll } from '../redis/connect.ts'
import { SEAL_STATE } from '../redis/keys.ts'
import { RECORD_AFTER_MS, repairIndex, type SealParts, sealOnce } from './sealer.ts'

/** How often it is looked whether the lease is ours by now. */
const LOOK_MS = 5_000

/** What failed is tried again after this time. */
const RETRY_MS = 60_000

export type SealerWorld = SealParts & {
  /** Whether this process has the lease of the relay. */
  readonly hasLease: () => Promise<boolean>
  /** Throws if the clock may be wrong. */
  readonly assertClock: () => Promise<void>
  /** Resolves after so many milliseconds, or when stopped. */
  readonly pause: (ms: number) => Promise<void>
  /** Has the time of the seals up to this one proven, as far as that is wanted. */
  readonly anchor: (n: number) => Promise<void>
  readonly stop: AbortSignal
  readonly onError: (error: unknown) => void
}

/** Seals until it is stopped. Never rejects. */
export async function runSealer(world: SealerWorld): Promise<void> {
  const { redis, now, stop, pause, onError } = world
  let done: number | null = null // the last interval that is sealed
  let isIndexed = false
  while (!stop.aborted) {
    const due = Math.floor((now() - RECORD_AFTER_MS) / SEAL_MS)
    const nextMs = (due + 1) * SEAL_MS + RECORD_AFTER_MS
    try {
      if (due !== done && (await world.hasLease())) {
        await sealAll(world)
        if (!isIndexed) await repairIndex(world)
        isIndexed = true
        done = due
      }
      await pause(Math.min(nextMs - now(), LOOK_MS))
    } catch (error) {
      if (stop.aborted) return
      onError(error)
      const state = { refused: messageOf(error), at: now() } // from which the alert follows
      const noting = askAll(redis.multi().hsetnx(SEAL_STATE, 'n', 0).hset(SEAL_STATE, state))
      await tolerate(noting, 'the log of the service says the same')
      await pause(RETRY_MS)
    }
  }
}

/** Several are due if one was made and not published. */
async function sealAll(world: SealerWorld): Promise<void> {
  const { now, stop, pause, anchor, onError } = world
  const until = async (ms: number): Promise<void> => {
    while (now() < ms && !stop.aborted) await pause(Math.min(ms - now(), LOOK_MS))
    stop.throwIfAborted() // the record stays, and the next start publishes it
  }
  for (;;) {
    await world.assertClock()
    const sealed = await sealOnce(world, until)
    if (sealed === null) return
    await anchor(sealed.seal.n).catch(onError)
  }
}
