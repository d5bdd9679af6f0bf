import { max, sum } from 'd3-array'
import { html, raw } from 'hono/html'
import { ApiError } from '#core/contract/errors.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { barChart } from '#pages/charts/bar-chart.ts'
import {
  type Day,
  type Hour,
  recentDeliveries,
  type ShownDelivery,
  showDeliveries,
} from '#signals/views/recent.ts'
import { type Fields, inputOf, sentBy } from '../../service/page/forms.ts'
import {
  type Cell,
  duration,
  moment,
  type Piece,
  statusOf,
  type Texts,
  table,
} from '../../service/page/layout.ts'
import { fieldsOf } from '../../service/page/page-route.ts'
import type { OperatorParts } from '../parts.ts'
import { deliveriesQuery } from '../routes/signals.ts'
import { offers, type Session } from './forms.ts'
import { clientLink, signalLink } from './site.ts'

const FILTER = fieldsOf(deliveriesQuery)

export async function deliveriesPage(query: Texts, parts: OperatorParts, session: Session): Promise<Piece> {
  const filter = Object.fromEntries(Object.entries(query).filter(([, text]) => text !== '')) // as forms send them
  const { rows, next, problem } = await search(parts.redis, sentBy(FILTER, filter))
  const { client, status } = filter
  return html`<h1>Deliveries</h1>
<form method="get" action="/ops/view/deliveries" class="fields">
${FILTER.filter(({ name }) => name !== 'before' && name !== 'limit').map(field => inputOf(field, filter[field.name], field.listed))}
<button class="quiet">Show</button></form>
${client !== undefined && status === 'exhausted' ? resendGivenUp(session, client) : ''}
${deliveriesTable(session, rows, parts.clock.now(), [PRECISE], problem ?? 'No delivery matches. The page of a signal says why a client was not sent it.')}
${next === null ? '' : html`<p><a href="/ops/view/deliveries?${new URLSearchParams({ ...filter, before: String(next) })}">Older</a></p>`}`
}

/** What is wrong with a filter is said below it, so that it can be corrected there. */
async function search(redis: OperatorParts['redis'], filter: Fields) {
  try {
    const { rows, next } = await recentDeliveries(redis, parseRequest(deliveriesQuery, filter))
    return { rows: await showDeliveries(redis, rows), next, problem: null }
  } catch (error) {
    if (error instanceof ApiError) return { rows: [], next: null, problem: error.message }
    throw error
  }
}

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
    ['', ({ client, seq }) => offers(session, 'delivery', { client, from: `${seq}`, to: `${seq}` })],
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

export const resendGivenUp = (session: Session, client: string): Piece | string =>
  offers(session, 'given up', { client, from: '1', only: 'exhausted' })

export function dayCharts({ hours, isWhole }: Day): Piece {
  if (hours.every(({ delivered, exhausted }) => delivered + exhausted === 0))
    return html`<p class="panel dim">No delivery ended in the last 24 hours.</p>`
  const [delivered, exhausted] = [sum(hours, hour => hour.delivered), sum(hours, hour => hour.exhausted)]
  const longest = max(hours, ({ latency }) => latency?.max)
  return html`<div class="charts">${[
    chart(
      'deliveries',
      `Acknowledged in each hour (UTC): ${delivered} in all, ${exhausted} given up`,
      hours,
      hour => [hour.delivered === 0 ? null : hour.delivered, `${hour.exhausted} given up`],
    ),
    chart(
      'latency',
      `Their latency, 99th percentile in ms: ${duration(longest ?? null)} at most`,
      hours,
      ({ latency }) =>
        latency === null
          ? [null, 'none']
          : [latency.p99, `median ${duration(latency.p50)}, longest ${duration(latency.max)}`],
    ),
  ]}</div>${isWhole ? '' : html`<p class="dim">The newest deliveries: earlier ones of the day are not drawn.</p>`}`
}

function chart(
  id: string,
  title: string,
  hours: readonly Hour[],
  measure: (hour: Hour) => readonly [value: number | null, note: string],
): Piece {
  const bars = hours.map(hour => {
    const [value, note] = measure(hour)
    return { label: new Date(hour.startMs).toISOString().slice(11, 13), value, note }
  })
  const drawing = barChart({ id, title, unit: 'count', size: 'half', height: 150, none: '', bars })
  return html`<figure class="panel"><figcaption>${title}</figcaption>${raw(drawing)}</figure>`
}
