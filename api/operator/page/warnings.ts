// What must be confirmed first, by the id of the action: what stops signals, sends them again, or cannot be taken back.
import { toIsoInstant } from '#core/calendar.ts'
import { parseFireRequest } from '#core/contract/fire-request.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import { readHead } from '#signals/log/read-log.ts'
import { readWebhookStates } from '#signals/views/overview.ts'
import type { Exchange } from '../exchange.ts'
import type { OperatorParts } from '../parts.ts'
import { clientOf } from '../routes/clients.ts'
import { assertSentTo, replayQuery } from '../routes/webhooks.ts'
import type { Fields } from './inputs.ts'
import type { Warning } from './layout.ts'

/** Called with what the route would be sent. Null needs no confirmation. */
type Warn = (c: Exchange, parts: OperatorParts, sent: Fields) => Warning | null | Promise<Warning | null>

export const WARNINGS: Readonly<Record<string, Warn>> = {
  suspend: c => ({
    title: `Suspend ${clientOf(c)}?`,
    says: 'Its pulls are refused and its deliveries stop, at once. Signals that wait, and those that are fired until you activate it, are sent only if you resend them then. Its keys, its webhook and what it may see stay as they are.',
    label: 'Suspend',
  }),
  revoke_key: async (c, parts) => {
    const [id, key] = [clientOf(c), c.req.param('key')]
    const isSetter = (await readWebhookStates(parts.redis, [id])).get(id)?.set_by_key === key
    return {
      title: `Revoke the key ${key} of ${id}?`,
      says: `The next request with it is refused, for good.${isSetter ? ' It set the webhook, so nothing more is sent there until a live key of the client, or you, set it again.' : ''}`,
      label: 'Revoke',
    }
  },
  rotate_webhook: c => ({
    title: `Make a new secret for the webhook of ${clientOf(c)}?`,
    says: 'Deliveries are signed with the old secret and the new one for a day, then with the new one alone. Its owner must know it by then.',
    label: 'Make a new secret',
  }),
  remove_webhook: c => ({
    title: `Remove the webhook of ${clientOf(c)}?`,
    says: 'Nothing more is sent to it, and its address and secrets are deleted. The client can still pull every signal.',
    label: 'Remove',
  }),
  disable_webhook: c => ({
    title: `Disable the webhook of ${clientOf(c)}?`,
    says: 'Nothing is sent to it until you enable it. Signals that wait, and those that are fired meanwhile, are sent only if you resend them then. The client can still pull every signal.',
    label: 'Disable',
  }),
  replay: warnOfResend,
  halt: (_, __, { alias }) =>
    alias === EVERY_ALIAS
      ? {
          title: 'Halt every strategy?',
          says: 'From now on no client gets a long or a short of any strategy, whatever fires it. A flat is still sent. It lasts until you resume.',
          label: 'Halt all',
        }
      : null,
  fire: warnOfFire,
  rollback: (_, __, { version }) => ({
    title: `Serve ${version} again?`,
    says: 'Every client of the history gets this version within seconds. Nothing is deleted, and the next night publishes as ever.',
    label: 'Roll back',
  }),
  revoke_token: c => ({
    title: `Revoke the token of ${c.req.param('name')}?`,
    says: 'It opens nothing from then on, and its sessions on this page are over.',
    label: 'Revoke',
  }),
}

async function warnOfResend(c: Exchange, parts: OperatorParts, sent: Fields): Promise<Warning> {
  const { from, to, only } = parseRequest(replayQuery, sent)
  const id = await assertSentTo(clientOf(c), parts)
  const last = Math.min(to ?? Number.MAX_SAFE_INTEGER, (await readHead(parts.redis, parts.newEpoch)).seq)
  const count = Math.max(0, last - from + 1)
  const what = from === to ? `signal ${from}` : `signals ${from} to ${last}`
  const isAll = only === 'all'
  const which = isAll ? 'those that it may see, delivered before or not' : 'those that were given up'
  return {
    title: isAll ? `Send ${id} ${what} again?` : `Send ${id} what was given up again?`,
    says: `Of ${count} ${count === 1 ? 'signal' : 'signals'}, ${which} are sent to its webhook. A receiver drops what it has by signal_id.`,
    label: 'Send again',
  }
}

/** The moment and the id are those of the first look, so that a fire whose answer was lost is repeated as it was. */
function warnOfFire(_: Exchange, parts: OperatorParts, sent: Fields): Warning {
  const { clock, random } = parts
  const id = `by-hand-${Buffer.from(random(8)).toString('hex')}`
  const { timestamp = toIsoInstant(clock.now()), signal_id = id } = sent
  const adds = { timestamp: String(timestamp), signal_id: String(signal_id) }
  const { content } = parseFireRequest({ ...sent, ...adds }, '', parts, clock.now())
  const { mode, action, alias, signal_price, stop, base_risk_pct, implied_leverage } = content
  return {
    title: `Fire a ${mode} ${action} of ${alias}?`,
    says: `At ${signal_price} with the stop ${stop}, risk ${base_risk_pct}, leverage ${implied_leverage}. It is sent to every client that is entitled to ${alias}, at once, and cannot be taken back.`,
    label: 'Fire',
    adds,
  }
}
