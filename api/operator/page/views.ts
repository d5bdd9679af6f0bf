// Every page by its address. Each shows what the JSON interface answers.
import { html } from 'hono/html'
import { parseRequest } from '#core/contract/parse-request.ts'
import type { Signal } from '#core/contract/signal.ts'
import { MOST_LIVE_KEYS } from '#signals/clients/api-keys.ts'
import { haltedAliases } from '#signals/live/live-record.ts'
import type { LoggedSignal } from '#signals/log/read-log.ts'
import { readActions } from '#signals/operators/audit-log.ts'
import { listOperators } from '#signals/operators/tokens.ts'
import { clientOf, DEFAULT_ENDPOINT, destinationOf, MOST_ENDPOINTS } from '#signals/outbox/destination.ts'
import { readAttempts, readOutbox } from '#signals/outbox/outbox.ts'
import { SealError } from '#signals/outbox/secret-box.ts'
import { EVERY_ALIAS } from '#signals/redis/keys.ts'
import { readAllClients, readLive } from '#signals/views/overview.ts'
import {
  type Latency,
  type Outbox,
  readHours,
  recentDeliveries,
  recentSignals,
  rowsOf,
  type ShownDelivery,
  type Spread,
  showDeliveries,
  showSignal,
} from '#signals/views/recent.ts'
import { isUnsent, whyNotSent } from '#signals/views/why-not-sent.ts'
import {
  attemptsTable,
  dayCharts,
  deliveriesTable,
  olderLink,
  PRECISE,
  searchDeliveries,
} from '../../service/page/deliveries.ts'
import {
  cards,
  counted,
  duration,
  moment,
  type Piece,
  section,
  stateLine,
  type Texts,
  table,
  toned,
  webhookWord,
} from '../../service/page/layout.ts'
import type { View } from '../../service/page/mount.ts'
import type { OperatorParts } from '../exchange.ts'
import { type ListedClient, nearestHint, readClient, readClients } from '../routes/clients.ts'
import { actionsQuery, actionWords } from '../routes/operators.ts'
import { deliveriesQuery, findSignal, signalsQuery } from '../routes/signals.ts'
import { readAddress } from '../routes/webhooks.ts'
import type { WebhookView } from '../views.ts'
import { liveTable, overviewPage, runnerLines } from './overview.ts'
import { clientLink, offers, type Session, signalLink } from './site.ts'

export const VIEWS: Readonly<Record<string, View<OperatorParts, Session>>> = {
  '/ops': { tab: 'Overview', content: overviewPage },
  '/ops/view/clients': { tab: 'Clients', content: clientsPage },
  '/ops/view/clients/:client': { tab: 'Clients', content: clientPage },
  '/ops/view/signals': { tab: 'Signals', content: signalsPage },
  '/ops/view/signals/:seq': { tab: 'Signals', names: 'Signal ', content: signalPage },
  '/ops/view/deliveries': { tab: 'Deliveries', content: deliveriesPage },
  '/ops/view/live': { tab: 'Live', content: livePage },
  '/ops/view/builds': { tab: 'Builds', content: buildsPage },
  '/ops/view/audit': { tab: 'Audit', content: auditPage },
}

async function clientsPage(_: Texts, { redis }: OperatorParts, session: Session): Promise<Piece> {
  const clients = await readClients(redis)
  return html`<h1>Clients</h1>
${table(
  ['Client', 'Webhook', '#Waiting', 'Account', 'Tier', '#Strategies'],
  clients.map(({ id, tier, status, aliases, suspended, webhook, endpoints }) => [
    clientLink(id),
    endpointsWord(webhook, endpoints.length),
    webhook?.owed ?? 0,
    accountWord({ status, suspended }),
    tier,
    aliases.length,
  ]),
  'No client yet: add one below.',
)}
${section('Add a client', offers(session, 'clients'))}`
}

const endpointsWord = (webhook: ListedClient['webhook'], count: number): Piece => {
  if (count === (webhook === null ? 0 : 1)) return webhookWord(webhook)
  return html`${webhook === null ? '' : html`${webhookWord(webhook)}, `}${counted(count, 'endpoint')}`
}

function accountWord({ status, suspended }: Pick<ListedClient, 'status' | 'suspended'>): Piece {
  if (status === 'active') return toned('good', 'active')
  return suspended ? toned('bad', 'suspended') : toned('warn', 'pending')
}

