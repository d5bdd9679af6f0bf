// Why clients were not sent a signal, by what they were at that time: the first later action of an operator on a client has
// its state before.
import type { Redis } from 'ioredis'
import { instantOf } from '#core/calendar.ts'
import type { Client } from '../clients/clients.ts'
import type { LoggedSignal } from '../log/read-log.ts'
import { type Action, actionsSince, MOST_SINCE, type SubjectState } from '../operators/audit-log.ts'
import { clientOf, DEFAULT_ENDPOINT, type Destination, endpointOf } from '../outbox/destination.ts'
import { type DeliveryState, readAttempts, readDeliveries } from '../outbox/outbox.ts'
import { isRegistrationTest } from '../outbox/test-fire.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAY_CURSOR } from '../redis/keys.ts'
import { readWebhookStates, toLogged, type WebhookState, type Webhooks } from './overview.ts'
import { showDelivery } from './recent.ts'

/** An endpoint of a client, and what became of the delivery to it; null if it was never owed. */
type Unsent = {
  readonly client: Client
  readonly destination: Destination
  readonly state: DeliveryState | null
}

/** Whether a signal was not sent, and is not about to be: then `whyNotSent` has a reason. */
export const isUnsent = (state: DeliveryState | null, webhook: WebhookState | undefined): boolean =>
  state === null ||
  ['withdrawn', 'expired'].includes(state.status) ||
  (state.status === 'owed' && webhook?.paused === true)

/**
 * What became of a signal at endpoints of a client: each delivery as it is shown, null if it was never owed, its attempts, and why it
 * was not sent; null if it was, or is about to be.
 */
export async function explainDeliveries(
  redis: Redis,
  signal: LoggedSignal,
  client: Client,
  destinations: readonly Destination[],
) {
  const { seq, alias, atMs: firedAtMs } = signal
  const [[states = []], webhooks] = await Promise.all([
    readDeliveries(redis, [signal], destinations),
    readWebhookStates(redis, [client.id]),
  ])
  const found = destinations.map((destination, i) => ({ client, destination, state: states[i] ?? null }))
  const unsent = found.filter(({ state, destination }) => isUnsent(state, webhooks.get(destination)))
  const whys = await whyNotSent(redis, signal, unsent, webhooks)
  return Promise.all(
    found.map(async each => {
      const { destination, state } = each
      const attempts = await readAttempts(redis, seq, destination)
      return {
        destination,
        delivery: state && (await showDelivery(redis, { seq, destination, alias, firedAtMs, state })),
        why: whys[unsent.indexOf(each)] ?? null,
        attempts: attempts.map(({ at, ...rest }) => ({ at: instantOf(at), ...rest })),
      }
    }),
  )
}

/** Of endpoints that a signal was not sent to: the reason for each, in their order. `webhooks` has those of their clients. */
export async function whyNotSent(
  redis: Redis,
  signal: LoggedSignal,
  unsent: readonly Unsent[],
  webhooks: Webhooks,
): Promise<readonly string[]> {
  if (unsent.length === 0) return []
  const [cursor, actions] = await Promise.all([
    askRedis(() => redis.get(RELAY_CURSOR)),
    actionsSince(redis, signal.atMs),
  ])
  return unsent.map(each => {
    const { destination, state } = each
    if (state?.status === 'expired')
      return 'it expired: as an entry it was older than its endpoint takes, and is in the pull'
    if (state?.status === 'owed') return 'its endpoint is paused: it is sent once that goes on'
    const atMs = state?.settled_at ?? signal.atMs
    const webhook = webhooks.get(destination)
    const then = stateAt(atMs, each, webhook, actions)
    if (typeof then === 'string') return then
    const unlogged =
      signal.seq > Number(cursor ?? 0) ? 'the relay has not reached it yet' : setterReason(webhook, atMs)
    return reasonOf(signal, each, then, webhook) ?? unlogged
  })
}

/** What a client was at a moment, with the endpoint in the place of its webhook: its state before the first later action on it, or as it is now; a reason if there is none. */
function stateAt(
  atMs: number,
  { client, destination }: Unsent,
  webhook: WebhookState | undefined,
  actions: readonly Action[],
): SubjectState | string {
  const next = actions.findLast(
    ({ subject, at, before, after }) =>
      subject !== null &&
      clientOf(subject) === client.id &&
      Date.parse(at) > atMs &&
      (before ?? after)?.aliases !== undefined,
  )
  if (next?.before === null || Date.parse(client.created_at) > atMs)
    return `it was added later, at ${client.created_at}`
  if (next === undefined && actions.length >= MOST_SINCE)
    return `its state then is not known: more than ${MOST_SINCE} actions of operators followed`
  if (next === undefined) return { ...client, webhook: webhook && toLogged(webhook) }
  const endpoint = endpointOf(destination)
  return endpoint === DEFAULT_ENDPOINT
    ? next.before!
    : { ...next.before, webhook: next.before!.endpoints?.[endpoint] }
}

/** The first of the reasons that held; null if none did. */
function reasonOf(
  signal: LoggedSignal,
  { client, destination }: Unsent,
  then: SubjectState,
  webhook: WebhookState | undefined,
): string | null {
  const { alias, onlyFor } = signal
  if (onlyFor !== null && onlyFor !== destination) return `it is a test for ${onlyFor} alone`
  if (isRegistrationTest(signal)) return 'it is a test that the registration itself sent'
  if (onlyFor === null && then.aliases?.includes(alias) !== true)
    return `it was not entitled to ${alias} then${client.aliases.includes(alias) ? ', and is now' : ''}`
  if (onlyFor === null && then.status !== 'active')
    return `its account was ${then.suspended === true ? 'suspended' : 'not active'} then`
  if (then.webhook == null) return 'it had no webhook then: it could only pull'
  if (!then.webhook.enabled) return 'its webhook was disabled then'
  const isLeftOut = onlyFor === null && webhook?.filter?.includes(alias) === false
  return isLeftOut ? `its filter leaves ${alias} out` : null
}

/** A client sets its webhook, and the service disables one, without an operator: no log has when. */
const setterReason = (webhook: WebhookState | undefined, atMs: number): string =>
  webhook?.set_at != null && Date.parse(webhook.set_at) > atMs
    ? `its webhook was set later, at ${webhook.set_at}`
    : 'no action of an operator explains it: the client changed its webhook, or the service disabled it'
