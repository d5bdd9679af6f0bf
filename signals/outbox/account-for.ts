import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { DeliveryAccount } from '#core/contract/delivery-account.ts'
import { ApiError } from '#core/contract/errors.ts'
import { findClient } from '../clients/clients.ts'
import { newestVisible, readVisible, signalIdOf } from '../log/read-log.ts'
import { type DeliveryState, readDeliveries } from './outbox.ts'

/** Numbers that one account may span. */
export const MOST_ACCOUNTED = 10_000

/**
 * Accounts for every signal of a client between two numbers, both included: null means the newest that the client may
 * see, and as many before it as one answer spans. Throws `not_found`, `validation_error`.
 */
export async function accountFor(
  redis: Redis,
  client: string,
  first: number | null,
  last: number | null,
): Promise<DeliveryAccount> {
  const viewer = await findClient(redis, client)
  const to = last ?? Math.max(first ?? 1, await newestVisible(redis, viewer))
  const from = first ?? Math.max(1, to - MOST_ACCOUNTED + 1)
  assertRange(from, to)
  const hash = createHash('sha256')
  const seqs = { delivered: [], missing: [], owed: [], exhausted: [], withdrawn: [] } as Seqs
  for await (const block of readVisible(redis, viewer, from - 1, to)) {
    const states = await readDeliveries(
      redis,
      block.map(({ seq }) => seq),
      client,
    )
    for (const [i, { seq, body }] of block.entries()) {
      hash.update(`${seq} ${signalIdOf(body)}\n`)
      const status = states[i]?.status
      if (status !== undefined) seqs[status].push(seq)
      if (status !== 'delivered') seqs.missing.push(seq)
    }
  }
  const { delivered, ...others } = seqs
  const entitled = delivered.length + others.missing.length
  return { from, to, entitled, delivered: delivered.length, ...others, sha256: hash.digest('hex') }
}

type Seqs = Record<DeliveryState['status'] | 'missing', number[]>

function assertRange(from: number, to: number): void {
  const isRange = Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 1 && to >= from
  if (isRange && to - from < MOST_ACCOUNTED) return
  const reason = `expected numbers from 1 on, at most ${MOST_ACCOUNTED} of them`
  throw new ApiError('validation_error', `from, to: ${reason}`, {
    details: [{ param: 'to', value: `${from} to ${to}`, reason }],
  })
}
