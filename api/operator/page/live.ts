import { html } from 'hono/html'
import type { LiveStatus } from '#signals/live/control.ts'
import { EVERY_ALIAS } from '#signals/live/live-record.ts'
import type { Piece } from './layout.ts'
import { liveTable } from './overview.ts'
import { action } from './pieces.ts'
import type { Session } from './session.ts'

/** Halt and resume. To go live is a command and no button: nobody should do it by a slip of the mouse. */
export function livePage(session: Session, live: readonly LiveStatus[], halted: readonly string[]): Piece {
  const isHalted = halted.includes(EVERY_ALIAS)
  return html`<h1>Live</h1>
<div class="panel">${
    isHalted
      ? html`<span class="bad">Every strategy is halted.</span> A flat still goes out.`
      : html`<span class="good">Entries flow</span>${halted.length === 0 ? '.' : html`, except those of ${halted.join(', ')}.`}`
  }
<div class="actions">${isHalted ? button(session, 'resume', EVERY_ALIAS, 'Resume all', '') : button(session, 'halt', EVERY_ALIAS, 'Halt all', 'stop')}</div></div>
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
