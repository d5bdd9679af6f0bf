// What operators did, as the operator's page shows it.
import { html } from 'hono/html'
import type { LoggedAction } from '#signals/operators/audit-log.ts'
import { moment, type Piece, table } from './layout.ts'

export const auditPage = (rows: readonly LoggedAction[], older: Piece | string): Piece => html`<h1>Audit</h1>
<p class="dim">Every action of an operator, newest first. <code>highwater ops audit --json</code> has the whole state before and after.</p>
${table(
  ['#Entry', 'When (UTC)', 'Who', 'Action', 'About', 'Outcome', 'What changed'],
  rows.map(
    ({ seq, at, who, action, subject, outcome, before, after }) =>
      html`<tr><td class="n">${seq}</td><td>${moment(Date.parse(at))}</td><td>${who}</td><td>${action.replaceAll('_', ' ')}</td>
<td>${subject ?? '–'}</td><td>${outcome === 'done' ? html`<span class="good">done</span>` : html`<span class="bad">${outcome.replaceAll('_', ' ')}</span>`}</td>
<td class="wide">${changesOf(before, after)}</td></tr>`,
  ),
  'Nobody has done anything yet.',
)}${older}`

/** `status: pending -> active`, for each field that differs. */
function changesOf(before: unknown, after: unknown): string {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  const changed = names.filter(name => text(old[name]) !== text(now[name]))
  return changed.map(name => `${name}: ${text(old[name])} → ${text(now[name])}`).join('; ')
}

const fieldsOf = (state: unknown): Readonly<Record<string, unknown>> =>
  typeof state === 'object' && state !== null ? (state as Record<string, unknown>) : {}

const text = (value: unknown): string =>
  value === undefined ? 'none' : typeof value === 'string' ? value : words(value)

/** Lists with commas, and fields as `name value`: for people; the JSON has the exact state. */
function words(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(text).join(', ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object' || value === null) return value === null ? 'none' : String(value)
  return Object.entries(value)
    .map(([name, part]) => `${name} ${text(part)}`)
    .join(', ')
}
