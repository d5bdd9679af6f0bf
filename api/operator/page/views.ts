import { html } from 'hono/html'
import { ApiError } from '#core/contract/errors.ts'
import { parseRequest } from '#core/contract/parse-request.ts'
import { type Signal, signal as signalShape } from '#core/contract/signal.ts'
import { listClients } from '#signals/clients/clients.ts'
import { haltedAliases, type LiveStatus } from '#signals/live/control.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import type { LoggedSignal } from '#signals/log/read-log.ts'
import { type LoggedAction, readActions } from '#signals/operators/audit-log.ts'
import { listOperators, type Operator } from '#signals/operators/tokens.ts'
import { type Attempt, readAttempts, readOutbox } from '#signals/outbox/outbox.ts'
import { SealError } from '#signals/outbox/secret-box.ts'
import { readHours } from '#signals/views/latency.ts'
import { readLive, readOverview, readWebhookStates } from '#signals/views/overview.ts'
import {
  type Page,
  recentDeliveries,
  recentSignals,
  rowsOf,
  type SignalRow,
  showDeliveries,
} from '#signals/views/recent.ts'
import { whyNotSent } from '#signals/views/why-not-sent.ts'
import type { FleetProgress } from '#storage/fleet-progress.ts'
import { actionWords } from '../action-words.ts'
import type { Exchange } from '../exchange.ts'
import type { OperatorParts, WebhookAddress } from '../parts.ts'
import { clientOf, readClient } from '../routes/clients.ts'
import { actionsQuery } from '../routes/operators.ts'
import { deliveriesQuery, signalOf, signalsQuery } from '../routes/signals.ts'
import { clientPage, clientsPage } from './clients.ts'
import { deliveriesPage, deliveriesTable, FILTER } from './deliveries.ts'
import { sentBy } from './inputs.ts'
import {
  action,
  type Cell,
  cards,
  clientLink,
  duration,
  entry,
  hidden,
  moment,
  type Piece,
  page,
  type Session,
  signalLink,
  table,
} from './layout.ts'
import { liveTable, overviewPage, runnerLines } from './overview.ts'

export type View = (c: Exchange, parts: OperatorParts, session: Session) => Promise<Response>

/** Deliveries of one signal whose attempts are shown, and clients that were not sent it; the command line shows each. */
const MOST_SHOWN = 200

const overview: View = async (c, parts, session) => {
  const nowMs = parts.clock.now()
  const [state, day, published] = await Promise.all([
    readOverview(parts),
    readHours(parts.redis, nowMs),
    parts.published(),
  ])
  const content = overviewPage({ session, state, day, published, alerts: parts.alerts(), nowMs })
  return page(session, 'Overview', 'Overview', content, c.req.query('note'))
}

const clients: View = async (_, { redis }, session) => {
  const all = await listClients(redis)
  const ids = all.map(({ id }) => id)
  return page(session, 'Clients', 'Clients', clientsPage(session, all, await readWebhookStates(redis, ids)))
}

const client: View = async (c, parts, session) => {
  const nowMs = parts.clock.now()
  const found = await readClient(clientOf(c), parts.redis)
  const { id } = found.client
  const day = await readHours(parts.redis, nowMs, id)
  const address = found.webhook === undefined ? null : await readAddress(parts, id)
  const content = clientPage(session, { ...found, address, day, served: parts.aliases(), nowMs })
  return page(session, 'Clients', id, content, c.req.query('note'))
}

/** The page is shown without the address if the key that sealed it is missing. */
const readAddress = ({ orders }: OperatorParts, id: string): Promise<WebhookAddress | null> =>
  orders.readAddress(id).catch((error: unknown) => {
    if (error instanceof SealError) return null
    throw error
  })

const signals: View = async (c, { redis }, session) => {
  const found = await recentSignals(redis, parseRequest(signalsQuery, c.req.query()))
  return page(session, 'Signals', 'Signals', signalsPage(session, found))
}

const signal: View = async (c, { redis, clock }, session) => {
  const logged = await signalOf(c, redis)
  const { seq } = logged
  const outbox = await readOutbox(redis, seq)
  const rows = await showDeliveries(redis, rowsOf(logged, outbox).slice(0, MOST_SHOWN))
  const attempts = await Promise.all(rows.map(({ client }) => readAttempts(redis, seq, client)))
  const meant = (await listClients(redis)).filter(({ id }) => (logged.onlyFor ?? id) === id)
  const unsent = meant
    .map(client => ({ client, state: outbox.get(client.id) ?? null }))
    .filter(({ state }) => state === null || state.status === 'withdrawn')
  const reasons = await whyNotSent(redis, logged, unsent.slice(0, MOST_SHOWN))
  const content = signalPage(
    logged,
    deliveriesTable(session, rows, clock.now(), ['#Signal', 'Strategy', 'Fired (UTC)'], NO_DELIVERY),
    rows.flatMap(({ client }, i) => attempts[i]!.map(attempt => attemptRow(client, attempt))),
    reasons.map((why, i) => [clientLink(unsent[i]!.client.id), why]),
    outbox.size <= MOST_SHOWN && unsent.length <= MOST_SHOWN,
  )
  return page(session, 'Signals', `Signal ${seq}`, content, c.req.query('note'))
}

