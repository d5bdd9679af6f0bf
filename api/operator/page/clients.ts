import { html, raw } from 'hono/html'
import { MOST_LIVE_KEYS } from '#signals/clients/api-keys.ts'
import type { Client } from '#signals/clients/client.ts'
import type { Day } from '#signals/views/hours.ts'
import type { Latency, Spread } from '#signals/views/latency.ts'
import type { WebhookState } from '#signals/views/overview.ts'
import type { DeliveryRow } from '#signals/views/recent.ts'
import type { WebhookAddress } from '../parts.ts'
import { nearestHint, type readClient } from '../routes/clients.ts'
import { dayCharts } from './charts.ts'
import {
  action,
  clientLink,
  counted,
  duration,
  form,
  latencyOf,
  moment,
  type Piece,
  type Session,
  signalLink,
  statusOf,
  table,
  webhookWord,
} from './layout.ts'

export const clientsPage = (
  session: Session,
  clients: readonly Client[],
  webhooks: ReadonlyMap<string, WebhookState>,
): Piece => html`<h1>Clients</h1>
${table(
  ['Client', 'Webhook', '#Waiting', 'Account', 'Tier', '#Strategies'],
  clients.map(
    ({
      id,
      tier,
      status,
      aliases,
      suspended,
    }) => html`<tr><td>${clientLink(id)}</td><td>${webhookWord(webhooks.get(id))}</td>
<td class="n">${webhooks.get(id)?.owed ?? 0}</td><td>${accountWord({ status, suspended })}</td><td>${tier}</td><td class="n">${aliases.length}</td></tr>`,
  ),
  'No client yet: add one below.',
)}
${session.may('/ops/view/clients') ? html`<h2>Add a client</h2>` : ''}
${form(session, '/ops/view/clients', NEW_CLIENT, 'panel fields')}`

const NEW_CLIENT = html`<label>Id <input name="id" required pattern="[a-z0-9][a-z0-9_\\-]*" maxlength="64" placeholder="acme-capital" title="1 to 64 of a-z, 0-9, - and _"></label>
<label>Tier <input name="tier" value="standard" required></label>
<label>Strategies <input name="aliases" placeholder="alder, birch"></label>
<label><input type="checkbox" name="activate" value="yes"> active at once</label>
<button>Add</button>`

function accountWord({ status, suspended }: Pick<Client, 'status' | 'suspended'>): Piece {
  if (status === 'active') return html`<span class="good">active</span>`
  return suspended ? html`<span class="bad">suspended</span>` : html`<span class="warn">pending</span>`
}

type ClientView = Awaited<ReturnType<typeof readClient>> & {
  readonly address: WebhookAddress | null
  readonly day: Day
  /** The strategies of the served dataset. */
  readonly served: ReadonlySet<string>
}

export function clientPage(session: Session, view: ClientView): Piece {
  const { client, keys, webhook, address, day, served, latency, deliveries } = view
  const base = `/ops/view/clients/${client.id}`
  const isActive = client.status === 'active'
  return html`<h1>${client.id} <span>${client.tier}</span></h1>
<div class="panel">${accountWord(client)}, made on ${client.created_at.slice(0, 10)},
entitled to ${entitlements(client, served)}
${form(session, `${base}/entitlements`, entitlementFields(client), 'fields')}
<div class="actions">${isActive ? action(session, `${base}/suspend`, 'Suspend…', 'stop') : action(session, `${base}/activate`, 'Activate')}</div></div>
<h2>Keys</h2>
${table(
  ['Key', '', 'Last used (UTC)', 'Confirmed (UTC)', 'Made (UTC)'],
  keys.map(
    key =>
      html`<tr><td><code>${key.id}</code></td><td>${action(session, `${base}/keys/${key.id}/revoke`, 'Revoke…', 'stop')}</td><td>${instant(key.last_used_at, 'never')}</td><td>${instant(key.confirmed_at, 'not yet')}</td><td>${instant(key.created_at, '')}</td></tr>`,
  ),
  'No key yet.',
)}
${keys.length < MOST_LIVE_KEYS ? html`<div class="actions">${action(session, `${base}/keys`, 'Issue a key', 'quiet')}</div>` : html`<p class="dim">A client has two keys at most: revoke one, or wait until the client confirms the newer one.</p>`}
<h2>Webhook</h2>
${webhook === undefined ? html`<div class="panel">None, so the client pulls.${webhookForm(session, base)}</div>` : webhookPanel(session, base, webhook, address)}
<h2>Latency${latency.deliveries === 0 ? '' : html` <span>last ${counted(latency.deliveries, 'delivery')}, from the log on</span>`}</h2>
${latencyTable(latency)}
<h2>Deliveries of the last 24 hours</h2>
${dayCharts(day)}
<h2>Last deliveries</h2>
${table(
  ['#Signal', 'State', '#Latency', 'Strategy', '#Attempts', 'Fired (UTC)'],
  deliveries.map(deliveryRow),
  'No deliveries yet.',
)}`
}

