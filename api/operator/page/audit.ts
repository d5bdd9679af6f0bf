// What operators did, as the operator's page shows it.
import { html } from 'hono/html'
import type { LoggedAction } from '#signals/operators/audit-log.ts'
import { actionWords } from '../action-words.ts'
import { moment, type Piece, table } from './layout.ts'

export const auditPage = (rows: readonly LoggedAction[], older: Piece | string): Piece => html`<h1>Audit</h1>
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
)}${older}`
