// Small pieces that several pages show.
import { html } from 'hono/html'
import type { DeliveryState } from '#signals/delivery/outbox.ts'
import type { WebhookState } from '#signals/views/webhook-state.ts'
import { latencyMs } from '../views.ts'
import { csrfField, type Piece, sentence } from './layout.ts'
import type { Session } from './session.ts'

/** `2026-11-21 00:15:02`, or a dash. */
export const moment = (ms: number | null): Piece => timeOf(ms, 'second')

/** `2026-11-21 00:15:02.417`, where a second is long. */
export const preciseMoment = (ms: number | null): Piece => timeOf(ms, 'millisecond')

function timeOf(ms: number | null, unit: 'second' | 'millisecond'): Piece {
  if (ms === null) return html`<span class="dim">–</span>`
  const iso = new Date(ms).toISOString()
  const time = iso.slice(11, unit === 'second' ? 19 : 23)
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${time}</time>`
}

/** `312 ms`, `4.2 s`, `3.1 h`, or a dash. */
export function duration(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`
  return ms < 7_200_000 ? `${(ms / 60_000).toFixed(1)} min` : `${(ms / 3_600_000).toFixed(1)} h`
}

const TONE: { readonly [Status in DeliveryState['status']]: string } = {
  owed: 'warn',
  delivered: 'good',
  exhausted: 'bad',
  withdrawn: 'dim',
}

export const statusOf = ({ status }: DeliveryState): Piece =>
  html`<span class="${TONE[status]}">${status}</span>`

/** Columns of a table and its rows; a sentence where there are none. One that is too wide scrolls, and the keyboard reaches it. */
export const table = (columns: readonly string[], rows: readonly Piece[], empty: string): Piece =>
  rows.length === 0
    ? html`<div class="scroll"><p class="empty">${sentence(empty)}</p></div>`
    : html`<div class="scroll" role="region" aria-label="${columns.map(columnName).join(', ')}" tabindex="0"><table><thead><tr>${columns.map(heading)}</tr></thead><tbody>${rows}</tbody></table></div>`

/** A `#` in front stands for a column of numbers. */
const heading = (name: string): Piece =>
  name.startsWith('#') ? html`<th class="n">${columnName(name)}</th>` : html`<th>${name}</th>`

const columnName = (name: string): string => name.replace(/^#/, '')

export type Figure = readonly [name: string, value: Piece | string | number, more?: Piece | string]

export const cards = (figures: readonly Figure[]): Piece =>
  html`<dl class="cards">${figures.map(
    ([name, value, more = '']) => html`<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>`,
  )}</dl>`

/** A button that does one thing. */
export const action = (
  session: Session,
  path: string,
  label: string,
  tone = '',
  fields: Piece | string = '',
): Piece =>
  html`<form method="post" action="${path}">${csrfField(session)}${fields}<button class="${tone}">${label}</button></form>`

export const clientLink = (id: string): Piece => html`<a href="/ops/view/clients/${id}">${id}</a>`

export const signalLink = (seq: number): Piece => html`<a href="/ops/view/signals/${seq}">${seq}</a>`

/** How a webhook stands, in a word or two. */
export function webhookWord(state: WebhookState | undefined): Piece {
  if (state === undefined) return html`<span class="dim">none</span>`
  if (!state.enabled) return html`<span class="bad">disabled</span>`
  if (state.condition.breaker.kind === 'open') return html`<span class="bad">breaker open</span>`
  if (state.condition.health.failingSinceMs !== null) return html`<span class="warn">failing</span>`
  return html`<span class="good">healthy</span>`
}

export const latencyOf = (firedAtMs: number, state: DeliveryState): string =>
  duration(latencyMs(firedAtMs, state))
