// Registration of webhooks: an address must acknowledge a signed test before anything else is sent to it.
import { ApiError, invalidParameter } from '#core/contract/errors.ts'
import { messageOf } from '#storage/error-code.ts'
import { assertId, findClient } from '../clients/clients.ts'
import type { RandomBytes } from '../clients/token.ts'
import { newestVisible, readSignal } from '../log/read-log.ts'
import { hourKeyOf } from '../redis/keys.ts'
import { countInHour, type HourLimit } from '../redis/per-hour.ts'
import { type AddressRules, checkUrl } from '../send/address-guard.ts'
import type { Outcome } from '../send/outcome.ts'
import type { SendSignal } from '../send/send.ts'
import {
  createWebhookSecret,
  keyOfSecret,
  liveSecrets,
  rotateSecrets,
  type WebhookSecret,
} from '../send/sign.ts'
import { clientOf, type Destination, endpointOf } from './destination.ts'
import { noteDelivered, toAttempt } from './outbox.ts'
import { endpointView } from './relay.ts'
import type { SecretBox } from './secret-box.ts'
import { OPERATOR, type Setter } from './setter.ts'
import { commitTest, type FireTestParts, REGISTRATION } from './test-fire.ts'
import { readWebhook, saveWebhook, rotateSecrets as storeRotated, type Webhook } from './webhooks.ts'

export type RegisterParts = FireTestParts & {
  readonly box: SecretBox
  readonly drawBytes: RandomBytes
  readonly send: SendSignal
  /** Allowed addresses. */
  readonly rules: AddressRules
  /** Called once a change is written. */
  readonly onChange: (change: WebhookChange) => void
}

/** A change of what a webhook is, for the log and the operator. */
export type WebhookChange = {
  readonly destination: Destination
  readonly change: 'set' | 'changed' | 'rotated' | 'removed' | 'suspended'
  /** Who made it; of a suspension the key that was revoked. */
  readonly by: Setter
}

/** The address, the secret if the subscriber has its own, and headers if they are to be others than they were. */
type WebhookRequest = {
  readonly url: string
  readonly secret: string | null
  readonly headers?: Webhook['headers'] | null | undefined
}

/** Registrations per client and hour, of all its endpoints: each makes one request to an address of the client's choice. */
export const MOST_REGISTRATIONS = 5

export const REGISTRATIONS: HourLimit = {
  most: MOST_REGISTRATIONS,
  what: 'a webhook can be registered',
  keyOf: hourKeyOf('registrations'),
}

/**
 * Sends a signed test to the address, and saves and enables the webhook if the answer is 2xx; otherwise changes nothing. A
 * moved webhook keeps its secrets, so that a receiver which verifies can acknowledge the test; a request may bring its own
 * secret, beside which the old ones sign for the usual overlap. A secret that was created, `made`, is shown this once. Headers
 * are kept at the same origin only: another one must not be sent what was meant for this one. A
 * suspended webhook loses its secrets (`dropsSecrets`) and headers, which a stolen key may have set. A client is held to the limit per
 * hour of what sends a test. Throws `validation_error`, with what is wrong with the text of an address or of a secret, and of a test
 * with its result for an operator and the same message for every failure at the address for a client; `not_found`; `conflict` if
 * the client has as many endpoints as it may, or if the webhook was changed meanwhile; `rate_limited`; `unauthorized` if the key was
 * revoked meanwhile; or RedisDownError.
 */
export async function registerWebhook(
  parts: RegisterParts,
  destination: Destination,
  { url, secret, headers: own }: WebhookRequest,
  by: Setter = OPERATOR,
) {
  const { redis, box, now, rules, onChange } = parts
  const isClient = by.kind !== 'operator'
  assertId('endpoint', endpointOf(destination))
  assertText('url', () => checkUrl(url, rules))
  if (secret !== null) assertText('secret', () => keyOfSecret(secret))
  if (isClient) await countInHour(redis, REGISTRATIONS, clientOf(destination))
  const before = await readWebhook(redis, box, destination)
  const dropsSecrets = before?.isSuspended ?? false
  const { secrets, made } = secretsFor(parts, dropsSecrets ? [] : (before?.secrets ?? []), secret)
  const isKept = !dropsSecrets && before !== null && isSameOrigin(url, before.url)
  const webhook = { destination, url, secrets, headers: own ?? (isKept ? before.headers : {}) }
  const refusal = refusalOfAnswer(await sendTest(parts, { ...webhook, filter: before?.filter ?? null }))
  if (refusal !== null) throw invalid('url', isClient ? NOT_ACKNOWLEDGED : refusal)
  if (!(await saveWebhook(redis, box, webhook, { ...by, atMs: now() }, before)))
    throw new ApiError(
      'unauthorized',
      'the key was revoked while the address was tested: nothing was changed',
    )
  onChange({ destination, change: 'set', by })
  return { made, dropsSecrets }
}

