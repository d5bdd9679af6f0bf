// Deliveries, filtered, as the operator's page shows them.
import { html, raw } from 'hono/html'
import type { DeliveryRow, Page } from '#signals/views/recent.ts'
import { DELIVERY_STATUSES } from '../views.ts'
import { resendFailed } from './clients.ts'
import {
  action,
  clientLink,
  latencyOf,
  moment,
  type Piece,
  type Session,
  STATUS_WORDS,
  signalLink,
  statusOf,
  table,
} from './layout.ts'

/** What is shown, as the fields of the query. */
type Filter = {
  readonly client?: string | undefined
  readonly alias?: string | undefined
  readonly status?: DeliveryRow['state']['status'] | undefined
  readonly fired_from?: string | undefined
  readonly fired_to?: string | undefined
}

/** A form of filters, the newest deliveries that match, and buttons that send again. */
export const deliveriesPage = (
  session: Session,
  filter: Filter,
  { rows, next }: Page<DeliveryRow>,
): Piece => html`<h1>Deliveries</h1>
<form method="get" action="/ops/view/deliveries" class="filter">
${field('client', 'Client', filter.client)}${field('alias', 'Strategy', filter.alias)}
<label>State <select name="status"><option value="">any</option>${DELIVERY_STATUSES.map(
  status =>
    html`<option value="${status}"${status === filter.status ? raw(' selected') : ''}>${STATUS_WORDS[status]}</option>`,
)}</select></label>
${time('fired_from', 'Fired from (UTC)', filter.fired_from)}${time('fired_to', 'to', filter.fired_to)}
<button class="quiet">Show</button></form>
${filter.client !== undefined && filter.status === 'exhausted' ? html`<div class="actions">${resendFailed(session, filter.client)}</div>` : ''}
${table(
  ['#Signal', 'Client', 'State', '', 'Strategy', '#Attempts', '#Latency', 'Fired (UTC)'],
  rows.map(
    ({ seq, client, alias, firedAtMs, state }) =>
      html`<tr><td class="n">${signalLink(seq)}</td><td>${clientLink(client)}</td><td>${statusOf(state)}</td>
<td>${action(session, replayPath(client), 'Resend…', 'quiet', hidden({ from: String(seq), to: String(seq) }))}</td>
<td>${alias}</td><td class="n">${state.attempts}</td><td class="n">${latencyOf(firedAtMs, state)}</td><td>${moment(firedAtMs)}</td></tr>`,
  ),
  'No delivery matches.',
)}${next === null ? '' : html`<p><a href="/ops/view/deliveries?${queryOf({ ...filter, before: String(next) })}">Older</a></p>`}`

const replayPath = (client: string): string => `/ops/view/clients/${client}/replay`

const field = (name: string, label: string, value: string | undefined, type = 'text'): Piece =>
  html`<label>${label} <input type="${type}" name="${name}" value="${value ?? ''}"></label>`

const time = (name: string, label: string, value: string | undefined): Piece =>
  field(name, label, value?.slice(0, 16), 'datetime-local')

const hidden = (fields: Readonly<Record<string, string>>): Piece =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`

function queryOf(fields: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, value)
  return query.toString()
}
