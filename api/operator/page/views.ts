import { html } from 'hono/html'
import { parseRequest } from '#core/contract/parse-request.ts'
import { type Signal, signal as signalShape } from '#core/contract/signal.ts'
import { listClients } from '#signals/clients/clients.ts'
import { type Attempt, readAttempts, readOutbox } from '#signals/delivery/outbox.ts'
import { SealError } from '#signals/delivery/secret-box.ts'
import { haltedAliases, type LiveStatus } from '#signals/live/control.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import type { LoggedSignal } from '#signals/log/read-log.ts'
import { type LoggedAction, readActions } from '#signals/operators/audit-log.ts'
import { listOperators, type Operator } from '#signals/operators/tokens.ts'
import { readHours } from '#signals/views/hours.ts'
import { readLive, readOverview, readWebhookStates } from '#signals/views/overview.ts'
import {
  type DeliveryRow,
  type Page,
  recentDeliveries,
  recentSignals,
  rowsOf,
  type SignalRow,
} from '#signals/views/recent.ts'
import type { FleetProgress } from '#storage/fleet-progress.ts'
import { actionWords } from '../action-words.ts'
import type { Exchange } from '../exchange.ts'
import type { OperatorParts, WebhookAddress } from '../parts.ts'
import { clientOf, readClient } from '../routes/clients.ts'
import { actionsQuery } from '../routes/operators.ts'
import { deliveriesQuery, signalOf, signalsQuery, toFilter } from '../routes/signals.ts'
import { clientPage, clientsPage } from './clients.ts'
import { deliveriesPage } from './deliveries.ts'
import {
  action,
  cards,
  clientLink,
  duration,
  latencyOf,
  moment,
  type Piece,
  page,
  preciseMoment,
  type Session,
  signalLink,
  statusOf,
  table,
} from './layout.ts'
import { liveTable, overviewPage, runnerLines } from './overview.ts'

export type View = (c: Exchange, parts: OperatorParts, session: Session) => Promise<Response>

/** Deliveries of one signal whose attempts are shown; the command line shows all. */
const MOST_SHOWN = 200

const overview: View = async (_, parts, session) => {
  const nowMs = parts.clock.now()
  const [state, day, publication] = await Promise.all([
    readOverview(parts),
    readHours(parts.redis, nowMs),
    parts.publication(),
  ])
  const content = overviewPage({ state, day, publication, alerts: parts.alerts(), nowMs })
  return page(session, 'Overview', 'Overview', content)
}

const clients: View = async (_, { redis }, session) => {
  const all = await listClients(redis)
  const ids = all.map(({ id }) => id)
  return page(session, 'Clients', 'Clients', clientsPage(session, all, await readWebhookStates(redis, ids)))
}

const client: View = async (c, parts, session) => {
  const found = await readClient(clientOf(c), parts.redis)
  const day = await readHours(parts.redis, parts.clock.now(), found.client.id)
  const { id } = found.client
  const address = found.webhook === undefined ? null : await readAddress(parts, id)
  return page(
    session,
    'Clients',
    id,
    clientPage(session, { ...found, address, day, served: parts.aliases() }),
    c.req.query('note'),
  )
}

