import { html } from 'hono/html'
import { type Signal, signal as signalShape } from '#core/contract/signal.ts'
import type { Attempt } from '#signals/delivery/outbox.ts'
import type { LoggedSignal } from '#signals/log/read-log.ts'
import type { DeliveryRow, Page, SignalRow } from '#signals/views/recent.ts'
import {
  action,
  cards,
  clientLink,
  duration,
  latencyOf,
  moment,
  type Piece,
  preciseMoment,
  type Session,
  signalLink,
  statusOf,
  table,
} from './layout.ts'

const parse = ({ body }: LoggedSignal): Signal => signalShape.parse(JSON.parse(body))

const older = (path: string, next: number | null): Piece | string =>
  next === null ? '' : html`<p><a href="${path}?before=${next}">Older</a></p>`

export const signalsPage = ({ rows, next }: Page<SignalRow>): Piece => html`<h1>Signals</h1>
${table(
  ['#Signal', 'Alias', 'Action', '#Owed', '#Exhausted', '#Delivered', '#Price', 'Mode', 'Fired (UTC)'],
  rows.map(row => signalRow(row)),
  'No signal yet: `highwater ops fire` fires one.',
)}${older('/ops/view/signals', next)}`

function signalRow({ signal, counts }: SignalRow): Piece {
  const { action: side, signal_price, mode, is_test } = parse(signal)
  return html`<tr><td class="n">${signalLink(signal.seq)}</td><td>${signal.alias}</td><td>${side}</td>
<td class="n ${counts.owed > 0 ? 'warn' : ''}">${counts.owed}</td><td class="n ${counts.exhausted > 0 ? 'bad' : ''}">${counts.exhausted}</td>
<td class="n">${counts.delivered}</td><td class="n">${signal_price}</td>
<td>${is_test ? html`<span class="dim">test</span>` : mode}</td><td>${moment(signal.atMs)}</td></tr>`
}

/** A delivery and its attempts, which the page of a signal shows below each other. */
export type Delivered = { readonly row: DeliveryRow; readonly attempts: readonly Attempt[] }

export function signalPage(logged: LoggedSignal, deliveries: readonly Delivered[], total: number): Piece {
  const {
    action: side,
    signal_price,
    stop,
    base_risk_pct,
    mode,
    is_test,
    timestamp,
    signal_id,
  } = parse(logged)
  return html`<h1>Signal ${logged.seq} <span>${logged.alias}</span></h1>
${cards([
  ['Action', side, is_test ? 'a test: never tradeable' : mode],
  ['Price', signal_price, `stop ${stop}`],
  ['Risk', `${base_risk_pct}`, 'fraction of equity'],
  ['Decided (UTC)', html`${timestamp.slice(11, 19)}`, timestamp.slice(0, 10)],
])}
<p class="dim"><code>${signal_id}</code>, in the log since ${preciseMoment(logged.atMs)} UTC</p>
<h2>Deliveries</h2>
${table(
  ['Client', 'Status', '#Attempts', '#Latency', 'First attempt (UTC)', 'Settled (UTC)'],
  deliveries.map(({ row }) => deliveryRow(row)),
  'Owed to nobody: no client with a webhook was entitled to it.',
)}
${total > deliveries.length ? html`<p class="dim">The first ${deliveries.length} of ${total}; <code>highwater ops signal ${logged.seq}</code> lists all.</p>` : ''}
<h2>Attempts</h2>
${table(
  ['Client', '#Try', 'Answer', '#Total', '#First byte', 'At (UTC)', 'What it said'],
  deliveries.flatMap(({ row, attempts }) => attempts.map(attempt => attemptRow(row.client, attempt))),
  'None yet.',
)}`
}

/** Of one signal, which the page is about. */
const deliveryRow = ({ client, firedAtMs, state }: DeliveryRow): Piece =>
  html`<tr><td>${clientLink(client)}</td><td>${statusOf(state)}</td><td class="n">${state.attempts}</td>
<td class="n">${latencyOf(firedAtMs, state)}</td><td>${preciseMoment(state.first_attempt_at)}</td><td>${preciseMoment(state.settled_at)}</td></tr>`

const attemptRow = (
  client: string,
  { at, n, ok, status, reason, first_byte_ms, total_ms, excerpt }: Attempt,
): Piece =>
  html`<tr><td>${clientLink(client)}</td><td class="n">${n ?? 'probe'}</td>
<td class="${ok ? 'good' : 'bad'}">${answerWord(status, reason)}</td><td class="n">${duration(total_ms)}</td>
<td class="n">${duration(first_byte_ms)}</td><td>${preciseMoment(at)}</td><td class="wide dim">${excerpt}</td></tr>`

/** `200`, `502`, `200 timeout`, `tls failed`: a status that is no success needs no other word. */
const answerWord = (status: number | null, reason: string | null): string =>
  [status, reason === 'status' ? null : reason?.replaceAll('_', ' ')].filter(part => part != null).join(' ')

/** Deliveries that were given up, each with the button that sends it and everything after it again. */
export const exhaustedPage = (
  session: Session,
  { rows, next }: Page<DeliveryRow>,
): Piece => html`<h1>Exhausted</h1>
<p class="dim">Every attempt failed. A replay owes the client this signal and every later one again.</p>
${table(
  ['#Signal', 'Client', '', 'Alias', '#Attempts', 'Fired (UTC)', 'Given up (UTC)'],
  rows.map(
    ({
      seq,
      client,
      alias,
      firedAtMs,
      state,
    }) => html`<tr><td class="n">${signalLink(seq)}</td><td>${clientLink(client)}</td>
<td>${action(session, `/ops/view/clients/${client}/replay`, `Replay from ${seq}`, 'quiet', html`<input type="hidden" name="from" value="${seq}">`)}</td>
<td>${alias}</td><td class="n">${state.attempts}</td><td>${moment(firedAtMs)}</td><td>${moment(state.settled_at)}</td></tr>`,
  ),
  'Nothing was given up.',
)}${older('/ops/view/exhausted', next)}`
