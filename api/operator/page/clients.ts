import { html } from 'hono/html'
import type { ApiKey } from '#signals/clients/api-keys.ts'
import type { Client } from '#signals/clients/client.ts'
import type { DeliveryRow } from '#signals/views/recent.ts'
import type { WebhookState } from '#signals/views/webhook-state.ts'
import type { WebhookAddress } from '../parts.ts'
import type { Piece } from './layout.ts'
import {
  action,
  clientLink,
  moment,
  OWN_DELIVERY_COLUMNS,
  ownDeliveryRow,
  sentence,
  table,
  webhookWord,
} from './pieces.ts'
import type { Session } from './session.ts'

export const clientsPage = (
  clients: readonly Client[],
  webhooks: ReadonlyMap<string, WebhookState>,
): Piece => html`<h1>Clients</h1>
${table(
  ['Client', 'Tier', 'Account', 'Webhook', '#Owed', '#Aliases'],
  clients.map(
    ({
      id,
      tier,
      status,
      aliases,
    }) => html`<tr><td>${clientLink(id)}</td><td>${tier}</td><td>${accountWord(status)}</td>
<td>${webhookWord(webhooks.get(id))}</td><td class="n">${webhooks.get(id)?.owed ?? 0}</td><td class="n">${aliases.length}</td></tr>`,
  ),
  'Nobody yet: `highwater ops clients add ID` adds a client.',
)}`

const accountWord = (status: Client['status']): Piece =>
  status === 'active' ? html`<span class="good">active</span>` : html`<span class="warn">pending</span>`

export type ClientView = {
  readonly client: Client
  readonly keys: readonly ApiKey[]
  readonly webhook: WebhookState | undefined
  readonly address: WebhookAddress | null
  readonly deliveries: readonly DeliveryRow[]
}

export function clientPage(session: Session, view: ClientView): Piece {
  const { client, keys, webhook, address, deliveries } = view
  const base = `/ops/view/clients/${client.id}`
  const isActive = client.status === 'active'
  return html`<h1>${client.id} <span>${client.tier}</span></h1>
<div class="panel">${accountWord(client.status)}, made on ${client.created_at.slice(0, 10)},
entitled to ${client.aliases.length === 0 ? 'nothing' : client.aliases.join(', ')}${client.program ? ' and the program' : ''}
<div class="actions">${isActive ? action(session, `${base}/suspend`, 'Suspend', 'stop') : action(session, `${base}/activate`, 'Activate')}</div></div>
<h2>Keys</h2>
${table(
  ['Key', 'Made', 'Confirmed', 'Last used'],
  keys.map(
    key =>
      html`<tr><td><code>${key.id}</code></td><td>${key.created_at}</td><td>${key.confirmed_at ?? 'not yet'}</td><td>${key.last_used_at ?? 'never'}</td></tr>`,
  ),
  'No key: `highwater ops keys issue` makes one.',
)}
<h2>Webhook</h2>
${webhook === undefined ? html`<div class="scroll"><p class="empty">${sentence('None, so the client pulls: `highwater ops webhook set` sets one.')}</p></div>` : webhookPanel(session, base, webhook, address)}
<h2>Last deliveries</h2>
${table(OWN_DELIVERY_COLUMNS, deliveries.map(ownDeliveryRow), 'Nothing was delivered yet.')}`
}

function webhookPanel(
  session: Session,
  base: string,
  webhook: WebhookState,
  address: WebhookAddress | null,
): Piece {
  const { health, breaker } = webhook.condition
  const isBreakerTold = webhook.enabled && breaker.kind === 'open' // by the word in front
  const from = html`<input type="number" name="from" min="1" required placeholder="from signal" aria-label="first signal to send again">`
  return html`<div class="panel"><code>${address?.url ?? 'its address cannot be opened'}</code><br>
${webhookWord(webhook)}, ${webhook.lane} lane${isBreakerTold ? '' : `, breaker ${breaker.kind}`}, owed ${webhook.owed}${
    health.failingSinceMs === null ? '' : html`, failing since ${moment(health.failingSinceMs)}`
  }${webhook.disabledWhy === null ? '' : html`<br><span class="bad">${webhook.disabledWhy}</span>`}
<div class="actions">${action(session, `${base}/test`, 'Fire a test', 'quiet')}
${webhook.enabled ? action(session, `${base}/disable`, 'Disable', 'stop') : action(session, `${base}/enable`, 'Enable')}
${action(session, `${base}/replay`, 'Replay', 'quiet', from)}</div></div>`
}
