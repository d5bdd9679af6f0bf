// A client's endpoints: what it sets and sees of each, what it asks to be sent again, and the account of its deliveries.
import { z } from 'zod'
import { ID_PATTERN } from './parameters.ts'
import {
  flag,
  list,
  named,
  request,
  text,
  textOrNull,
  type ValueOf,
  whole,
  wholeOrNull,
} from './payloads/field.ts'

export const endpointName = z.string().regex(ID_PATTERN)

const count = (about: string) => whole(about).min(0)

/** A week: a receiver that wants older entries sets no limit. */
const LONGEST_EXPIRY_S = 604_800

/** A longer overlap would be no rotation. */
const LONGEST_OVERLAP_HOURS = 30 * 24

const ABOUT_SECRET =
  'whsec_ and 32 bytes in base64, the secret that your receiver has; without it a first one is made and shown once, and a later one stays'
const ABOUT_FILTER = 'a list of at least one strategy that you may see, or null for all of them'
const ABOUT_EXPIRY = `seconds from 1 to ${LONGEST_EXPIRY_S}, or null for none`

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

const made = {
  secret: textOrNull('The secret if this request made it: shown only here. Else null.'),
  secrets_dropped: flag(
    'True if the earlier secrets sign no more, because the key that set them, or may have, was revoked.',
  ),
}

export const registeredWebhook = named('RegisteredWebhook', { ...webhookState.shape, ...made })

export const endpointState = named('EndpointState', {
  endpoint: text('Its name. `default` is the webhook of `/v1/webhook`.'),
  ...webhookState.shape,
  paused: flag('True if it is owed its signals and not sent them until it goes on.'),
  filter: list('The strategies that it is sent; null for all that you may see.', z.string()).nullable(),
  header_names: list('Names of your own headers of its deliveries. Their values are not shown.', z.string()),
  expire_entries_after_s: wholeOrNull('Seconds until an entry is only in the pull, or null.'),
  settings_by: textOrNull(
    'Who changed filter, expiry or pause last, named as in `set_by`; null if nobody did. They stay when that key is revoked.',
  ),
  last_success_at: textOrNull('When it acknowledged the last time, or null.'),
  failures: count('Attempts that failed since then, in a row.'),
  next_attempt_at: textOrNull('No attempt is made before it; null if none is to come.'),
  owed: count('Deliveries that are still to come.'),
})

export const registeredEndpoint = named('RegisteredEndpoint', { ...endpointState.shape, ...made })
export const rotatedEndpoint = named('RotatedEndpoint', {
  ...endpointState.shape,
  secret: text('The new secret: shown only here.'),
})

const headers = z.record(z.string(), z.string())
const ABOUT_HEADERS = 'an object of at most 10 names and values, none of a header that a delivery has already'

/** `PUT /v1/endpoints/{endpoint}`. */
export const endpointRequest = request('EndpointRequest', {
  url: z.string().min(1).describe('an https address that acknowledges a signed test with 2xx now'),
  secret: z.string().nullable().default(null).describe(ABOUT_SECRET),
  headers: headers.nullable().default(null).describe(ABOUT_HEADERS),
})

/** `PATCH /v1/endpoints/{endpoint}`: what is left out stays as it is. */
export const endpointChange = request('EndpointChange', {
  paused: z.boolean().optional().describe('true or false: whether its signals wait'),
  filter: z.array(endpointName).min(1).nullable().optional().describe(ABOUT_FILTER),
  headers: headers.optional().describe(ABOUT_HEADERS),
  expire_entries_after_s: z.int().min(1).max(LONGEST_EXPIRY_S).nullable().optional().describe(ABOUT_EXPIRY),
})

export const rotationRequest = request('RotationRequest', {
  overlap_hours: z
    .number()
    .min(0)
    .max(LONGEST_OVERLAP_HOURS)
    .optional()
    .describe(`hours from 0 to ${LONGEST_OVERLAP_HOURS} for which the old secret signs too`),
})

export const testFired = named('TestFired', { seq: z.int().min(1).describe('Its number.') })

/** Which signals of a range are sent again, by their states. */
export const RESENT = {
  all: 'delivered before or not',
  exhausted: 'those that were given up',
  failed:
    'those that were given up, and those that were withdrawn because the endpoint was disabled when they were due',
} as const

export const resendOnly = z
  .enum(['all', 'exhausted', 'failed'])
  .default('all')
  .describe(`all, exhausted for ${RESENT.exhausted}, or failed for ${RESENT.failed}`)

export const resent = named('Resent', {
  signals: count('Signals that match.'),
  owed_again: count('Deliveries that follow: one for each signal and endpoint.'),
})

const seqs = z.array(z.int().min(1))

/**
 * `/v1/signals/account`, and the account of a client for the operator. A signal that no endpoint has acknowledged is in the list of
 * each state that it has at one of them.
 */
export const deliveryAccount = named('DeliveryAccount', {
  from: z.int().min(1).describe('First number that is accounted for.'),
  to: z.int().min(1).describe('Last number that is accounted for.'),
  entitled: count(
    'Signals between them that the client sees, the rows of its history; or that the endpoint is to be sent.',
  ),
  delivered: count('Those that an endpoint of the client has acknowledged.'),
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
