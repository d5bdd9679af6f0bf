// Deliveries, as the pages of the operator show them.
import { html } from 'hono/html'
import type { Page, ShownDelivery } from '#signals/views/recent.ts'
import { fieldsOf } from '../route-fields.ts'
import { deliveriesQuery } from '../routes/signals.ts'
import { inputOf } from './inputs.ts'
import {
  action,
  type Cell,
  clientLink,
  duration,
  hidden,
  moment,
  type Piece,
  type Session,
  signalLink,
  statusOf,
  type Texts,
  table,
} from './layout.ts'

export const FILTER = fieldsOf(deliveriesQuery)

/** A form of filters, as they were given, and the newest deliveries that match. */
export const deliveriesPage = (
  session: Session,
  filter: Texts,
  { rows, next, problem }: Page<ShownDelivery> & { readonly problem: string | null },
  nowMs: number,
): Piece => html`<h1>Deliveries</h1>
<form method="get" action="/ops/view/deliveries" class="fields">
${FILTER.filter(({ name }) => name !== 'before' && name !== 'limit').map(field => inputOf(field, filter[field.name], field.listed))}
<button class="quiet">Show</button></form>
${filter.client !== undefined && filter.status === 'exhausted' ? html`<div class="actions">${resendFailed(session, filter.client)}</div>` : ''}
${deliveriesTable(session, rows, nowMs, [PRECISE], problem ?? NONE)}
${next === null ? '' : html`<p><a href="/ops/view/deliveries?${new URLSearchParams({ ...filter, before: String(next) })}">Older</a></p>`}`

const NONE = 'No delivery matches. The page of a signal says why a client was not sent it.'

/** A column to a millisecond, for the page of one signal. */
export const PRECISE = 'Ended (UTC)'

/** Deliveries, each with a button that sends it again, without the columns that a page hides. */
export function deliveriesTable(
  session: Session,
  rows: readonly ShownDelivery[],
  nowMs: number,
  hides: readonly string[],
  empty: string,
): Piece {
  const columns: readonly (readonly [name: string, cell: (row: ShownDelivery) => Cell])[] = [
    ['#Signal', ({ seq }) => signalLink(seq)],
    ['Client', ({ client }) => clientLink(client)],
    ['State', statusOf],
    ['', ({ client, seq }) => resend(session, client, 'Resend…', { from: String(seq), to: String(seq) })],
    [
      'Next attempt (UTC)',
      ({ next_attempt_at: at }) => (at !== null && Date.parse(at) <= nowMs ? 'now' : moment(at)),
    ],
    ['Strategy', ({ alias }) => alias],
    ['#Attempts', ({ attempts }) => attempts],
    ['#Latency', ({ latency_ms }) => duration(latency_ms)],
    ['Fired (UTC)', ({ fired_at }) => moment(fired_at)],
    [PRECISE, ({ settled_at }) => moment(settled_at, true)],
  ]
  const shown = columns.filter(([name]) => !hides.includes(name))
  return table(
    shown.map(([name]) => name),
    rows.map(row => shown.map(([, cell]) => cell(row))),
    empty,
  )
}

const resend = (session: Session, client: string, label: string, range: Texts): Piece =>
  action(session, `/ops/view/clients/${client}/replay`, label, 'quiet', hidden(range))

/** Sends again what was given up. */
export const resendFailed = (session: Session, client: string): Piece =>
  resend(session, client, 'Resend all given up…', { from: '1', only: 'exhausted' })
