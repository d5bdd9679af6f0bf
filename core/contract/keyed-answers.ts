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
