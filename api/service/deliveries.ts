// Deliveries as the operator and their client see them, and how they are searched.
import { z } from 'zod'
import { parseIsoInstant } from '#core/calendar.ts'
import { resendOnly } from '#core/contract/endpoint.ts'
import { ID_PATTERN } from '#core/contract/parameters.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import {
  flag,
  named,
  number,
  numberOrNull,
  text,
  textOrNull,
  wholeOrNull,
  word,
} from '#core/contract/payloads/field.ts'
import { instantText } from '#core/contract/signal.ts'
import { DELIVERY_STATUSES } from '#signals/outbox/outbox.ts'

export const instant = text('UTC instant, ISO 8601.')
export const count = z.int().min(0)
export const seq = count.describe('Number of the signal.')

const MOST_ROWS = 500

export const seqText = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER)

const seqInPath = z.strictObject({ seq: seqText.describe('the number of a signal, from 1') })

/** The number of a signal that stands in a path. Throws `validation_error`. */
export const seqOf = (text: string): number => parseRequest(seqInPath, { seq: text }).seq

/** A page of a list, newest first. */
export const pageQuery = {
  before: seqText.optional().describe('the number of a signal, from 1: only older ones are listed'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MOST_ROWS)
    .default(50)
    .describe(`a number from 1 to ${MOST_ROWS}`),
}

/** Resolves to epoch milliseconds. */
const instantInQuery = instantText
  .refine(text => parseIsoInstant(text) !== null)
  .transform(text => Date.parse(text))
  .optional()

export const deliveryQuery = {
  alias: z.string().regex(ID_PATTERN).optional().describe('the id of a strategy'),
  fired_from: instantInQuery.describe(
    'an instant such as 2026-11-21T00:00:00Z: signals fired before it are left out',
  ),
  fired_to: instantInQuery.describe(
    'an instant such as 2026-11-22T00:00:00Z: signals fired after it are left out',
  ),
  status: z
    .enum(DELIVERY_STATUSES)
    .optional()
    .describe(`one of ${DELIVERY_STATUSES.join(', ')}`),
  ...pageQuery,
}

/** Which signals are sent again; `number` is that of a query or of a body. */
export const resendFields = <Seq extends z.ZodType<number>>(number: Seq) => ({
  from: number.describe('the number of the first signal to send again, from 1'),
  to: number
    .optional()
    .describe('the number of the last one, not below that of the first; the newest if it is not given'),
  only: resendOnly,
  fired_from: deliveryQuery.fired_from,
})

/** For a schema of these fields. */
export const isRange = ({ from, to = from }: { readonly from: number; readonly to?: number | undefined }) =>
  to >= from

/** The state of a delivery, beside its number and its recipient. */
export const deliveryFields = {
  alias: text('The strategy.'),
  status: word('`owed` as long as another attempt follows; the others are ends.', DELIVERY_STATUSES),
  attempts: count.describe('Attempts that counted.'),
  round: z.int().min(1).describe('Sending again starts another.'),
  prev_seq: count.describe('Number of the signal before it that the client may see, 0 for none.'),
  fired_at: instant.describe('When the signal was written into the log.'),
  owed_at: instant.describe('When it was added to the outbox of the client.'),
  first_attempt_at: instant.nullable().describe('Null until one was made.'),
  settled_at: instant.nullable().describe('When it ended, or null.'),
  next_attempt_at: instant.nullable().describe('No attempt is made before it; null if none follows.'),
  latency_ms: numberOrNull('From the log to the acknowledgement; null until there is one.'),
}

export const attempt = named('Attempt', {
  at: instant.describe('When it began.'),
  n: count.nullable().describe('Which try it was, from 1; null for a probe, which does not count.'),
  ok: flag('Whether it was acknowledged with 2xx.'),
  status: wholeOrNull('HTTP status, null if no answer came.'),
  reason: textOrNull('What went wrong, in a word; null if nothing did.'),
  first_byte_ms: numberOrNull('Until the answer began, milliseconds; null if none came.'),
  total_ms: number('Until it was over, milliseconds.'),
  excerpt: text('Beginning of the answer of the receiver, redacted.'),
})
