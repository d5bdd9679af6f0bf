// A client's own webhook, as it is registered and shown.
import { z } from 'zod'
import { flag, list, named, text, textOrNull } from './payloads/field.ts'

/** `PUT /v1/webhook`. Fields that it does not know are ignored. */
export const ownWebhookRequest = named('OwnWebhookRequest', {
  url: text(
    'Address that takes signals by POST: `https`, public, and answering 2xx to a signed test now.',
  ).min(1),
  secret: textOrNull(
    '`whsec_` and 32 bytes in base64. If it is left out, a first or a suspended webhook gets a new one, and any other keeps its own.',
  ).default(null),
})

const instant = text('UTC instant, ISO 8601 with milliseconds.')

export const webhookState = named('WebhookState', {
  host: text('Host of the address. The rest is not shown: it may hold a token.'),
  enabled: flag('False if nothing is sent there any more.'),
  disabled_why: textOrNull(
    'Why nothing is sent, or null. If the key that set it, or may have, was revoked, it is suspended until a live key sets it again.',
  ),
  set_at: instant.nullable().describe('When it was set; null if it is older than this record.'),
  set_by: textOrNull(
    'Who set it: the id of a key, `link:NAME` for a link that the operator NAME made, or `operator`; null if `set_at` is null.',
  ),
  set_by_key: textOrNull('The same if it is a key, else null.'),
  failing_since: instant.nullable().describe('Since when no delivery succeeded, or null.'),
  secrets: list(
    'The secrets that sign, newest first, without their text.',
    z.object({ expires_at: instant.nullable().describe('When it signs no more, or null.') }),
  ),
})

export const registeredWebhook = named('RegisteredWebhook', {
  ...webhookState.shape,
  secret: textOrNull('The secret if this request made it: shown only here. Else null.'),
  secrets_dropped: flag(
    'True if the earlier secrets sign no more, because the key that set them, or may have, was revoked.',
  ),
})
