// The overview of the operator's page: the service, publications and nights, deliveries, webhooks, live strategies, alerts.
import { html } from 'hono/html'
import { DAY_MS } from '#core/calendar.ts'
import { prose } from '#pages/guides/guide.ts'
import { problemsOf } from '#signals/alerts.ts'
import { describeGap, type LiveStatus } from '#signals/live/live-record.ts'
import { SEALS_OFF } from '#signals/redis/keys.ts'
import { type Overview, readOverview } from '#signals/views/overview.ts'
import type { Published } from '#signals/views/published.ts'
import { readHours } from '#signals/views/recent.ts'
import type { NightReport } from '#storage/night-report.ts'
import { dayCharts } from '../../service/page/deliveries.ts'
import {
  type Cell,
  cards,
  counted,
  duration,
  type Figure,
  moment,
  type Piece,
  type Texts,
  table,
  toned,
  webhookWord,
} from '../../service/page/layout.ts'
import type { OperatorParts } from '../exchange.ts'
import { clientLink, offers, type Session, signalLink } from './site.ts'

export async function overviewPage(_: Texts, parts: OperatorParts, session: Session): Promise<Piece> {
  const nowMs = parts.clock.now()
  const [state, day, published] = await Promise.all([
    readOverview(parts),
    readHours(parts.redis, nowMs),
    parts.published(),
  ])
  return html`<h1>Overview</h1>
${problemsOf({ ...state, live: [] }).map(({ message }) => problemLine(prose(message)))}${nightLines(published, nowMs).map(problemLine)}${runnerLines(state.live)}
${cards(serviceCards(state))}
<h2>Publications</h2>
${published === null ? html`<p class="panel dim">Nothing is published yet: <code>highwater nightly --book DIR</code> publishes the first version.</p>` : publishedPart(session, published, nowMs)}
<h2>Deliveries of the last 24 hours</h2>
${dayCharts(day)}
<h2>Webhooks that need a look</h2>
${troubled(state, nowMs)}
<h2>Live strategies</h2>
${liveTable(state.live)}
<h2>Alerts <span>since this process started, newest first</span></h2>
${table(
  ['At (UTC)', 'Kind', '~What happened'],
  parts.alerts().map(({ at, kind, message }) => [moment(at), kind.replaceAll('_', ' '), prose(message)]),
  'None.',
)}`
}

const problemLine = (says: Piece): Piece => html`<p class="panel bad" role="alert">${says}</p>`

function nightLines(published: Published | null, nowMs: number): Piece[] {
  const { failing = null, versions = [] } = published ?? {}
  const missing = versions.find(({ is_served }) => is_served)?.night?.summary?.missing_bars ?? []
  const lines = missing.map(what => html`${what}. Bring them with the import, and publish again.`)
  if (failing === null) return lines
  const since = duration(nowMs - Date.parse(failing.since))
  return [
    html`The night has failed for ${since}: ${failing.cause}. The version before stays served.`,
    ...lines,
  ]
}

/** A night a day, and two hours. */
const LATE_MS = DAY_MS + 2 * 3_600_000

function publishedPart(session: Session, published: Published, nowMs: number): Piece {
  const { version, from, to, strategies, builtWith, versions } = published
  const made = `${counted(strategies, 'strategy')}, built with highwater ${builtWith}`
  const night = versions.find(each => each.night !== null)?.night ?? null
  const restated = versions.filter(({ history_restated }) => history_restated).length
  const restatements = restated === 0 ? toned('good', 'none') : toned('warn', restated)
  return html`${cards([
    ['Served version', toned('small', moment(version)), made],
    ['Data to', to ?? '–', to === null ? '' : `from ${from}, ${ageOf(to, nowMs)}`],
    ['Last night', nightWord(night), night === null ? 'published by hand' : `took ${tookOf(night)}`],
    ['Next night', ...nextNight(night, nowMs)],
    ['Restatements', restatements, 'in the versions below'],
  ])}
${table(
  ['Version', '', 'Published (UTC)', 'Night', '#Took', 'History'],
  versions.map(each => [
    each.version,
    each.is_served ? toned('good', 'served') : offers(session, 'version', { version: each.version }),
    moment(each.published),
    nightWord(each.night),
    each.night === null ? duration(null) : tookOf(each.night),
    each.history_restated ? toned('warn', 'restated') : toned('dim', 'as before'),
  ]),
  'None.',
)}`
}

const tookOf = ({ started_utc, ended_utc }: NightReport): string =>
  duration(Date.parse(ended_utc) - Date.parse(started_utc))

function nightWord(night: NightReport | null): Piece {
  if (night === null) return toned('dim', '–')
  return night.outcome === 'done'
    ? toned('good', 'done')
    : html`<span class="bad" title="${night.error ?? ''}">failed</span>`
}

/** A day after the last one began: the timer of the machine decides. */
function nextNight(night: NightReport | null, nowMs: number): [Piece | string, Piece | string] {
  if (night === null) return ['–', 'no night has run yet']
  const startedMs = Date.parse(night.started_utc)
  return nowMs - startedMs > LATE_MS
    ? [toned('bad', 'overdue'), `the last one began ${duration(nowMs - startedMs)} ago`]
    : [toned('small', moment(startedMs + DAY_MS)), 'UTC, if it runs once a day']
}

const ageOf = (day: string, nowMs: number): string => {
  const days = Math.max(0, Math.floor((nowMs - Date.parse(day)) / DAY_MS) - 1)
  return days === 0 ? 'up to yesterday' : `${counted(days, 'full day')} behind`
}