/** Suggested for further endpoints: as many as a client may have. */
const ENDPOINT_NAMES = Array.from({ length: MOST_ENDPOINTS }, (_, i) => `endpoint-${i + 2}`)

async function clientPage({ client: id = '' }: Texts, parts: OperatorParts, session: Session) {
  const nowMs = parts.clock.now()
  const client = await readClient(id, parts.redis)
  const { keys, webhook, endpoints, other_webhooks: others, latency, deliveries } = client
  const day = await readHours(parts.redis, nowMs, id)
  const unused = ENDPOINT_NAMES.find(name => !endpoints.includes(name))
  const live = keys.filter(({ expires_at }) => expires_at === null || Date.parse(expires_at) > nowMs)
  return html`<h1>${id} <span>${client.tier}</span></h1>
<div class="panel">${accountWord(client)}, made on ${client.created_at.slice(0, 10)},
entitled to ${entitlements(client, session.served)}
${offers(session, 'client', { client: id }, client)}</div>
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
${live.length < MOST_LIVE_KEYS ? offers(session, 'keys', { client: id }) : html`<p class="dim">A client has two keys at most: revoke one, or wait until the client confirms the newer one.</p>`}
<h2>Webhook</h2>
${await webhookPanel(session, id, DEFAULT_ENDPOINT, webhook, parts)}
${await Promise.all(others.map(async each => html`<h2>Endpoint ${each.endpoint}</h2>${await webhookPanel(session, id, each.endpoint, each, parts)}`))}
${webhook === null || endpoints.length >= MOST_ENDPOINTS ? '' : section('Add an endpoint', offers(session, 'new endpoint', { client: id }, { endpoint: unused }))}
<h2>Latency${latency.deliveries === 0 ? '' : html` <span>last ${counted(latency.deliveries, 'delivery')}, from the log on</span>`}</h2>
${latencyTable(latency)}
<h2>Deliveries of the last 24 hours</h2>
${dayCharts(day)}
<h2>Last deliveries <span><a href="/ops/view/deliveries?client=${id}">all</a></span></h2>
${deliveriesTable(columnsOf(session), deliveries, nowMs, ['Client', PRECISE], 'No deliveries yet.')}`
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

async function webhookPanel(
  session: Session,
  client: string,
  endpoint: string,
  webhook: WebhookView | null,
  parts: OperatorParts,
): Promise<Piece> {
  const given = { client, endpoint }
  if (webhook === null)
    return html`<div class="panel">None, so the client pulls.${offers(session, 'first endpoint', given)}</div>`
  const settings = offers(session, 'settings of an endpoint', given)
  const address = await readAddress(destinationOf(client, endpoint), parts).catch(nullIfSealed)
  const { filter, lane, disabled_why } = webhook
  return html`<div class="panel"><code>${address?.url ?? 'its address cannot be opened'}</code><br>
${stateLine(webhook, lane === 'slow' ? ', answers slowly or fails' : '')}${filter === null ? '' : `, gets ${filter.join(', ')} alone`}${disabled_why === null ? '' : html`<br><span class="bad">${disabled_why}</span>`}
${offers(session, 'range', given, { endpoint })}${offers(session, 'endpoint', given, webhook)}${resendGivenUp(session, client, endpoint)}
${settings === '' ? '' : html`<details><summary>Change it</summary>${settings}</details>`}</div>`
}

async function deliveriesPage(asked: Texts, { redis, clock }: OperatorParts, session: Session) {
  const search = await searchDeliveries(
    {
      ...{ path: '/ops/view/deliveries', query: deliveriesQuery },
      find: filter => recentDeliveries(redis, filter),
    },
    asked,
  )
  const { client, endpoint, status } = search.filter
  const empty =
    search.problem ?? 'No delivery matches. The page of a signal says why a client was not sent it.'
  return html`<h1>Deliveries</h1>
${search.form}
${client !== undefined && status === 'exhausted' ? resendGivenUp(session, client, endpoint ?? DEFAULT_ENDPOINT) : ''}
${deliveriesTable(columnsOf(session), search.rows, clock.now(), [PRECISE], empty)}
${search.older}`
}

/** Of the table of deliveries, what the operator's pages have. */
const columnsOf = (session: Session) => ({
  signal: signalLink,
  client: clientLink,
  offer: ({ client, endpoint, seq }: ShownDelivery) =>
    offers(session, 'delivery', { client, endpoint, from: `${seq}`, to: `${seq}` }),
})

const resendGivenUp = (session: Session, client: string, endpoint: string): Piece | string =>
  offers(session, 'given up', { client, endpoint, from: '1', only: 'exhausted' })

/** Halt and resume. Going live is a command and not a button, so that it cannot happen by a wrong click. */
async function livePage(_: Texts, parts: OperatorParts, session: Session): Promise<Piece> {
  const { redis, aliases, clock } = parts
  const [live, halted] = await Promise.all([readLive(redis, aliases(), clock.now()), haltedAliases(redis)])
  const isHalted = halted.includes(EVERY_ALIAS)
  const any = offers(session, 'any strategy')
  return html`<h1>Live</h1>
${runnerLines(live)}
<div class="panel">${
    isHalted
      ? html`<span class="bad">Every strategy is halted.</span> A flat is still sent.`
      : html`<span class="good">Every strategy sends its signals</span>${halted.length === 0 ? '.' : html`, except ${halted.join(', ')}: halted.`}`
  }
${offers(session, 'live', { alias: EVERY_ALIAS }, { isHalted })}</div>
<h2>Strategies</h2>
${liveTable(live, ({ alias }) => offers(session, 'strategy', { alias }, { isHalted: halted.includes(alias) }))}
${any === '' ? '' : html`<div class="panel">One of the served dataset, whether it fired or not:${any}</div>`}`
}

/** `long`, or `flat (stop)`. */
const actOf = ({ action, why }: Signal): string => (why === undefined ? action : `${action} (${why})`)

/** ` by operator:jane`; nothing if the strategy decided. */
const handOf = ({ by = 'strategy' }: Signal): string => (by === 'strategy' ? '' : ` by ${by}`)

async function signalsPage(asked: Texts, { redis }: OperatorParts, session: Session): Promise<Piece> {
  const { rows, next } = await recentSignals(redis, parseRequest(signalsQuery, asked))
  return html`<h1>Signals</h1>
${table(
  ['#Signal', 'Strategy', 'Action', '#Waiting', '#Given up', '#Delivered', '#Price', 'Mode', 'Fired (UTC)'],
  rows.map(({ seq, fired_at, signal, deliveries: { owed, exhausted, delivered } }) => [
    signalLink(seq),
    signal.alias,
    actOf(signal),
    toned(owed > 0 ? 'warn' : '', owed),
    toned(exhausted > 0 ? 'bad' : '', exhausted),
    delivered,
    signal.signal_price,
    html`${signal.is_test ? toned('dim', 'test') : signal.mode}${handOf(signal)}`,
    moment(fired_at),
  ]),
  'No signal yet: `highwater ops fire` fires one, and so does the form below.',
)}${olderLink('/ops/view/signals', next)}
${section('Fire by hand', offers(session, 'signals'))}`
}

/** Deliveries of one signal whose attempts are shown, and clients that were not sent it; the command line shows each. */
const MOST_SHOWN = 200

async function signalPage(asked: Texts, { redis, clock }: OperatorParts, session: Session): Promise<Piece> {
  const logged = await findSignal(asked.seq ?? '', redis)
  const { seq, fired_at, signal } = showSignal(logged)
  const outbox = await readOutbox(redis, seq)
  const rows = await showDeliveries(redis, rowsOf(logged, outbox).slice(0, MOST_SHOWN))
  const attempts = await Promise.all(
    rows.map(async ({ client, endpoint }) => {
      const destination = destinationOf(client, endpoint)
      const link = clientLink(destination)
      return (await readAttempts(redis, seq, destination)).map(each => [link, each] as const)
    }),
  )
  const { unsent, webhooks } = await unsentOf(redis, logged, outbox)
  const reasons = await whyNotSent(redis, logged, unsent.slice(0, MOST_SHOWN), webhooks)
  const isWhole = outbox.size <= MOST_SHOWN && unsent.length <= MOST_SHOWN
  return html`<h1>Signal ${seq} <span>${signal.alias}</span></h1>
${signalCards(signal)}
<p class="dim"><code>${signal.signal_id}</code>, in the log since ${moment(fired_at, true)} UTC</p>
<h2>Deliveries</h2>
${deliveriesTable(columnsOf(session), rows, clock.now(), ['#Signal', 'Strategy', 'Fired (UTC)'], 'No deliveries: no client with a webhook was entitled to it.')}
<h2>Attempts</h2>
${attemptsTable('Client', attempts.flat())}
<h2>Not sent</h2>
${table(
  ['Client', '~Why'],
  reasons.map((why, i) => [clientLink(unsent[i]!.destination), why]),
  'It was sent to every client, or will be.',
)}
${isWhole ? '' : html`<p class="dim">The first ${MOST_SHOWN} of each table: <code>highwater ops signal ${seq} CLIENT</code> says it of any client.</p>`}`
}

/** The endpoints of all clients that were not sent a signal; of a client that pulls its webhook, which it does not have. */
async function unsentOf(redis: OperatorParts['redis'], { onlyFor }: LoggedSignal, outbox: Outbox) {
  const [clients, webhooks] = await readAllClients(redis)
  const known = [...webhooks.keys(), ...outbox.keys()]
  const pulling = clients.map(({ id }) => id).filter(id => !known.some(each => clientOf(each) === id))
  const byId = new Map(clients.map(client => [client.id, client]))
  const unsent = [...new Set([...known, ...pulling])].sort().flatMap(destination => {
    const client = byId.get(clientOf(destination))
    const state = outbox.get(destination) ?? null
    const isShown = (onlyFor ?? destination) === destination && isUnsent(state, webhooks.get(destination))
    return client !== undefined && isShown ? [{ client, destination, state }] : []
  })
  return { unsent, webhooks }
}

const signalCards = (signal: Signal): Piece =>
  cards([
    ['Action', actOf(signal), signal.is_test ? 'a test: never tradeable' : signal.mode],
    ['Price', signal.signal_price, `stop ${signal.stop}`],
    ['Risk', `${signal.base_risk_pct}`, 'fraction of equity'],
    ['Decided (UTC)', signal.timestamp.slice(11, 19), signal.timestamp.slice(0, 10) + handOf(signal)],
  ])

async function auditPage(asked: Texts, { redis }: OperatorParts, session: Session): Promise<Piece> {
  const { rows, next } = await readActions(redis, parseRequest(actionsQuery, asked))
  return html`<h1>Audit</h1>
<p class="dim">Every action of an operator, newest first. <code>highwater ops audit --json</code> has the whole state before and after.</p>
${table(
  ['#Number', 'When (UTC)', 'Who', 'Action', 'About', 'Outcome', '~What changed, or was asked for'],
  rows.map(logged => [
    logged.seq,
    moment(logged.at),
    logged.who,
    logged.action.replaceAll('_', ' '),
    logged.subject ?? '–',
    toned(logged.outcome === 'done' ? 'good' : 'bad', logged.outcome.replaceAll('_', ' ')),
    actionWords(logged),
  ]),
  'Nobody has done anything yet.',
)}${olderLink('/ops/view/audit', next)}
<h2>Tokens <span>beside OPERATOR_TOKEN</span></h2>
${table(
  ['Operator', '', 'Scopes', 'Issued (UTC)'],
  (await listOperators(redis)).map(({ name, scopes, created_at }) => [
    name,
    offers(session, 'token', { name }),
    scopes.join(', '),
    moment(created_at),
  ]),
  'None yet: the form below issues one, and so does `highwater ops tokens add`.',
)}
${section('Issue a token', offers(session, 'tokens'))}`
}

/** A task takes seconds, and the work of a killed worker begins again after 15 s. */
const SILENT_MS = 3 * 60_000

async function buildsPage(_: Texts, { builds, clock }: OperatorParts): Promise<Piece> {
  const nowMs = clock.now()
  return html`<h1>Builds</h1>
${table(
  ['Run', 'Version', 'Phase', '#Done', 'Workers', 'Last progress', 'State'],
  (await builds()).map(build => {
    const { run, dataset_version, phase, done, total, workers, progressed_at } = build
    const silentMs = nowMs - Date.parse(progressed_at)
    const isSilent = silentMs >= SILENT_MS
    const state = isSilent
      ? toned('bad', `no progress for ${duration(silentMs)}`)
      : toned('good', 'under way')
    const counts = Object.entries(workers).map(([name, count]) => html`<div>${name}: ${count}</div>`)
    const doneBy = counts.length === 0 ? 'none yet' : html`${counts}`
    return [run, dataset_version, phase, `${done} of ${total}`, doneBy, moment(progressed_at), state]
  }),
  'No build on a fleet is under way. A build on one machine shows its progress in its terminal.',
)}`
}
