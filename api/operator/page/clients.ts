import { html } from 'hono/html'
import { MOST_LIVE_KEYS } from '#signals/clients/api-keys.ts'
import { SealError } from '#signals/outbox/secret-box.ts'
import { type Latency, readHours, type Spread } from '#signals/views/recent.ts'
import type { OperatorParts } from '../parts.ts'
import { type ListedClient, nearestHint, readClient, readClients } from '../routes/clients.ts'
import { readAddress } from '../routes/webhooks.ts'
import type { WebhookView } from '../views.ts'
import { dayCharts, deliveriesTable, PRECISE, resendGivenUp } from './deliveries.ts'
import { offers } from './forms.ts'
import {
  clientLink,
  counted,
  duration,
  moment,
  type Piece,
  type Session,
  section,
  type Texts,
  table,
  toned,
  webhookWord,
} from './layout.ts'

export const clientsPage = async (_: Texts, { redis }: OperatorParts, session: Session): Promise<Piece> => {
  const clients = await readClients(redis)
  return html`<h1>Clients</h1>
${table(
  ['Client', 'Webhook', '#Waiting', 'Account', 'Tier', '#Strategies'],
  clients.map(({ id, tier, status, aliases, suspended, webhook }) => [
    clientLink(id),
    webhookWord(webhook),
    webhook?.owed ?? 0,
    accountWord({ status, suspended }),
    tier,
    aliases.length,
  ]),
  'No client yet: add one below.',
)}
${section('Add a client', offers(session, 'clients'))}`
}

function accountWord({ status, suspended }: Pick<ListedClient, 'status' | 'suspended'>): Piece {
  if (status === 'active') return toned('good', 'active')
  return suspended ? toned('bad', 'suspended') : toned('warn', 'pending')
}

export async function clientPage({ client: id = '' }: Texts, parts: OperatorParts, session: Session) {
  const nowMs = parts.clock.now()
  const client = await readClient(id, parts.redis)
  const { keys, webhook, latency, deliveries } = client
  const day = await readHours(parts.redis, nowMs, id)
  const address = webhook && (await readAddress(id, parts).catch(nullIfSealed))
  const entitled = { client: id, aliases: client.aliases.join(', '), program: client.program ? 'yes' : '' }
  return html`<h1>${id} <span>${client.tier}</span></h1>
<div class="panel">${accountWord(client)}, made on ${client.created_at.slice(0, 10)},
entitled to ${entitlements(client, session.served)}
${offers(session, 'client', entitled, client)}</div>
<h2>Keys</h2>
${table(
  ['Key', '', 'Last used (UTC)', 'Confirmed (UTC)', 'Made (UTC)'],
  keys.map(key => [
    html`<code>${key.id}</code>`,
    offers(session, 'key', { client: id, key: key.id }),
    key.last_used_at === null ? 'never' : moment(key.last_used_at),
    key.confirmed_at === null ? 'not yet' : moment(key.confirmed_at),
    moment(key.created_at),
  ]),
  'No key yet.',
)}
${keys.length < MOST_LIVE_KEYS ? offers(session, 'keys', { client: id }) : html`<p class="dim">A client has two keys at most: revoke one, or wait until the client confirms the newer one.</p>`}
<h2>Webhook</h2>
${webhookPanel(session, id, webhook, address)}
<h2>Latency${latency.deliveries === 0 ? '' : html` <span>last ${counted(latency.deliveries, 'delivery')}, from the log on</span>`}</h2>
${latencyTable(latency)}
<h2>Deliveries of the last 24 hours</h2>
${dayCharts(day)}
<h2>Last deliveries <span><a href="/ops/view/deliveries?client=${id}">all</a></span></h2>
${deliveriesTable(session, deliveries, nowMs, ['Client', PRECISE], 'No deliveries yet.')}`
}

/** The page is shown without the address if the key that sealed it is missing. */
function nullIfSealed(error: unknown): null {
  if (error instanceof SealError) return null
  throw error
}

const entitlements = ({ aliases, program }: ListedClient, served: ReadonlySet<string>): Piece => {
  const names = aliases.map(alias =>
    served.has(alias)
      ? html`${alias}`
      : toned('warn', `${alias} (not served now)${nearestHint(alias, served)}`),
  )
  const all = program ? [...names, html`the program`] : names
  return all.length === 0 ? html`nothing` : html`${all.map((each, i) => (i === 0 ? each : html`, ${each}`))}`
}

function latencyTable({ first_attempt_ms, acknowledged_ms }: Latency): Piece {
  const row = (stage: string, spread: Spread | null) =>
    spread === null ? [] : [[stage, ...[spread.p50, spread.p99, spread.max].map(duration)]]
  const rows = [...row('First attempt', first_attempt_ms), ...row('Acknowledged', acknowledged_ms)]
  return table(['Until', '#Median', '#99 %', '#Longest'], rows, 'No deliveries yet.')
}

function webhookPanel(
  session: Session,
  client: string,
  webhook: WebhookView | null,
  address: { readonly url: string } | null,
): Piece {
  const settings = offers(session, 'settings of a webhook', { client }, { isSet: webhook !== null })
  if (webhook === null) return html`<div class="panel">None, so the client pulls.${settings}</div>`
  const { lane, owed, failing_since, set_at, set_by_key, disabled_why } = webhook
  const setter = set_by_key === null ? 'the operator' : html`key <code>${set_by_key}</code>`
  return html`<div class="panel"><code>${address?.url ?? 'its address cannot be opened'}</code><br>
${webhookWord(webhook)}${lane === 'slow' ? ', answers slowly or fails' : ''}, waiting: ${counted(owed, 'delivery')}${
    failing_since === null ? '' : html`, failing since ${moment(failing_since)}`
  }${set_at === null ? '' : html`, set ${moment(set_at)} by ${setter}`}${disabled_why === null ? '' : html`<br><span class="bad">${disabled_why}</span>`}
${offers(session, 'webhook', { client }, webhook)}${resendGivenUp(session, client)}
${settings === '' ? '' : html`<details><summary>Change it</summary>${settings}</details>`}</div>`
}
