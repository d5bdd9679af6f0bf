import type { Redis } from 'ioredis'
import { findClient } from '../clients/clients.ts'
import { BLOCK_SIGNALS, readBefore, readVisible, type Viewer, viewOf } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAY_CURSOR } from '../redis/keys.ts'
import { oweAgain } from './outbox.ts'

export type ResendParts = {
  readonly redis: Redis
  readonly now: () => number
  /** Called with how many signals are owed again so far, and up to which number. */
  readonly onProgress: (owed: number, seq: number) => void
}

/**
 * Owes a client again every signal from a number on that it may see now, whatever its state. An attempt under way
 * does not count for the new round: the signal is sent once more after it. Signals that the relay has not passed are
 * left to it. Resolves with how many there are. Throws `not_found`.
 */
export async function resendFrom(parts: ResendParts, client: string, fromSeq: number): Promise<number> {
  const { redis, now, onProgress } = parts
  const viewer = await findClient(redis, client)
  const until = Number((await askRedis(() => redis.get(RELAY_CURSOR))) ?? 0)
  let prev = await visibleBefore(redis, viewer, fromSeq)
  let owed = 0
  for await (const block of readVisible(redis, viewer, fromSeq - 1, until)) {
    const debts = block.map(({ seq }) => {
      const debt = { seq, prev }
      prev = seq
      return debt
    })
    await oweAgain(redis, client, debts, now())
    owed += debts.length
    onProgress(owed, prev)
  }
  return owed
}

/** The number of the signal before `seq` that a client may see, 0 if none. */
async function visibleBefore(redis: Redis, viewer: Viewer, seq: number): Promise<number> {
  const isVisible = viewOf(viewer)
  for (let before = seq; ; ) {
    const block = await readBefore(redis, before, BLOCK_SIGNALS)
    const found = block.find(isVisible)
    if (found !== undefined) return found.seq
    if (block.length < BLOCK_SIGNALS) return 0
    before = block.at(-1)!.seq
  }
}