const NO_DELIVERY = 'No deliveries: no client with a webhook was entitled to it.'

const deliveries: View = async (c, { redis, clock }, session) => {
  const given = Object.entries(c.req.query()).filter(([, text]) => text !== '') // as forms send them
  const { note, ...filter } = Object.fromEntries(given)
  const found = await search(redis, sentBy(FILTER, filter))
  const content = deliveriesPage(session, filter, found, clock.now())
  return page(session, 'Deliveries', 'Deliveries', content, note)
}

/** What is wrong with a filter is said below it, so that it can be corrected there. */
async function search(redis: OperatorParts['redis'], filter: Readonly<Record<string, unknown>>) {
  try {
    const { rows, next } = await recentDeliveries(redis, parseRequest(deliveriesQuery, filter))
    return { rows: await showDeliveries(redis, rows), next, problem: null }
  } catch (error) {
    if (error instanceof ApiError) return { rows: [], next: null, problem: error.message }
    throw error
  }
}

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
  const { note, ...query } = c.req.query()
  const { rows, next } = await readActions(redis, parseRequest(actionsQuery, query))
  const tokens = await listOperators(redis)
  const content = auditPage(session, rows, older('/ops/view/audit', next), tokens)
  return page(session, 'Audit', 'Audit', content, note)
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
<div class="actions">${isHalted ? button(session, 'resume', EVERY_ALIAS, 'Resume all') : button(session, 'halt', EVERY_ALIAS, 'Halt all…', 'stop')}</div></div>
<h2>Strategies</h2>
${liveTable(live, ({ alias }) =>
  halted.includes(alias)
    ? button(session, 'resume', alias, 'Resume', 'quiet')
    : button(session, 'halt', alias, 'Halt', 'stop'),
)}
${session.may('/ops/view/live/halt') ? html`<div class="panel">One of the served dataset, whether it fired or not:${entry(session, '/ops/view/live/halt')}</div>` : ''}`
}

const button = (session: Session, verb: 'halt' | 'resume', alias: string, label: string, tone = '') =>
  action(session, `/ops/view/live/${verb}`, label, tone, hidden({ alias }))

const parse = ({ body }: LoggedSignal): Signal => signalShape.parse(JSON.parse(body))

/** `long`, or `flat (stop)`. */
const actOf = ({ action, why }: Signal): string => (why === undefined ? action : `${action} (${why})`)

/** ` by operator:jane`; nothing if the strategy decided. */
const handOf = ({ by = 'strategy' }: Signal): string => (by === 'strategy' ? '' : ` by ${by}`)

const older = (path: string, next: number | null): Piece | string =>
  next === null ? '' : html`<p><a href="${path}?before=${next}">Older</a></p>`

export const signalsPage = (session: Session, { rows, next }: Page<SignalRow>): Piece => html`<h1>Signals</h1>
${table(
  ['#Signal', 'Strategy', 'Action', '#Waiting', '#Given up', '#Delivered', '#Price', 'Mode', 'Fired (UTC)'],
  rows.map(row => signalRow(row)),
  'No signal yet: `highwater ops fire` fires one, and so does the form below.',
)}${older('/ops/view/signals', next)}
${session.may('/ops/view/signals') ? html`<h2>Fire by hand</h2>` : ''}
${entry(session, '/ops/view/signals', {}, 'panel fields')}`

function signalRow({ signal, counts }: SignalRow) {
  const parsed = parse(signal)
  const { signal_price, mode, is_test } = parsed
  return [
    signalLink(signal.seq),
    signal.alias,
    actOf(parsed),
    html`<span class="${counts.owed > 0 ? 'warn' : ''}">${counts.owed}</span>`,
    html`<span class="${counts.exhausted > 0 ? 'bad' : ''}">${counts.exhausted}</span>`,
    counts.delivered,
    signal_price,
    html`${is_test ? html`<span class="dim">test</span>` : mode}${handOf(parsed)}`,
    moment(signal.atMs),
  ]
}

function signalPage(
  logged: LoggedSignal,
  deliveries: Piece,
  attempts: readonly (readonly Cell[])[],
  reasons: readonly (readonly Cell[])[],
  isWhole: boolean,
): Piece {
  const shown = parse(logged)
  return html`<h1>Signal ${logged.seq} <span>${logged.alias}</span></h1>
