// What a sheet says of live trading: the signals that were sealed as they happened, beside the entries of the replay.
import { html, raw } from 'hono/html'
import { DAY_MS, toEpochDay, toIsoDate } from '#core/calendar.ts'
import type { SealsRecord } from '#core/contract/payloads/live.ts'
import { publishFigures } from '#core/dataset/resources/figures-on-the-wire.ts'
import { liveInput } from '#core/dataset/resources/live.ts'
import type { Snapshot, StrategyData } from '#core/dataset/snapshot.ts'
import { liveEntries, liveFigures } from '#core/figures/live-figures.ts'
import { counted, dateText, decimal, figure, figureOf, percent, shortDate, whole } from '../format.ts'
import { type Markup, serviceLink } from '../layout.ts'
import { comparisonTable, toGroup } from './groups.ts'
import { HEADLINE } from './sections.ts'

/** What became of the entries of the replay, and last what is sealed and in no trade: a loser that was taken out is one. */
const WORDS = Object.entries({
  ...{ sealed: 'By the strategy in time', late: 'Late', missed: 'Missed' },
  ...{ halted: 'Halted', by_hand: 'By hand', unmatched: 'Of no trade' },
})

type Live = NonNullable<ReturnType<typeof liveOf>>

/** The live record of a strategy, with its figures at base risk; null if it was never live. */
export function liveOf(snapshot: Snapshot, strategy: StrategyData) {
  const { live } = strategy
  const { seals } = snapshot.dataset
  if (live === null || seals?.opened_to == null) return null
  const input = liveInput(snapshot, strategy)
  const values = publishFigures(liveFigures({ ...input, k: 1 }).values)
  const { live_since: since, ended_on } = values
  if (typeof since !== 'string') return null
  const ended = typeof ended_on === 'string' ? ended_on : null
  const days = Number(toGroup(values.days).live)
  const count = (word: string) => Number(toGroup(values.entries)[word])
  return { ...snapshot, live, seals, values, since, ended, days, count, input, opened_to: seals.opened_to }
}

/** `since 12 May 2026`, or from when to when. */
export const spanOf = ({ since, ended }: Live): Markup =>
  ended === null ? html`since ${dateText(since)}` : html`${dateText(since)} to ${dateText(ended)}`

/** `41 of 48 entries by the strategy in time, 3 late, 2 by hand`. */
export function entriesText({ count }: Live): string {
  const judged = count('judged')
  const others = WORDS.slice(1).filter(([word]) => count(word) > 0)
  const first = `${whole(count('sealed'))} of ${counted(judged, 'entry')} by the strategy in time`
  return [
    judged === 0 ? 'no entry to judge yet' : first,
    ...others.map(([word, name]) => `${whole(count(word))} ${name.toLowerCase()}`),
  ].join(', ')
}

/** Whose clock dates the seals. No reader of the page has checked a time stamp. */
export const clockOfSeals = ({ stamped_by: by }: SealsRecord): string =>
  `by the publisher's own clock${by === null ? '' : `, with time stamps that name ${by}, as the publisher states`}`

/** Since when the chain is, how far it is opened, and where it is incomplete. */
export function chainText({ since, opened_to, seals, gaps, lost, skipped }: SealsRecord): Markup {
  const numbers = skipped.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  const reasons = [...new Set(lost.map(({ why }) => why))].join('; ')
  const opened = opened_to === null ? 'none opened yet' : html`opened up to ${dateText(opened_to)}`
  return html`${counted(seals, 'seal')} since ${dateText(since)}, ${opened}, with ${counted(gaps.length, 'gap')}${lost.length > 0 ? `; ${whole(lost.length)} cannot be opened: ${reasons}` : ''}${numbers > 0 ? `; ${counted(numbers, 'signal number')} in no seal, although later ones are sealed` : ''}`
}

/** No risk level and no range changes the section. */
export function liveSection(live: Live): Markup {
  const { dataset, values, seals, days } = live
  const all = { n_days: days }
  const embargo = dataset.embargo_days
  const opened = embargo === 0 ? 'when their day is over' : `${counted(embargo, 'day')} later`
  return html`<p class="note">${dataset.synthetic ? html`<strong>Simulated</strong>: prices, signals and times are made up. ` : ''}Signals as they were sealed, ${clockOfSeals(seals)}, and opened ${opened}, beside the entries of the replay. In time: before the next close of the bars and within 15 minutes of the fill. Only side and time of entries are judged: fill, size, price and exit are those of the record. Who fired is as the publisher states. At base risk, all live days. ${serviceLink(dataset, '/docs/guides/figures#v1strategiessidlive', 'Definitions')}</p>
${entriesTable(live)}
<div class="columns"><div>${comparisonTable(
    [
      ['Modelled', { ...toGroup(values.modelled), ...all }],
      ['As sealed', { ...toGroup(values.as_sealed), ...all }],
    ],
    HEADLINE.filter(([path]) => path !== 'cagr_pct'),
  )}
<p class="note">On ${whole(Number(values.days_left_out))} of ${counted(days, 'day')} only positions were open that were not sealed in time, or were entered before the strategy was live: their return is left out. Days with both are kept (${whole(Number(values.days_shared))}). Tracking error ${figureOf({ ...values, ...all }, ['tracking_error_pct', '', percent])}.</p></div>
${factsOf(live)}</div>`
}