/** The page is shown without the address if the key that sealed it is missing. */
async function readAddress({ orders }: OperatorParts, id: string): Promise<WebhookAddress | null> {
  try {
    return await orders.readAddress(id)
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}

const signals: View = async (c, { redis }, session) =>
  page(
    session,
    'Signals',
    'Signals',
    signalsPage(await recentSignals(redis, parseRequest(signalsQuery, c.req.query()))),
  )

const signal: View = async (c, { redis }, session) => {
  const logged = await signalOf(c, redis)
  const { seq } = logged
  const all = rowsOf(logged, await readOutbox(redis, seq))
  const deliveries = await Promise.all(
    all
      .slice(0, MOST_SHOWN)
      .map(async row => ({ row, attempts: await readAttempts(redis, seq, row.client) })),
  )
  const content = signalPage(logged, deliveries, all.length)
  return page(session, 'Signals', `Signal ${seq}`, content, c.req.query('note'))
}

const deliveries: View = async (c, { redis }, session) => {
  const { note, ...query } = Object.fromEntries(
    Object.entries(c.req.query()).flatMap(([name, text]) =>
      text === '' ? [] : [[name, name.startsWith('fired_') ? toInstant(text) : text]],
    ),
  ) // as forms send them
  const wanted = parseRequest(deliveriesQuery, query)
  const found = await recentDeliveries(redis, toFilter(wanted))
  const { before: _, limit: __, ...filter } = wanted
  return page(session, 'Deliveries', 'Deliveries', deliveriesPage(session, filter, found), note)
}

/** A field for a time has neither seconds nor a zone; the page means UTC. */
const toInstant = (text: string): string => (/T\d\d:\d\d$/.test(text) ? `${text}:00Z` : text)

const live: View = async (c, { redis, aliases, clock }, session) => {
  const [strategies, halted] = await Promise.all([
    readLive(redis, aliases(), clock.now()),
    haltedAliases(redis),
  ])
  return page(session, 'Live', 'Live', livePage(session, strategies, halted), c.req.query('note'))
}

const builds: View = async (_, parts, session) =>
  page(session, 'Builds', 'Builds', buildsPage(await parts.builds(), parts.clock.now()))

const audit: View = async (c, { redis }, session) => {
  const { rows, next } = await readActions(redis, parseRequest(actionsQuery, c.req.query()))
  const content = auditPage(rows, older('/ops/view/audit', next), await listOperators(redis))
  return page(session, 'Audit', 'Audit', content)
}

export const VIEWS: Readonly<Record<string, View>> = {
  '/ops': overview,
  '/ops/view/clients': clients,
  '/ops/view/clients/:client': client,
  '/ops/view/signals': signals,
  '/ops/view/signals/:seq': signal,
  '/ops/view/deliveries': deliveries,
  '/ops/view/live': live,
  '/ops/view/builds': builds,
  '/ops/view/audit': audit,
}

/** Halt and resume. Going live is a command and not a button, so that it cannot happen by a wrong click. */
export function livePage(session: Session, live: readonly LiveStatus[], halted: readonly string[]): Piece {
  const isHalted = halted.includes(EVERY_ALIAS)
  return html`<h1>Live</h1>
${runnerLines(live)}
<div class="panel">${
    isHalted
      ? html`<span class="bad">Every strategy is halted.</span> A flat is still sent.`
      : html`<span class="good">Every strategy sends its signals</span>${halted.length === 0 ? '.' : html`, except ${halted.join(', ')}: halted.`}`
  }
<div class="actions">${isHalted ? button(session, 'resume', EVERY_ALIAS, 'Resume all', '') : button(session, 'halt', EVERY_ALIAS, 'Halt all…', 'stop')}</div></div>
<h2>Strategies</h2>
${liveTable(live, ({ alias }) =>
  halted.includes(alias)
    ? button(session, 'resume', alias, 'Resume', 'quiet')
    : button(session, 'halt', alias, 'Halt', 'stop'),
)}`
}

const button = (
  session: Session,
  verb: 'halt' | 'resume',
  alias: string,
  label: string,
  tone: string,
): Piece =>
  action(
    session,
    `/ops/view/live/${verb}`,
    label,
    tone,
    html`<input type="hidden" name="alias" value="${alias}">`,
  )

const parse = ({ body }: LoggedSignal): Signal => signalShape.parse(JSON.parse(body))

/** `long`, or `flat (stop)`. */
const actOf = ({ action, why }: Signal): string => (why === undefined ? action : `${action} (${why})`)

/** ` by operator:jane`; nothing if the strategy decided. */
const handOf = ({ by = 'strategy' }: Signal): string => (by === 'strategy' ? '' : ` by ${by}`)

const older = (path: string, next: number | null): Piece | string =>
  next === null ? '' : html`<p><a href="${path}?before=${next}">Older</a></p>`

export const signalsPage = ({ rows, next }: Page<SignalRow>): Piece => html`<h1>Signals</h1>
${table(
  ['#Signal', 'Strategy', 'Action', '#Waiting', '#Given up', '#Delivered', '#Price', 'Mode', 'Fired (UTC)'],
  rows.map(row => signalRow(row)),
  'No signal yet: `highwater ops fire` fires one.',
)}${older('/ops/view/signals', next)}`

function signalRow({ signal, counts }: SignalRow): Piece {
  const parsed = parse(signal)
  const { signal_price, mode, is_test } = parsed
  return html`<tr><td class="n">${signalLink(signal.seq)}</td><td>${signal.alias}</td><td>${actOf(parsed)}</td>
<td class="n ${counts.owed > 0 ? 'warn' : ''}">${counts.owed}</td><td class="n ${counts.exhausted > 0 ? 'bad' : ''}">${counts.exhausted}</td>
<td class="n">${counts.delivered}</td><td class="n">${signal_price}</td>
<td>${is_test ? html`<span class="dim">test</span>` : mode}${handOf(parsed)}</td><td>${moment(signal.atMs)}</td></tr>`
}

export type Delivered = { readonly row: DeliveryRow; readonly attempts: readonly Attempt[] }

export function signalPage(logged: LoggedSignal, deliveries: readonly Delivered[], total: number): Piece {
  const parsed = parse(logged)
  const { signal_price, stop, base_risk_pct, mode, is_test, timestamp, signal_id } = parsed
  return html`<h1>Signal ${logged.seq} <span>${logged.alias}</span></h1>
${cards([
  ['Action', actOf(parsed), is_test ? 'a test: never tradeable' : mode],
  ['Price', signal_price, `stop ${stop}`],
  ['Risk', `${base_risk_pct}`, 'fraction of equity'],
  ['Decided (UTC)', html`${timestamp.slice(11, 19)}`, timestamp.slice(0, 10) + handOf(parsed)],
])}
<p class="dim"><code>${signal_id}</code>, in the log since ${preciseMoment(logged.atMs)} UTC</p>
<h2>Deliveries</h2>
${table(
  ['Client', 'State', '#Attempts', '#Latency', 'First attempt (UTC)', 'Ended (UTC)'],
  deliveries.map(({ row }) => deliveryRow(row)),
  'No deliveries: no client with a webhook was entitled to it.',
)}
${total > deliveries.length ? html`<p class="dim">The first ${deliveries.length} of ${total}; <code>highwater ops signal ${logged.seq}</code> lists all.</p>` : ''}
<h2>Attempts</h2>
${table(
  ['Client', '#Try', 'Answer', '#Total', '#First byte', 'At (UTC)', 'What it said'],
  deliveries.flatMap(({ row, attempts }) => attempts.map(attempt => attemptRow(row.client, attempt))),
  'None yet.',
)}`
}

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

/** `200`, `502`, `200 timeout`, `tls failed`: a failing status needs no other word. */
const answerWord = (status: number | null, reason: string | null): string =>
  [status, reason === 'status' ? null : reason?.replaceAll('_', ' ')].filter(part => part != null).join(' ')

const auditPage = (
  rows: readonly LoggedAction[],
  older: Piece | string,
  tokens: readonly Operator[],
): Piece => html`<h1>Audit</h1>
<p class="dim">Every action of an operator, newest first. <code>highwater ops audit --json</code> has the whole state before and after.</p>
${table(
  ['#Number', 'When (UTC)', 'Who', 'Action', 'About', 'Outcome', 'What changed, or was asked for'],
  rows.map(
    logged =>
      html`<tr><td class="n">${logged.seq}</td><td>${moment(Date.parse(logged.at))}</td><td>${logged.who}</td><td>${logged.action.replaceAll('_', ' ')}</td>
<td>${logged.subject ?? '–'}</td><td>${logged.outcome === 'done' ? html`<span class="good">done</span>` : html`<span class="bad">${logged.outcome.replaceAll('_', ' ')}</span>`}</td>
<td class="wide">${actionWords(logged)}</td></tr>`,
  ),
  'Nobody has done anything yet.',
)}${older}
<h2>Tokens <span>beside OPERATOR_TOKEN</span></h2>
${table(
  ['Operator', 'Scopes', 'Issued (UTC)'],
  tokens.map(
    ({ name, scopes, created_at }) =>
      html`<tr><td>${name}</td><td>${scopes.join(', ')}</td><td>${moment(Date.parse(created_at))}</td></tr>`,
  ),
  'None yet: `highwater ops tokens add` issues one.',
)}`

/** A task takes seconds, and the work of a killed worker begins again after 15 s. */
const SILENT_MS = 3 * 60_000

const buildsPage = (builds: readonly FleetProgress[], nowMs: number): Piece => html`<h1>Builds</h1>
${table(
  ['Run', 'Version', 'Phase', '#Done', 'Workers', 'Last progress', 'State'],
  builds.map(build => row(build, nowMs)),
  'No build on a fleet is under way. A build on one machine shows its progress in its terminal.',
)}`

function row(
  { run, dataset_version, phase, done, total, workers, progressed_at }: FleetProgress,
  nowMs: number,
): Piece {
  const atMs = Date.parse(progressed_at)
  const silentMs = nowMs - atMs
  const state =
    silentMs < SILENT_MS
      ? html`<span class="good">under way</span>`
      : html`<span class="bad">no progress for ${duration(silentMs)}</span>`
  const counts = Object.entries(workers).map(([name, count]) => html`<div>${name}: ${count}</div>`)
  return html`<tr><td>${run}</td><td>${dataset_version}</td><td>${phase}</td><td class="n">${done} of ${total}</td><td>${
    counts.length === 0 ? 'none yet' : counts
  }</td><td>${moment(atMs)}</td><td>${state}</td></tr>`
}