/**
 * Creates a new secret, shown this once; the old ones sign beside it for the overlap, a day if it is not given. Throws `not_found`,
 * and `conflict` also if another than `by` set the endpoint.
 */
export async function rotateWebhookSecret(
  parts: Pick<RegisterParts, 'redis' | 'box' | 'now' | 'drawBytes' | 'onChange'>,
  destination: Destination,
  overlapHours?: number,
  by: Setter = OPERATOR,
): Promise<string> {
  const { redis, box, now, drawBytes, onChange } = parts
  const made = createWebhookSecret(drawBytes)
  const overlapMs = overlapHours === undefined ? undefined : overlapHours * 3_600_000
  await storeRotated(redis, box, destination, by, secrets => rotateSecrets(secrets, made, now(), overlapMs))
  onChange({ destination, change: 'rotated', by })
  return made
}

function secretsFor({ now, drawBytes }: RegisterParts, kept: readonly WebhookSecret[], own: string | null) {
  if (own === null && kept.length > 0) return { secrets: kept, made: null }
  const newest = own ?? createWebhookSecret(drawBytes)
  const others = kept.filter(({ text }) => text !== newest)
  return { secrets: rotateSecrets(others, newest, now()), made: own === null ? newest : null }
}

/** Throws `validation_error` with what `check` says: what is wrong with a text is no secret of an address. */
function assertText(param: 'url' | 'secret', check: () => unknown): void {
  try {
    check()
  } catch (error) {
    throw invalid(param, messageOf(error))
  }
}

/**
 * Commits the test, which has a number like every signal, and sends it at once; the relay skips it. If acknowledged,
 * the outbox records it, or the client's account would list it as missing.
 */
async function sendTest(
  parts: RegisterParts,
  webhook: Pick<Webhook, 'destination' | 'url' | 'secrets' | 'headers' | 'filter'>,
): Promise<Outcome> {
  const { destination, url, secrets, headers, filter } = webhook
  const { redis, now, send } = parts
  const client = await findClient(redis, clientOf(destination))
  const prevSeq = await newestVisible(redis, endpointView(client, destination, filter))
  const seq = await commitTest(parts, destination, REGISTRATION)
  const signal = await readSignal(redis, seq)
  if (signal === null) throw new Error(`signal ${seq} was committed a moment ago and is not in the log`)
  const at = now()
  const outcome = await send({ url, secrets: liveSecrets(secrets, at), headers, signal, prevSeq, attempt: 1 })
  if (outcome.kind === 'delivered')
    await noteDelivered(redis, destination, { seq, prev: prevSeq }, toAttempt(outcome, at, 1))
  return outcome
}

const isSameOrigin = (a: string, b: string): boolean => new URL(a).origin === new URL(b).origin

/** The value is not repeated: an address may contain a token. */
const invalid = (param: 'url' | 'secret', reason: string): ApiError =>
  invalidParameter(param, '(not repeated)', reason)

/** The only answer a subscriber gets for any failure at the address, so that it cannot be used to scan. */
const NOT_ACKNOWLEDGED = 'the test fire was not acknowledged with 2xx at that address'

/** The result of the test if it is not 2xx, or null. Contains no address and nothing of the answer. */
function refusalOfAnswer(outcome: Outcome): string | null {
  if (outcome.kind === 'delivered') return null
  const reason = outcome.reason.replaceAll('_', ' ')
  if (outcome.kind === 'ourFault') return `the test fire could not be sent, by a fault of ours: ${reason}`
  const what =
    outcome.status === null
      ? reason
      : `it answered ${outcome.status}${outcome.reason === 'status' ? '' : `, ${reason}`}`
  return `${NOT_ACKNOWLEDGED}: ${what}`
}