const WIDTH = 720

/** A row for each word with a stroke for each entry, so that the picture needs no colour; last the gaps of the chain. */
function entriesTable({ input, seals, since, ended, opened_to, values, count }: Live): Markup {
  const last = ended ?? opened_to
  const [from, to] = [Date.parse(since), Date.parse(last) + DAY_MS]
  const words = liveEntries(input)
  const x = (ms: number) => Math.round((WIDTH * Math.min(Math.max(ms - from, 0), to - from)) / (to - from))
  const row = (head: string, number: number, strokes: readonly string[]) => html`
<tr><th scope="row">${head}</th><td>${whole(number)}</td><td>${raw(`<svg class="strip" viewBox="0 0 ${WIDTH} 16" preserveAspectRatio="none" aria-hidden="true"><path class="line main" d="${strokes.join('')}"/></svg>`)}</td></tr>`
  const strokesOf = (word: string) => {
    const own = input.trades.filter((_, i) => words[i] === word)
    const at = [...new Set(own.map(trade => x(trade.entry_time)))]
    return at.map((to, i) => (i === 0 ? `M${to} 3v10` : `m${to - at[i - 1]!}-10v10`))
  }
  const gaps = seals.gaps.map(each => [Date.parse(each.from), Date.parse(each.to)] as const)
  const own = gaps.filter(gap => gap[1] > from && gap[0] < to)
  return html`<table class="entries"><thead><tr><th scope="col" colspan="2">${counted(count('judged'), 'entry')} judged</th><th scope="col">${shortDate(since)} ${shortDate(last)}</th></tr></thead>
<tbody>${WORDS.map(([word, name]) => row(name, count(word), strokesOf(word)))}${row(
    'Gaps between seals',
    Number(toGroup(values.days).gaps),
    own.map(gap => `M${x(gap[0])} 3v10H${x(gap[1])}v-10z`),
  )}</tbody></table>`
}

const DONE = { live: 'went live', ended: 'ended', halt: 'halted', resume: 'resumed' }

/** What people ordered, the newest 12: each with who and why, and how often each fired by hand. */
function eventsOf({ live: { events, signals } }: Live): Markup {
  const byHand = signals.filter(({ by, mode }) => by.startsWith('operator:') && mode === 'LIVE')
  const fired = [...Map.groupBy(byHand, ({ by }) => by)].map(([by, own]) => {
    const text = `fired by hand by ${by}${own.length > 1 ? `, the last of ${whole(own.length)} times` : ''}`
    return { at: own.at(-1)!.timestamp, text }
  })
  const ordered = events.map(({ at, event, alias, by, why }) => {
    const text = `${alias === '*' ? 'all strategies: ' : ''}${DONE[event]} by ${by}${why === null ? '' : `. Reason: ${why}`}`
    return { at, text }
  })
  const all = [...ordered, ...fired].sort((a, b) => b.at - a.at)
  return html`<ul>${all.slice(0, 12).map(({ at, text }) => html`<li>${shortDate(toIsoDate(toEpochDay(at)))}: ${text.replaceAll('operator:', '')}</li>`)}</ul>`
}

function factsOf(live: Live): Markup {
  const { dataset, values, seals, days } = live
  const row = (name: string, text: Markup) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`
  const minutes = (seconds: number) => `${decimal(seconds / 60, 1)} min`
  const delays = toGroup(values.delay_seconds)
  const countOf = (name: string) => whole(Number(toGroup(delays[name]).count))
  const delay = (name: string) => {
    const { median, p99 } = toGroup(delays[name])
    return html`median ${figure(median, minutes)}, 99 % within ${figure(p99, minutes)}`
  }
  const stamped =
    seals.stamped_by === null
      ? 'no time stamp'
      : html`${countOf('stamped')} of ${countOf('claimed')} with a time stamp, as the publisher states: ${delay('stamped')}`
  return html`<dl class="record">
${row('Live', html`${spanOf(live)}: ${counted(days, 'day')}, ${whole(Number(toGroup(values.days).sealed))} of them without a gap between seals`)}
${row('Decision to seal', html`${delay('claimed')}, by the publisher's own clock; ${stamped}`)}
${row('Events', eventsOf(live))}
${row('Chain', html`${chainText(seals)}. Origin ${seals.origins.map(({ origin, n }) => html`<code>${origin}</code> from seal ${whole(n)} `)}`)}
${row('Check', html`<a href="live.json">all of it as JSON</a>; <code>highwater verify-live ${dataset.public_url ?? 'ADDRESS'}</code> or ${serviceLink(dataset, '/docs/guides/verifying', 'openssl and Python')}`)}
</dl>`
}
