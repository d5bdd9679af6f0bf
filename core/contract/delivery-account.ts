import { z } from 'zod'
import type { ValueOf } from './value-of.ts'

const seqs = z.array(z.int().min(1))

/** `/v1/signals/account`, and what the operator is told of a client. */
export const deliveryAccount = z
  .object({
    from: z.int().min(1).describe('First number that is accounted for.'),
    to: z.int().min(1).describe('Last number that is accounted for.'),
    entitled: z.int().min(0).describe('Signals between them that the client sees: the rows of its history.'),
    delivered: z.int().min(0).describe('Those that a webhook of the client has acknowledged.'),
    missing: seqs.describe(
      'Numbers of all others, ascending. Who has no webhook is pushed nothing: then it is every one of them.',
    ),
    owed: seqs.describe('Of `missing`, those that are on their way: another attempt will be made.'),
    exhausted: seqs.describe('Of `missing`, those that no attempt has brought; none will follow by itself.'),
    withdrawn: seqs.describe(
      'Of `missing`, those that were taken back: the client had no right to them or no webhook when it was their turn.',
    ),
    sha256: z
      .string()
      .describe(
        'SHA-256, hexadecimal, of a line `<seq> <signal_id>` with its line break for each signal that the client sees, ' +
          'ascending: whoever has them all computes the same.',
      ),
  })
  .meta({ id: 'DeliveryAccount' })

/** What became of the signals of a client. */
export type DeliveryAccount = ValueOf<typeof deliveryAccount>
