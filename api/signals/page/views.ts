// The views of the page for subscribers. Each is of the client that has logged in: no address names one.
import { sum } from 'd3-array'
import { html } from 'hono/html'
import { listKeys } from '#signals/clients/api-keys.ts'
import { newestVisible } from '#signals/log/read-log.ts'
import { DEFAULT_ENDPOINT, MOST_ENDPOINTS } from '#signals/outbox/destination.ts'
import { accountFor } from '#signals/outbox/resend.ts'
import { explainSignal } from '#signals/subscribers/deliveries.ts'
import { readOwnEndpoints } from '#signals/subscribers/endpoints.ts'
import { readNotices } from '#signals/subscribers/notices.ts'
import { readSealState } from '#signals/views/overview.ts'
import { readHours, recentDeliveries, type ShownDelivery } from '#signals/views/recent.ts'
import { seqOf } from '../../service/deliveries.ts'
import {
  attemptsTable,
  dayCharts,
  deliveriesTable,
  dueAt,
  PRECISE,
  searchDeliveries,
} from '../../service/page/deliveries.ts'
import {
  cards,
  counted,
  duration,
  type Figure,
  moment,
  type Piece,
  section,
  sentence,
  stateLine,
  statusOf,
  type Texts,
  table,
  toned,
  webhookWord,
} from '../../service/page/layout.ts'
import type { View } from '../../service/page/mount.ts'
import type { ServedParts } from '../exchange.ts'
import { MOST_SEARCHED, ownDeliveriesQuery } from '../routes/deliveries.ts'
import { ACCOUNT_SITE, offers, type Session } from './forms.ts'

export const VIEWS: Readonly<Record<string, View<ServedParts, Session>>> = {
  '/account': { tab: 'State', content: statePage },
  '/account/deliveries': { tab: 'Deliveries', group: 'account', content: deliveriesPage },
  '/account/deliveries/:seq': { tab: 'Deliveries', names: 'Signal ', group: 'account', content: signalPage },
  '/account/why': { tab: 'Deliveries', group: 'account', content: signalPage },
  '/account/notices': { tab: 'Notices', content: noticesPage },
  '/account/endpoints': { tab: 'Endpoints', content: endpointsPage },
}

type Endpoint = Awaited<ReturnType<typeof readOwnEndpoints>>[number]

async function statePage(_: Texts, parts: ServedParts, { who: { client } }: Session): Promise<Piece> {
  const { redis, registering, clock } = parts
  const [endpoints, keys, day] = await Promise.all([
    readOwnEndpoints(registering, client.id),
    listKeys(redis, client.id),
    readHours(redis, clock.now(), client.id),
  ])
  return html`<h1>${client.id} <span>${client.tier}</span></h1>
${
  client.status === 'active'
    ? cards(await numberCards(parts, client, endpoints))
    : html`<p class="panel bad" role="alert">Your account is not active: nothing is sent, and signals cannot be pulled. The operator activates it.</p>`
}
<h2>Endpoints</h2>
${endpointsTable(endpoints, clock.now())}
<h2>Deliveries of the last 24 hours</h2>
${dayCharts(day)}
<h2>Keys</h2>
${table(
  ['Key', 'Made (UTC)', 'Confirmed (UTC)', 'Last used (UTC)', 'Ends (UTC)'],
  keys.map(key => [
    html`<code>hw_live_${key.id}…</code>`,
    moment(key.created_at),
    key.confirmed_at === null ? 'not yet' : moment(key.confirmed_at),
    key.last_used_at === null ? 'never' : moment(key.last_used_at),
    key.expires_at === null ? 'never' : moment(key.expires_at),
  ]),
  'No key yet: the operator issues one.',
)}
<h2>What you see</h2>
<div class="panel">${client.aliases.length === 0 ? 'No strategy yet' : client.aliases.join(', ')}${client.program ? ', and the accumulation program' : ''}.</div>`
}

/** Numbers that are listed; the page of deliveries finds the others. */
const MOST_NUMBERS = 20

