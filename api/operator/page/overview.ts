import { html } from 'hono/html'
import type { Condition } from '#signals/delivery/webhook-condition.ts'
import type { LiveStatus } from '#signals/live/control.ts'
import type { Overview } from '#signals/views/overview.ts'
import type { Piece } from './layout.ts'
import { cards, clientLink, duration, type Figure, moment, table, webhookWord } from './pieces.ts'

const MEBIBYTE = 1 << 20

/** The service at a glance, and below it only what asks for somebody. */
export const overviewPage = (overview: Overview, nowMs: number): Piece => html`<h1>Overview</h1>
${cards([logCard(overview), redisCard(overview), relayCard(overview), queueCard(overview), clientsCard(overview), haltCard(overview)])}
<h2>Webhooks that need a look</h2>
${troubled(overview, nowMs)}
<h2>Live strategies</h2>
${liveTable(overview.live)}`

const logCard = ({ seq, epoch }: Overview): Figure => [
  'Newest signal',
  seq,
  html`epoch <code>${epoch.slice(0, 12)}</code>`,
]

function redisCard({ redis }: Overview): Figure {
  const memory = `${Math.round(redis.usedBytes / MEBIBYTE)} MiB used`
  if (!redis.isWriting)
    return ['Redis', html`<span class="bad">cannot write</span>`, 'its disk is full or broken']
  if (redis.isReplica)
    return [
      'Redis',
      html`<span class="bad">read only</span>`,
      'it is a replica: name its primary in REDIS_URL',
    ]
  if (redis.problems.length > 0)
    return ['Redis', html`<span class="bad">unsafe</span>`, redis.problems.join('; ')]
  return ['Redis', html`<span class="good">durable</span>`, `${redis.version}, ${memory}`]
}

const relayCard = ({ isRelayed, relayLag }: Overview): Figure => [
  'Relay',
  isRelayed ? html`<span class="good">running</span>` : html`<span class="bad">stopped</span>`,
  relayLag === 0 ? 'nothing waits for it' : `${relayLag} signals wait for it`,
]

const queueCard = ({ queue, webhooks }: Overview): Figure => [
  'Deliveries owed',
  webhooks.reduce((sum, { owed }) => sum + owed, 0),
  `calls waiting: fast ${queue.fast}, slow ${queue.slow}`,
]

const clientsCard = ({ clients, webhooks }: Overview): Figure => [
  'Clients',
  clients.total,
  `${clients.active} active, ${webhooks.filter(({ enabled }) => enabled).length} with a webhook`,
]

const haltCard = ({ halted }: Overview): Figure => [
  'Entries',
  halted.length === 0 ? html`<span class="good">flowing</span>` : html`<span class="bad">halted</span>`,
  halted.includes('*') ? 'every strategy' : halted.join(', '),
]

function troubled({ webhooks }: Overview, nowMs: number): Piece {
  const rows = webhooks
    .filter(({ enabled, condition }) => !enabled || condition.health.failingSinceMs !== null)
    .map(state => {
      const since = state.condition.health.failingSinceMs
      return html`<tr><td>${clientLink(state.client)}</td><td>${webhookWord(state)}</td>
<td>${since === null ? '–' : duration(nowMs - since)}</td><td class="n">${state.owed}</td><td class="wide">${state.disabledWhy ?? nextProbe(state.condition)}</td></tr>`
    })
  return table(
    ['Client', 'State', 'Failing for', '#Owed', 'What follows, or why'],
    rows,
    'All webhooks are healthy.',
  )
}

const nextProbe = ({ breaker }: Condition): Piece | string =>
  breaker.kind === 'open' ? html`asked again at ${moment(breaker.probeAtMs)} UTC` : ''

export const liveTable = (live: readonly LiveStatus[], more?: (status: LiveStatus) => Piece): Piece =>
  table(
    [
      'Strategy',
      'Mode',
      'Entries',
      ...(more === undefined ? [] : ['']), // in front of the times: a phone shows no more than this
      'Last bar closed (UTC)',
      'Live from (UTC)',
    ],
    live.map(
      status => html`<tr><td>${status.alias}</td>
<td>${status.mode === 'LIVE' ? html`<span class="good">LIVE</span>` : html`<span class="dim">DRY_RUN</span>`}</td>
<td>${status.isHalted ? html`<span class="bad">halted</span>` : 'flowing'}</td>${more === undefined ? '' : html`<td>${more(status)}</td>`}
<td>${moment(status.cursorMs)}</td><td>${moment(status.liveFromMs)}</td></tr>`,
    ),
    'No strategy has run live yet: `highwater live --book DIR` starts one.',
  )
