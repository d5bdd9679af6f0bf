// What a client orders to be sent to its endpoints again.
import type { Redis } from 'ioredis'
import { ApiError } from '#core/contract/errors.ts'
import { BLOCK_SIGNALS } from '../log/read-log.ts'
import type { Destination } from '../outbox/destination.ts'
import { type Debts, oweAgain } from '../outbox/outbox.ts'
import { debtsOf, type ResendRange } from '../outbox/resend.ts'

/** Deliveries of one resend to one endpoint. */
export const MOST_RESENT = 10_000

/**
 * Owes endpoints again the signals of a range, or only counts them. Resolves with how many signals match, and how many deliveries
 * follow. Nothing is owed if one endpoint would be sent too many. Throws `validation_error`.
 */
export async function resendOwn(
  { redis, now }: { readonly redis: Redis; readonly now: () => number },
  destinations: readonly Destination[],
  range: ResendRange,
  isDryRun: boolean,
) {
  const debts: Debts[] = []
  for (const destination of destinations)
    debts.push({ destination, signals: await collect(redis, destination, range) })
  const all = debts.flatMap(({ signals }) => signals)
  const signals = new Set(all.map(({ seq }) => seq)).size
  if (isDryRun) return { signals, owed_again: 0 }
  for (const each of debts)
    for (let i = 0; i < each.signals.length; i += BLOCK_SIGNALS)
      await oweAgain(redis, each.destination, each.signals.slice(i, i + BLOCK_SIGNALS), now(), true)
  return { signals, owed_again: all.length }
}

async function collect(redis: Redis, destination: Destination, range: ResendRange) {
  const found: Debts['signals'][number][] = []
  for await (const block of debtsOf(redis, destination, range)) {
    found.push(...block)
    if (found.length <= MOST_RESENT) continue
    const reason = `more than ${MOST_RESENT} signals match: give \`to\`, or a later \`from\` or \`fired_from\``
    throw new ApiError('validation_error', reason, {
      details: [{ param: 'from', value: String(range.from), reason }],
    })
  }
  return found
}