/** Numbers that are accounted for at each look at the page, which is asked for every few seconds. */
const MOST_LOOKED_AT = 500

async function numberCards(
  { redis, settings, clock }: ServedParts,
  client: Session['who']['client'],
  endpoints: readonly Endpoint[],
): Promise<readonly Figure[]> {
  const newest = { client: client.id, status: 'delivered', limit: 1, mostSearched: MOST_LOOKED_AT } as const
  const [account, acknowledged, seals] = await Promise.all([
    accountOfNewest(redis, client),
    recentDeliveries(redis, newest),
    readSealState(redis, clock.now()),
  ])
  const [last] = acknowledged.rows
  // What an endpoint was to be sent and was not; what it was never owed, or has let expire, is none.
  const gaps = [...new Set([...account.exhausted, ...account.withdrawn])].sort((a, b) => a - b)
  const links = gaps.slice(-MOST_NUMBERS).map((seq, i) => html`${i === 0 ? '' : ', '}${signalLink(seq)}`)
  const more = gaps.length > MOST_NUMBERS ? `, and ${gaps.length - MOST_NUMBERS} before them` : ''
  const check = settings.historyBaseUrl
  return [
    [
      'Last acknowledged',
      last ? signalLink(last.seq) : '–',
      last ? html`${moment(last.settled_at)} UTC` : '',
    ],
    ['Waiting', sum(endpoints, ({ owed }) => owed), 'deliveries that are still to come'],
    endpoints.length === 0
      ? ['Gaps', '–', 'nothing is pushed without an endpoint']
      : [
          'Gaps',
          gaps.length === 0 ? toned('good', 'none') : toned('bad', gaps.length),
          gaps.length === 0
            ? `of what was to be pushed, numbers ${account.from} to ${account.to}`
            : html`not acknowledged: ${links}${more}`,
        ],
    [
      'Newest seal',
      seals?.n ?? '–',
      html`${seals?.age_seconds == null ? '' : `ended ${duration(seals.age_seconds * 1_000)} ago`}${check === null ? '' : html` <a href="${check}/check">Check it</a>`}`,
    ],
  ]
}

async function accountOfNewest(redis: ServedParts['redis'], client: Session['who']['client']) {
  const to = Math.max(1, await newestVisible(redis, client))
  return accountFor(redis, client.id, Math.max(1, to - MOST_LOOKED_AT + 1), to)
}

const signalLink = (seq: number): Piece => html`<a href="/account/deliveries/${seq}">${seq}</a>`

const endpointsTable = (endpoints: readonly Endpoint[], nowMs: number): Piece =>
  table(
    ['Endpoint', 'State', 'Last success (UTC)', '#Failures in a row', 'Next attempt (UTC)', '#Waiting'],
    endpoints.map(each => [
      html`<a href="/account/endpoints#${each.endpoint}">${each.endpoint}</a>`,
      webhookWord(each),
      moment(each.last_success_at),
      each.failures,
      dueAt(each.next_attempt_at, nowMs),
      each.owed,
    ]),
    'No endpoint yet, so nothing is pushed: set one on the tab Endpoints, or pull.',
  )

/** Of the table of deliveries, what this page has. */
const columnsOf = (session: Session) => ({
  signal: signalLink,
  offer: ({ endpoint, seq }: Pick<ShownDelivery, 'endpoint' | 'seq'>) =>
    offers(session, 'delivery', { endpoint, from: `${seq}`, to: `${seq}` }),
})

async function deliveriesPage(asked: Texts, { redis, clock }: ServedParts, session: Session): Promise<Piece> {
  const { client } = session.who
  const search = await searchDeliveries(
    {
      ...{ path: '/account/deliveries', query: ownDeliveriesQuery },
      find: filter => recentDeliveries(redis, { ...filter, client: client.id, mostSearched: MOST_SEARCHED }),
      choices: { endpoint: session.endpoints, alias: client.aliases },
    },
    asked,
  )
  const resend = offers(session, 'range', {}, { from: 1 })
  return html`<h1>Deliveries</h1>
<form method="get" action="/account/why" class="fields"><label>Why did I not get signal <input type="number" name="seq" min="1" required></label><button class="quiet">Explain</button></form>
${search.form}
${deliveriesTable(columnsOf(session), search.rows, clock.now(), [PRECISE], search.problem ?? 'No delivery matches. The field above says why you did not get a signal.')}
${search.older}
${resend === '' ? '' : section('Send again', html`${offers(session, 'given up', { from: '1', only: 'exhausted' })}${resend}`)}`
}

