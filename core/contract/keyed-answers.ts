// What keyed routes answer, where it is more than a line of the route table.
import { z } from 'zod'

/** `/v1/whoami`. */
export const identity = z.object({
  client_id: z.string().describe('Id of the client.'),
  tier: z.string().describe('Tier of the subscription.'),
  status: z.enum(['pending', 'active']).describe('`pending` until the operator switches the account on.'),
  entitlements: z
    .object({ aliases: z.array(z.string()).describe('The strategies whose signals the client gets.') })
    .catchall(z.boolean())
    .describe('What the client may see; beside `aliases` a flag under the alias of the program.'),
  key_id: z.string().describe('Public part of the key that was used.'),
})

/** `/v1/signals/head`. */
export const logHead = z.object({
  seq: z.int().min(0).describe('Number of the newest signal that this client sees, 0 where there is none.'),
  log_seq: z.int().min(0).describe('Number of the newest signal of the whole log.'),
  epoch: z.string().describe('Names this history of the log. When it changes, pull everything again.'),
  server_time: z.string().describe('UTC instant, ISO 8601 with milliseconds.'),
})

const seqs = z.array(z.int().min(1))

/** `/v1/signals/account`, and what the operator is told of a client. */
export const deliveryAccount = z.object({
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
