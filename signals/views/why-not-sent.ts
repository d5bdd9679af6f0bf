// Why clients were not sent a signal, by what they were at that time: the first later action of an operator on a client has
// its state before.
import type { Redis } from 'ioredis'
import type { Client } from '../clients/clients.ts'
import type { LoggedSignal } from '../log/read-log.ts'
import { type Action, actionsSince, MOST_SINCE, type SubjectState } from '../operators/audit-log.ts'
import type { DeliveryState } from '../outbox/outbox.ts'
import { isRegistrationTest } from '../outbox/test-fire.ts'
import { askRedis } from '../redis/connect.ts'
import { RELAY_CURSOR } from '../redis/keys.ts'
import { readWebhookStates, type WebhookState } from './overview.ts'

/** Of clients that a signal was never owed to, or from which it was withdrawn: the reason for each, in their order. */
export async function whyNotSent(
  redis: Redis,
  signal: LoggedSignal,
  unsent: readonly { readonly client: Client; readonly state: DeliveryState | null }[],
): Promise<readonly string[]> {
  if (unsent.length === 0) return []
  const ids = unsent.map(({ client }) => client.id)
  const [cursor, actions, webhooks] = await Promise.all([
    askRedis(() => redis.get(RELAY_CURSOR)),
    actionsSince(redis, signal.atMs),
    readWebhookStates(redis, ids),
  ])
  return unsent.map(({ client, state }) => {
    const atMs = state?.settled_at ?? signal.atMs
    const webhook = webhooks.get(client.id)
    const then = stateAt(atMs, client, webhook, actions)
    if (typeof then === 'string') return then
    const unlogged =
      signal.seq > Number(cursor ?? 0) ? 'the relay has not reached it yet' : setterReason(webhook, atMs)
    return reasonOf(signal, client, then) ?? unlogged
  })
}

/** What a client was at a moment: its state before the first later action on it, or as it is now; a reason if there is none. */
function stateAt(
  atMs: number,
  client: Client,
  webhook: WebhookState | undefined,
  actions: readonly Action[],
): SubjectState | string {
  const next = actions.findLast(
    ({ subject, at, before, after }) =>
      subject === client.id && Date.parse(at) > atMs && (before ?? after)?.aliases !== undefined,
  )
  if (next?.before === null || Date.parse(client.created_at) > atMs)
    return `it was added later, at ${client.created_at}`
  if (next === undefined && actions.length >= MOST_SINCE)
    return `its state then is not known: more than ${MOST_SINCE} actions of operators followed`
  return next?.before ?? { ...client, webhook: webhook && { ...webhook, waiting: webhook.owed } }
}

/** The first of the reasons that held; null if none did. */
function reasonOf(signal: LoggedSignal, client: Client, then: SubjectState): string | null {
  const { alias, onlyFor } = signal
  if (onlyFor !== null && onlyFor !== client.id) return `it is a test for ${onlyFor} alone`
  if (isRegistrationTest(signal)) return 'it is a test that the registration itself sent'
  if (onlyFor === null && then.aliases?.includes(alias) !== true)
    return `it was not entitled to ${alias} then${client.aliases.includes(alias) ? ', and is now' : ''}`
  if (onlyFor === null && then.status !== 'active')
    return `its account was ${then.suspended === true ? 'suspended' : 'not active'} then`
  if (then.webhook == null) return 'it had no webhook then: it could only pull'
  return then.webhook.enabled ? null : 'its webhook was disabled then'
}

/** A client sets its webhook, and the service disables one, without an operator: no log has when. */
const setterReason = (webhook: WebhookState | undefined, atMs: number): string =>
  webhook?.set_at != null && Date.parse(webhook.set_at) > atMs
    ? `its webhook was set later, at ${webhook.set_at}`
    : 'no action of an operator explains it: the client changed its webhook, or the service disabled it'
