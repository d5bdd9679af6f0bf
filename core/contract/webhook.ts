// A client's own webhook, as it is registered and shown.
import { z } from 'zod'

/** `PUT /v1/webhook`. Fields that it does not know are ignored. */
export const ownWebhookRequest = z
  .object({
    url: z
      .string()
      .min(1)
      .describe(
        'Address that takes signals by POST: `https`, public, and answering 2xx to a signed test now.',
      ),
    secret: z
      .string()
      .nullable()
      .default(null)
      .describe(
        '`whsec_` and 32 bytes in base64. If it is left out, a first or a suspended webhook gets a new one, and any other keeps its own.',
      ),
  })
  .meta({ id: 'OwnWebhookRequest' })

const instant = z.string().describe('UTC instant, ISO 8601 with milliseconds.')

const state = {
  host: z.string().describe('Host of the address. The rest is not shown: it may hold a token.'),
  enabled: z.boolean().describe('False if nothing is sent there any more.'),
  disabled_why: z
    .string()
    .nullable()
    .describe(
      'Why nothing is sent, or null. If the key that set it, or may have, was revoked, it is suspended until a live key sets it again.',
    ),
  set_at: instant.nullable().describe('When it was set; null if it is older than this record.'),
  set_by_key: z
    .string()
    .nullable()
    .describe('Id of the key that set it; null if the operator did, or if `set_at` is null.'),
  failing_since: instant.nullable().describe('Since when no delivery succeeded, or null.'),
  secrets: z
    .array(z.object({ expires_at: instant.nullable().describe('When it signs no more, or null.') }))
    .describe('The secrets that sign, newest first, without their text.'),
}

export const webhookState = z.object(state).meta({ id: 'WebhookState' })

/** The same, in the answer to its registration. */
export const registeredWebhook = z
  .object({
    ...state,
    secret: z.string().nullable().describe('The secret if this request made it: shown only here. Else null.'),
    secrets_dropped: z
      .boolean()
      .describe(
        'True if the earlier secrets sign no more, because the key that set them, or may have, was revoked.',
      ),
  })
  .meta({ id: 'RegisteredWebhook' })