async function signalPage({ seq = '' }: Texts, { redis }: ServedParts, session: Session): Promise<Piece> {
  const signal = await explainSignal(redis, session.who.client, seqOf(seq))
  const attempts = signal.endpoints.flatMap(({ endpoint, attempts }) =>
    attempts.map(each => [endpoint, each] as const),
  )
  return html`<h1>Signal ${signal.seq} <span>${signal.alias}</span></h1>
<p class="dim">In the log since ${moment(signal.fired_at, true)} UTC</p>
<h2>Deliveries</h2>
${table(
  ['Endpoint', 'State', '', '~What became of it'],
  signal.endpoints.map(({ endpoint, delivery, why }) => [
    endpoint,
    delivery === null ? toned('dim', 'not sent') : statusOf(delivery),
    delivery === null ? '' : columnsOf(session).offer(delivery),
    said(why),
  ]),
  'None.',
)}
<h2>Attempts</h2>
${attemptsTable('Endpoint', attempts)}`
}

async function endpointsPage(_: Texts, { registering }: ServedParts, session: Session): Promise<Piece> {
  const endpoints = await readOwnEndpoints(registering, session.who.client.id)
  return html`<h1>Endpoints</h1>
${endpoints.map(each => endpointPanel(session, each))}
${
  endpoints.length === 0
    ? section(
        'Set your endpoint',
        html`<p>Where are signals sent? The address is sent a signed test now, and is kept if it acknowledges it with 2xx.</p>${offers(session, 'first endpoint', { endpoint: DEFAULT_ENDPOINT })}`,
      )
    : endpoints.length < MOST_ENDPOINTS && section('Add an endpoint', offers(session, 'new endpoint'))
}
<p class="dim">${counted(endpoints.length, 'endpoint')} of ${MOST_ENDPOINTS} at most.</p>`
}

function endpointPanel(session: Session, state: Endpoint): Piece {
  const { endpoint, host, disabled_why, paused, filter, header_names, expire_entries_after_s: expiry } = state
  const lines = [
    filter === null ? 'It gets every strategy that you see.' : `It gets ${filter.join(', ')} only.`,
    expiry === null ? 'Entries never expire.' : `Entries expire after ${duration(expiry * 1_000)}.`,
    header_names.length > 0 && `Your headers: ${header_names.join(', ')}.`,
    disabled_why !== null && html`<br><span class="bad">${said(disabled_why)}</span> Set it again below.`,
  ].filter(line => line !== false)
  return html`<h2 id="${endpoint}">${endpoint} <span>${host}</span></h2>
<div class="panel">${stateLine(state)}<br>
<span class="dim">${lines.map(line => html`${line} `)}</span>
${offers(session, 'endpoint', { endpoint, paused: paused ? '' : 'yes' }, state)}
<details><summary>Change it</summary>${offers(session, 'settings of an endpoint', { endpoint }, state)}</details></div>`
}

const said = (text: string): Piece => sentence(ACCOUNT_SITE, text)

async function noticesPage(_: Texts, { redis }: ServedParts, { who }: Session): Promise<Piece> {
  return html`<h1>Notices</h1>
<p class="dim">What you should know of your endpoints and keys, newest first. Each is also sent to your other endpoints.</p>
${table(
  ['At (UTC)', 'What', 'Endpoint', 'Key', '~Why'],
  (await readNotices(redis, who.client.id)).map(({ at, event, endpoint, key_id, reason }) => [
    moment(at),
    event.replaceAll('_', ' '),
    endpoint ?? '–',
    key_id ?? '–',
    said(reason),
  ]),
  'None.',
)}`
}