function serviceCards(state: Overview): readonly Figure[] {
  const { seq, epoch, isRelayed, relayLag, queue, webhooks, clients, halted } = state
  const slow = queue.slow === 0 ? '' : `, ${queue.slow} slow or failing`
  const owed = webhooks.reduce((sum, webhook) => sum + webhook.owed, 0)
  const enabled = new Set(webhooks.filter(each => each.enabled).map(({ client }) => client)).size
  return [
    ['Newest signal', seq, html`in the log <code>${epoch.slice(0, 12)}</code>`],
    ['Redis', ...redisWords(state)],
    [
      'Relay',
      isRelayed ? toned('good', 'running') : toned('bad', 'stopped'),
      relayLag === 0 ? 'nothing waits for it' : `waiting for it: ${counted(relayLag, 'signal')}`,
    ],
    ['Deliveries waiting', owed, `due now: ${counted(queue.fast + queue.slow, 'client')}${slow}`],
    ...sealCards(state),
    ['Clients', clients.total, `${clients.active} active, ${enabled} with a webhook`],
    [
      'Longs and shorts',
      halted.length === 0 ? toned('good', 'are sent') : toned('bad', 'halted'),
      halted.includes('*') ? 'every strategy' : halted.join(', '),
    ],
  ]
}

function sealCards({ seals }: Overview): readonly Figure[] {
  if (seals === null) return []
  const { n, age_seconds: age, refused } = seals
  if (refused === SEALS_OFF) return [['Newest seal', n, 'sealing is off']]
  const ended = age === null ? 'none yet' : `ended ${duration(age * 1_000)} ago`
  return refused === null
    ? [['Newest seal', n, ended]]
    : [['Newest seal', toned('bad', n), `${ended}; refused`]]
}

function redisWords({ redis }: Overview): readonly [Piece, string] {
  if (!redis.isWriting) return [toned('bad', 'cannot write'), 'its disk is full or broken']
  if (redis.isReplica) return [toned('bad', 'read only'), 'it is a replica: name its primary in REDIS_URL']
  if (redis.problems.length > 0) return [toned('bad', 'unsafe'), redis.problems.join('; ')]
  const memory = `${Math.round(redis.used_bytes / 2 ** 20)} MiB used`
  return [toned('good', 'durable'), `${redis.version}, ${memory}`]
}

function troubled({ webhooks }: Overview, nowMs: number): Piece {
  const rows = webhooks
    .filter(({ enabled, failing_since }) => !enabled || failing_since !== null)
    .map(state => {
      const { destination, failing_since: since, disabled_why, probe_at, owed } = state
      const probe = probe_at === null ? '' : html`probed again at ${moment(probe_at)} UTC`
      const failing = since === null ? '–' : duration(nowMs - Date.parse(since))
      return [clientLink(destination), webhookWord(state), failing, owed, disabled_why ?? probe]
    })
  return table(
    ['Client', 'State', 'Failing for', '#Waiting', '~What follows, or why'],
    rows,
    'All webhooks are healthy.',
  )
}

export const runnerLines = (live: readonly LiveStatus[]): readonly Piece[] =>
  live.flatMap(linesOf).map(problemLine)

/** A position that subscribers hold without a running runner, a gap that was found within a day, and another replay. */
function linesOf({ alias, announced, behind_seconds, gap, atMs, diverges }: LiveStatus): Piece[] {
  const lines: Piece[] = []
  if (announced !== null && behind_seconds > 0)
    lines.push(
      html`The runner of ${alias} is silent: it announced a ${announced}, and its next bar has been due for ${duration(behind_seconds * 1_000)}. Check <code>highwater live</code> and its feed.`,
    )
  if (gap !== null && atMs - gap.found_ms < DAY_MS)
    lines.push(html`${alias}: ${describeGap(gap)}. Compare its bars with those of your vendor.`)
  if (diverges !== null) lines.push(html`${alias} diverges from its replay: ${diverges}.`)
  return lines
}

function stateWords(live: LiveStatus): Piece {
  const { halted, diverges, behind_seconds, last_bar_close, live_from, by_hand } = live
  const runs = last_bar_close !== null
  const late = `late by ${duration(behind_seconds * 1_000)}`
  const words = [
    halted && toned('bad', 'halted'),
    diverges !== null && toned('bad', 'diverging'),
    behind_seconds > 0 && toned('warn', late),
    runs && by_hand !== null && toned('warn', html`signal ${signalLink(by_hand)} fired by hand`),
  ].filter(word => word !== false)
  if (words.length > 0) return html`${words.map((word, i) => (i === 0 ? word : html`, ${word}`))}`
  if (runs) return toned('good', 'running')
  return toned('dim', live_from === null ? 'fired by hand' : 'ended')
}

/** With `more` in a column of its own, early: a phone shows no more than the first ones. */
export function liveTable(live: readonly LiveStatus[], more?: (status: LiveStatus) => Cell): Piece {
  const rows = live.map(status => [
    ...[status.alias, stateWords(status), ...(more === undefined ? [] : [more(status)]), modeWord(status)],
    ...[moment(status.last_bar_close), moment(status.live_from)],
  ])
  const early = ['Strategy', 'State', ...(more === undefined ? [] : [''])]
  const none = 'No strategy has fired or run live yet: `highwater live --book DIR` starts one.'
  return table([...early, 'Mode', 'Last bar closed (UTC)', 'Live from (UTC)'], rows, none)
}

/** A strategy that only the operator fires has the mode of each signal. */
const modeWord = ({ last_bar_close, mode }: LiveStatus): Piece =>
  last_bar_close === null ? toned('dim', '–') : toned(mode === 'LIVE' ? 'good' : 'dim', mode)
