import type { Redis } from 'ioredis'
import { findClient } from '../clients/clients.ts'
import { BLOCK_SIGNALS, readBefore, readVisible, type Viewer, viewOf } from '../log/read-log.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAY_CURSOR } from '../redis/keys.ts'
import { oweAgain, readDeliveries } from './outbox.ts'

/** Which signals are sent again: from a number to another one, or to the newest; all of them, or those that were given up. */
export type ResendRange = {
  readonly from: number
  readonly to?: number | undefined
  readonly only?: 'all' | 'exhausted'
}

/**
 * Owes a client again every signal of a range that it may see now, whatever its state unless `only` says so. An attempt under way
 * does not count for the new round: the signal is sent once more after it. Signals that the relay has not passed are
 * left to it. Resolves with how many there are. Throws `not_found`.
 */
export async function resend(
  { redis, now }: { readonly redis: Redis; readonly now: () => number },
  client: string,
  { from, to, only = 'all' }: ResendRange,
): Promise<number> {
  const viewer = await findClient(redis, client)
  const relayed = Number((await askRedis(() => redis.get(RELAY_CURSOR))) ?? 0)
  const until = Math.min(to ?? relayed, relayed)
  let prev = await visibleBefore(redis, viewer, from)
  let owed = 0
  for await (const block of readVisible(redis, viewer, from - 1, until)) {
    const all = block.map(({ seq }) => {
      const debt = { seq, prev }
      prev = seq
      return debt
    })
    const debts = only === 'all' ? all : await givenUp(redis, client, all)
    await oweAgain(redis, client, debts, now())
    owed += debts.length
  }
  return owed
}

/** Those whose every attempt failed. */
async function givenUp<Debt extends { readonly seq: number }>(
  redis: Redis,
  client: string,
  debts: readonly Debt[],
): Promise<Debt[]> {
  const seqs = debts.map(({ seq }) => seq)
  const states = await readDeliveries(redis, seqs, client)
  return debts.filter((_, i) => states[i]?.status === 'exhausted')
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
