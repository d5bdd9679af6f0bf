import { html } from 'hono/html'
import { MOST_LIVE_KEYS } from '#signals/clients/api-keys.ts'
import type { Client } from '#signals/clients/client.ts'
import type { Day, Latency, Spread } from '#signals/views/latency.ts'
import type { WebhookState } from '#signals/views/overview.ts'
import type { WebhookAddress } from '../parts.ts'
import { nearestHint, type readClient } from '../routes/clients.ts'
import { dayCharts } from './charts.ts'
import { deliveriesTable, PRECISE, resendFailed } from './deliveries.ts'
import {
  action,
  clientLink,
  counted,
  duration,
  entry,
  moment,
  type Piece,
  type Session,
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
  clients.map(({ id, tier, status, aliases, suspended }) => [
    clientLink(id),
    webhookWord(webhooks.get(id)),
    webhooks.get(id)?.owed ?? 0,
    accountWord({ status, suspended }),
    tier,
    aliases.length,
  ]),
  'No client yet: add one below.',
)}
${session.may('/ops/view/clients') ? html`<h2>Add a client</h2>` : ''}
${entry(session, '/ops/view/clients', {}, 'panel fields')}`

function accountWord({ status, suspended }: Pick<Client, 'status' | 'suspended'>): Piece {
  if (status === 'active') return html`<span class="good">active</span>`
  return suspended ? html`<span class="bad">suspended</span>` : html`<span class="warn">pending</span>`
}

type ClientView = Awaited<ReturnType<typeof readClient>> & {
  readonly address: WebhookAddress | null
  readonly day: Day
  /** The strategies of the served dataset. */
  readonly served: ReadonlySet<string>
  readonly nowMs: number
}

export function clientPage(session: Session, view: ClientView): Piece {
  const { client, keys, webhook, address, day, served, latency, deliveries, nowMs } = view
  const base = `/ops/view/clients/${client.id}`
  const isActive = client.status === 'active'
  const entitled = { aliases: client.aliases.join(', '), program: client.program ? 'yes' : '' }
  return html`<h1>${client.id} <span>${client.tier}</span></h1>
<div class="panel">${accountWord(client)}, made on ${client.created_at.slice(0, 10)},
entitled to ${entitlements(client, served)}
${entry(session, `${base}/entitlements`, entitled)}
<div class="actions">${isActive ? action(session, `${base}/suspend`, 'Suspend…', 'stop') : action(session, `${base}/activate`, 'Activate')}</div></div>
<h2>Keys</h2>
${table(
  ['Key', '', 'Last used (UTC)', 'Confirmed (UTC)', 'Made (UTC)'],
  keys.map(key => [
    html`<code>${key.id}</code>`,
    action(session, `${base}/keys/${key.id}/revoke`, 'Revoke…', 'stop'),
    key.last_used_at === null ? 'never' : moment(key.last_used_at),
    key.confirmed_at === null ? 'not yet' : moment(key.confirmed_at),
    moment(key.created_at),
  ]),
  'No key yet.',
)}
${keys.length < MOST_LIVE_KEYS ? html`<div class="actions">${action(session, `${base}/keys`, 'Issue a key', 'quiet')}</div>` : html`<p class="dim">A client has two keys at most: revoke one, or wait until the client confirms the newer one.</p>`}
<h2>Webhook</h2>
${webhook === undefined ? html`<div class="panel">None, so the client pulls.${entry(session, `${base}/webhook`)}</div>` : webhookPanel(session, base, webhook, address)}
<h2>Latency${latency.deliveries === 0 ? '' : html` <span>last ${counted(latency.deliveries, 'delivery')}, from the log on</span>`}</h2>
${latencyTable(latency)}
<h2>Deliveries of the last 24 hours</h2>
${dayCharts(day)}
<h2>Last deliveries <span><a href="/ops/view/deliveries?client=${client.id}">all</a></span></h2>
${deliveriesTable(session, deliveries, nowMs, ['Client', PRECISE], 'No deliveries yet.')}`
}

const entitlements = ({ aliases, program }: Client, served: ReadonlySet<string>): Piece =>
  aliases.length === 0 && !program
    ? html`nothing`
    : html`${aliases.map((alias, i) => [i === 0 ? '' : ', ', served.has(alias) ? alias : html`<span class="warn">${alias} (not served now)${nearestHint(alias, served)}</span>`])}${program ? `${aliases.length === 0 ? '' : ' and '}the program` : ''}`

function latencyTable({ first_attempt_ms, acknowledged_ms }: Latency): Piece {
  const row = (stage: string, spread: Spread | null) =>
    spread === null ? [] : [[stage, ...[spread.p50, spread.p99, spread.max].map(duration)]]
  const rows = [...row('First attempt', first_attempt_ms), ...row('Acknowledged', acknowledged_ms)]
  return table(['Until', '#Median', '#99 %', '#Longest'], rows, 'No deliveries yet.')
}

function webhookPanel(
  session: Session,
  base: string,
  webhook: WebhookState,
  address: WebhookAddress | null,
): Piece {
  const changes = html`<details><summary>Change it</summary>${entry(session, `${base}/webhook`)}
<div class="actions">${action(session, `${base}/webhook/rotate`, 'New secret…', 'quiet')}${action(session, `${base}/webhook/remove`, 'Remove…', 'stop')}</div></details>`
  return html`<div class="panel"><code>${address?.url ?? 'its address cannot be opened'}</code><br>
${webhookWord(webhook)}${webhook.lane === 'slow' ? ', answers slowly or fails' : ''}, waiting: ${counted(webhook.owed, 'delivery')}${
    webhook.failing_since === null ? '' : html`, failing since ${moment(webhook.failing_since)}`
  }${webhook.set_at === null ? '' : html`, set ${moment(webhook.set_at)} by ${webhook.set_by_key === null ? 'the operator' : html`key <code>${webhook.set_by_key}</code>`}`}${webhook.disabled_why === null ? '' : html`<br><span class="bad">${webhook.disabled_why}</span>`}
<div class="actions">${action(session, `${base}/test`, 'Fire a test', 'quiet')}
${webhook.enabled ? action(session, `${base}/disable`, 'Disable…', 'stop') : action(session, `${base}/enable`, 'Enable')}
${resendFailed(session, webhook.client)}</div>${entry(session, `${base}/replay`)}${session.may(`${base}/webhook`) ? changes : ''}</div>`
}
