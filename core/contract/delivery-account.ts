import { z } from 'zod'
import { named, text, type ValueOf } from './payloads/field.ts'

const seqs = z.array(z.int().min(1))

/**
 * `/v1/signals/account`, and the account of a client for the operator. A signal that no endpoint has acknowledged is in the list of
 * each state that it has at one of them.
 */
export const deliveryAccount = named('DeliveryAccount', {
  from: z.int().min(1).describe('First number that is accounted for.'),
  to: z.int().min(1).describe('Last number that is accounted for.'),
  entitled: z
    .int()
    .min(0)
    .describe(
      'Signals between them that the client sees, the rows of its history; or that the endpoint is to be sent.',
    ),
  delivered: z.int().min(0).describe('Those that an endpoint of the client has acknowledged.'),
  missing: seqs.describe(
    'Numbers of all others, ascending. Without a webhook nothing is pushed: then it is every one of them.',
  ),
  owed: seqs.describe('Of `missing`, those that are on their way: another attempt will be made.'),
  exhausted: seqs.describe('Of `missing`, those whose attempts all failed; none will follow by itself.'),
  withdrawn: seqs.describe(
    'Of `missing`, those that were withdrawn: the client was not entitled to them or had no webhook when they were due.',
  ),
  expired: seqs.describe(
    'Of `missing`, the entries that were older than the endpoint takes them when they were due. They stay in the history.',
  ),
  sha256: text(
    'SHA-256, hexadecimal, of a line `<seq> <signal_id>` with its line break for each signal of `entitled`, ' +
      'ascending: a client that has all of them computes the same digest.',
  ),
})

export type DeliveryAccount = ValueOf<typeof deliveryAccount>
