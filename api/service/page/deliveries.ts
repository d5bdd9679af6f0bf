// Deliveries on the pages of operators and of subscribers: how they are searched and shown, with their attempts.
import { max, sum } from 'd3-array'
import { html, raw } from 'hono/html'
import type { z } from 'zod'
import { ApiError } from '#core/contract/errors.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import type { ValueOf } from '#core/contract/payloads/field.ts'
import { barChart } from '#pages/charts/bar-chart.ts'
import { DEFAULT_ENDPOINT } from '#signals/outbox/destination.ts'
import type { Day, Hour, Page, ShownDelivery } from '#signals/views/recent.ts'
import type { attempt } from '../deliveries.ts'
import { inputOf, problemsOf, sentBy } from './inputs.ts'
import { type Cell, duration, moment, type Piece, statusOf, type Texts, table, toned } from './layout.ts'
import { fieldsOf } from './page-route.ts'

/** `path` is that of the page; `choices` has those of fields whose schema does not list them. */
type Search<Shape extends z.ZodRawShape> = {
  readonly path: string
  readonly query: z.ZodObject<Shape, z.core.$strict>
  readonly choices?: Readonly<Record<string, readonly string[]>>
  find(asked: z.output<z.ZodObject<Shape, z.core.$strict>>): Promise<Page<ShownDelivery>>
}

/** A form with a filter, and what it finds. What is wrong with a filter is said below it, so that it can be corrected there. */
export async function searchDeliveries<Shape extends z.ZodRawShape>(
  { path, query, choices = {}, find }: Search<Shape>,
  given: Texts,
) {
  const fields = fieldsOf(query)
  const filter = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== '')) // as forms send them
  const search = async () => {
    const page = await find(parseRequest(query, sentBy(fields, filter)))
    return { ...page, byName: {}, says: null }
  }
  const refuse = (error: unknown) => {
    if (error instanceof ApiError) return { rows: [], next: null, ...problemsOf(error, fields) }
    throw error
  }
  const { rows, next, byName: problems, says: problem } = await search().catch(refuse)
  return {
    ...{ filter, rows, problem },
    form: html`<form method="get" action="${path}" class="fields">
${fields.filter(({ name }) => name !== 'before' && name !== 'limit').map(field => inputOf(field, { values: filter, choices: choices[field.name], form: path, problems }))}
<button class="quiet">Show</button></form>`,
    older: olderLink(path, next, filter),
  }
}

/** Leads to the rows before a number; nothing if there are none. */
export const olderLink = (path: string, next: number | null, filter: Texts = {}): Piece | string =>
  next === null
    ? ''
    : html`<p><a href="${path}?${new URLSearchParams({ ...filter, before: String(next) })}">Older</a></p>`

/** What is due has been so since a moment that says nothing. */
export const dueAt = (at: string | null, nowMs: number): Cell =>
  at !== null && Date.parse(at) <= nowMs ? 'now' : moment(at)

/** A column to a millisecond, for the page of one signal. */
export const PRECISE = 'Ended (UTC)'

/** What differs between two pages: the link of a signal, that of its client where it is named, and what is offered beside it. */
type Columns = {
  signal(seq: number): Piece
  client?(id: string): Piece
  offer(row: ShownDelivery): Cell
}

/** Deliveries, each with a button that sends it again, without the columns that a page hides. */
export function deliveriesTable(
  { signal, client, offer }: Columns,
  rows: readonly ShownDelivery[],
  nowMs: number,
  hides: readonly string[],
  empty: string,
): Piece {
  const columns: readonly (readonly [name: string, cell: (row: ShownDelivery) => Cell])[] = [
    ['#Signal', ({ seq }) => signal(seq)],
    ['Client', row => client?.(row.client) ?? ''],
    ['Endpoint', ({ endpoint }) => endpoint],
    ['State', statusOf],
    ['', offer],
    ['Next attempt (UTC)', ({ next_attempt_at: at }) => (at === null ? '' : dueAt(at, nowMs))],
    ['Strategy', ({ alias }) => alias],
    ['#Attempts', ({ attempts }) => attempts],
    ['#Latency', ({ latency_ms: ms }) => (ms === null ? '' : duration(ms))],
    ['Fired (UTC)', ({ fired_at }) => moment(fired_at)],
    [PRECISE, ({ settled_at }) => moment(settled_at, true)],
  ]
  const isPlain = rows.every(({ endpoint }) => endpoint === DEFAULT_ENDPOINT) // then its column says nothing
  const hidden = [...hides, isPlain && 'Endpoint', client === undefined && 'Client']
  const shown = columns.filter(([name]) => !hidden.includes(name))
  return table(
    shown.map(([name]) => name),
    rows.map(row => shown.map(([, cell]) => cell(row))),
    empty,
    'scroll short',
  )
}

type ShownAttempt = Omit<ValueOf<typeof attempt>, 'at'> & { readonly at: number | string }

/** The attempts of several recipients, each in its `column`. */
export const attemptsTable = (
  column: string,
  attempts: readonly (readonly [to: Cell, attempt: ShownAttempt])[],
): Piece =>
  table(
    [column, '#Try', 'Answer', '#Total', '#First byte', 'At (UTC)', '~What it said'],
    attempts.map(([to, attempt]) => [
      to,
      attempt.n ?? 'probe',
      toned(attempt.ok ? 'good' : 'bad', answerWord(attempt)),
      duration(attempt.total_ms),
      duration(attempt.first_byte_ms),
      moment(attempt.at, true),
      toned('dim', attempt.excerpt),
    ]),
    'None yet.',
  )

/** `200`, `502`, `200 timeout`, `tls failed`: a failing status needs no other word. */
const answerWord = ({ status, reason }: ShownAttempt): string =>
  [status, reason === 'status' ? null : reason?.replaceAll('_', ' ')].filter(part => part != null).join(' ')

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