${cards([
  ['Action', actOf(shown), shown.is_test ? 'a test: never tradeable' : shown.mode],
  ['Price', shown.signal_price, `stop ${shown.stop}`],
  ['Risk', `${shown.base_risk_pct}`, 'fraction of equity'],
  ['Decided (UTC)', html`${shown.timestamp.slice(11, 19)}`, shown.timestamp.slice(0, 10) + handOf(shown)],
])}
<p class="dim"><code>${shown.signal_id}</code>, in the log since ${moment(logged.atMs, true)} UTC</p>
<h2>Deliveries</h2>
${deliveries}
<h2>Attempts</h2>
${table(['Client', '#Try', 'Answer', '#Total', '#First byte', 'At (UTC)', '~What it said'], attempts, 'None yet.')}
<h2>Not sent</h2>
${table(['Client', '~Why'], reasons, 'It was sent to every client, or will be.')}
${isWhole ? '' : html`<p class="dim">The first ${MOST_SHOWN} of each table: <code>highwater ops signal ${logged.seq} CLIENT</code> says it of any client.</p>`}`
}

const attemptRow = (
  client: string,
  { at, n, ok, status, reason, first_byte_ms, total_ms, excerpt }: Attempt,
) => [
  clientLink(client),
  n ?? 'probe',
  html`<span class="${ok ? 'good' : 'bad'}">${answerWord(status, reason)}</span>`,
  duration(total_ms),
  duration(first_byte_ms),
  moment(at, true),
  html`<span class="dim">${excerpt}</span>`,
]

/** `200`, `502`, `200 timeout`, `tls failed`: a failing status needs no other word. */
const answerWord = (status: number | null, reason: string | null): string =>
  [status, reason === 'status' ? null : reason?.replaceAll('_', ' ')].filter(part => part != null).join(' ')

const auditPage = (
  session: Session,
  rows: readonly LoggedAction[],
  older: Piece | string,
  tokens: readonly Operator[],
): Piece => html`<h1>Audit</h1>
<p class="dim">Every action of an operator, newest first. <code>highwater ops audit --json</code> has the whole state before and after.</p>
${table(
  ['#Number', 'When (UTC)', 'Who', 'Action', 'About', 'Outcome', '~What changed, or was asked for'],
  rows.map(logged => [
    logged.seq,
    moment(logged.at),
    logged.who,
    logged.action.replaceAll('_', ' '),
    logged.subject ?? '–',
    html`<span class="${logged.outcome === 'done' ? 'good' : 'bad'}">${logged.outcome.replaceAll('_', ' ')}</span>`,
    actionWords(logged),
  ]),
  'Nobody has done anything yet.',
)}${older}
<h2>Tokens <span>beside OPERATOR_TOKEN</span></h2>
${table(
  ['Operator', '', 'Scopes', 'Issued (UTC)'],
  tokens.map(({ name, scopes, created_at }) => [
    name,
    action(session, `/ops/view/audit/tokens/${name}/revoke`, 'Revoke…', 'stop'),
    scopes.join(', '),
    moment(created_at),
  ]),
  'None yet: the form below issues one, and so does `highwater ops tokens add`.',
)}
${entry(session, '/ops/view/audit/tokens', {}, 'panel fields')}`

/** A task takes seconds, and the work of a killed worker begins again after 15 s. */
const SILENT_MS = 3 * 60_000

const buildsPage = (builds: readonly FleetProgress[], nowMs: number): Piece => html`<h1>Builds</h1>
${table(
  ['Run', 'Version', 'Phase', '#Done', 'Workers', 'Last progress', 'State'],
  builds.map(build => buildRow(build, nowMs)),
  'No build on a fleet is under way. A build on one machine shows its progress in its terminal.',
)}`

function buildRow(
  { run, dataset_version, phase, done, total, workers, progressed_at }: FleetProgress,
  nowMs: number,
) {
  const atMs = Date.parse(progressed_at)
  const silentMs = nowMs - atMs
  const state =
    silentMs < SILENT_MS
      ? html`<span class="good">under way</span>`
      : html`<span class="bad">no progress for ${duration(silentMs)}</span>`
  const counts = Object.entries(workers).map(([name, count]) => html`<div>${name}: ${count}</div>`)
  const doneBy = counts.length === 0 ? 'none yet' : html`${counts}`
  return [run, dataset_version, phase, `${done} of ${total}`, doneBy, moment(atMs), state]
}