const entitlementFields = ({ aliases, program }: Client): Piece =>
  html`<label>Strategies <input name="aliases" size="36" value="${aliases.join(', ')}" placeholder="alder, birch"></label>
<label><input type="checkbox" name="program" value="yes"${program ? raw(' checked') : ''}> accumulation program</label>
<button class="quiet">Save</button>`

const entitlements = ({ aliases, program }: Client, served: ReadonlySet<string>): Piece =>
  aliases.length === 0 && !program
    ? html`nothing`
    : html`${aliases.map((alias, i) => [i === 0 ? '' : ', ', served.has(alias) ? alias : html`<span class="warn">${alias} (not served now)${nearestHint(alias, served)}</span>`])}${program ? `${aliases.length === 0 ? '' : ' and '}the program` : ''}`

const webhookForm = (session: Session, base: string): Piece =>
  form(session, `${base}/webhook`, NEW_WEBHOOK, 'fields')

const NEW_WEBHOOK = html`<label>Address <input name="url" type="url" size="36" required placeholder="https://hooks.example.org/signals"></label>
<label>Secret <input name="secret" size="24" autocomplete="off" placeholder="made if left empty"></label>
<button class="quiet">Test and set</button>`

const instant = (text: string | null, none: string): Piece | string =>
  text === null ? none : moment(Date.parse(text))

const deliveryRow = ({ seq, alias, firedAtMs, state }: DeliveryRow): Piece =>
  html`<tr><td class="n">${signalLink(seq)}</td><td>${statusOf(state)}</td><td class="n">${latencyOf(firedAtMs, state)}</td>
<td>${alias}</td><td class="n">${state.attempts}</td><td>${moment(firedAtMs)}</td></tr>`

const latencyTable = ({ firstAttempt, acknowledged }: Latency): Piece =>
  table(
    ['Until', '#Median', '#99 %', '#Longest'],
    [...latencyRow('First attempt', firstAttempt), ...latencyRow('Acknowledged', acknowledged)],
    'No deliveries yet.',
  )

const latencyRow = (stage: string, spread: Spread | null): readonly Piece[] =>
  spread === null
    ? []
    : [
        html`<tr><td>${stage}</td>${[spread.p50, spread.p99, spread.max].map(ms => html`<td class="n">${duration(ms)}</td>`)}</tr>`,
      ]

function webhookPanel(
  session: Session,
  base: string,
  webhook: WebhookState,
  address: WebhookAddress | null,
): Piece {
  const { health } = webhook.condition
  const range = html`<input type="number" name="from" min="1" required placeholder="from signal" aria-label="first signal to send again"> <input type="number" name="to" min="1" placeholder="to newest" aria-label="last signal to send again">`
  const changes = html`<details><summary>Change it</summary>${webhookForm(session, base)}
<div class="actions">${action(session, `${base}/webhook/rotate`, 'New secret…', 'quiet')}${action(session, `${base}/webhook/remove`, 'Remove…', 'stop')}</div></details>`
  return html`<div class="panel"><code>${address?.url ?? 'its address cannot be opened'}</code><br>
${webhookWord(webhook)}${webhook.lane === 'slow' ? ', answers slowly or fails' : ''}, waiting: ${counted(webhook.owed, 'delivery')}${
    health.failingSinceMs === null ? '' : html`, failing since ${moment(health.failingSinceMs)}`
  }${webhook.setter === null ? '' : html`, set ${moment(webhook.setter.atMs)} by ${webhook.setter.keyId === null ? 'the operator' : html`key <code>${webhook.setter.keyId}</code>`}`}${webhook.disabledWhy === null ? '' : html`<br><span class="bad">${webhook.disabledWhy}</span>`}
<div class="actions">${action(session, `${base}/test`, 'Fire a test', 'quiet')}
${webhook.enabled ? action(session, `${base}/disable`, 'Disable…', 'stop') : action(session, `${base}/enable`, 'Enable')}
${resendFailed(session, webhook.client)}${action(session, `${base}/replay`, 'Resend…', 'quiet', range)}</div>${session.may(`${base}/webhook`) ? changes : ''}</div>`
}

/** Sends again what was given up. */
export const resendFailed = (session: Session, client: string): Piece =>
  action(
    session,
    `/ops/view/clients/${client}/replay`,
    'Resend all given up…',
    'quiet',
    html`<input type="hidden" name="from" value="1"><input type="hidden" name="only" value="exhausted">`,
  )
