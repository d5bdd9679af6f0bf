import { readFileSync } from 'node:fs'
import { html, raw } from 'hono/html'
import { type ApiError, STATUS_OF } from '#core/contract/errors.ts'
import type { DeliveryState } from '#signals/delivery/outbox.ts'
import type { Operator } from '#signals/operators/tokens.ts'
import type { WebhookState } from '#signals/views/overview.ts'
import { latencyMs } from '../views.ts'

/** Part of a page, with all values escaped. */
export type Piece = ReturnType<typeof html>

export type Session = {
  /** The token that every form of this session must carry; pages of other sites cannot know it. */
  readonly csrf: string
  readonly who: Operator
  /** Whether its token allows the form that is sent to an address. */
  readonly may: (path: string) => boolean
}

/** One script, which follows what happens, and one style sheet. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** How often a page without forms is loaded again where scripts are off, in seconds. */
const RELOAD_SECONDS = 30

const TABS_WITH_FORMS: readonly string[] = ['Clients', 'Deliveries']

const TABS = [
  ['/ops', 'Overview'],
  ['/ops/view/clients', 'Clients'],
  ['/ops/view/signals', 'Signals'],
  ['/ops/view/deliveries', 'Deliveries'],
  ['/ops/view/live', 'Live'],
  ['/ops/view/builds', 'Builds'],
  ['/ops/view/audit', 'Audit'],
] as const

export type Tab = (typeof TABS)[number][1]

/** Messages shown once after an action: a closed list, so that no link can put text here. */
export const NOTES = {
  activated: 'The account is active.',
  suspended: 'The account is suspended: pulls and deliveries stop.',
  added: 'The client is added. It needs a key to pull, or a webhook.',
  entitled: 'Its entitlements are changed, from the next signal on.',
  revoked: 'The key is revoked.',
  webhook_set: 'The webhook acknowledged a signed test and is set.',
  webhook_removed: 'The webhook is removed: the client pulls.',
  tested: 'A test signal was fired. Its delivery is below.',
  replayed: 'The signals are sent again.',
  nothing_replayed: 'No signal of that range is one to send again: nothing is sent.',
  enabled: 'The webhook is enabled.',
  disabled: 'The webhook is disabled.',
  halted: 'Halted: no long or short is sent, a flat still is.',
  resumed: 'Resumed.',
} as const

export type Note = keyof typeof NOTES

/** Text in which backticks mark code. */
export const sentence = (text: string): Piece =>
  html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`

const isNote = (text: string | undefined): text is Note => text !== undefined && Object.hasOwn(NOTES, text)

const BRAND = html`<a class="brand" href="/ops">Highwater <span>operator</span></a>`

/** A page for a session, which follows what happens. */
export function page(
  session: Session,
  tab: Tab,
  title: string,
  content: Piece,
  note?: string,
): Promise<Response> {
  const reload = TABS_WITH_FORMS.includes(tab)
    ? ''
    : html`<noscript>${reloadEvery(RELOAD_SECONDS)}</noscript>`
  const shown = html`${isNote(note) ? html`<p class="note" role="status">${NOTES[note]}</p>` : ''}${content}`
  return respond(title, framed(session, tab, shown), {
    head: html`<script src="/ops/updates.js" defer></script>${reload}`,
  })
}

const framed = (session: Session, tab: Tab, content: Piece): Piece => html`<header>${BRAND}
<nav>${TABS.map(([path, name]) => html`<a href="${path}"${name === tab ? raw(' aria-current="page"') : ''}>${name}</a>`)}</nav>
<form method="post" action="/ops/logout">${csrfField(session)}<span class="dim">${session.who.name}</span><button class="quiet">Log out</button></form></header>
<main>${content}</main>`

const reloadEvery = (seconds: number): Piece => html`<meta http-equiv="refresh" content="${seconds}">`

/** The content of a page, as its updates have it. */
export const mainOf = async (response: Response): Promise<string> =>
  /<main>(.*)<\/main>/s.exec(await response.text())?.[1] ?? ''

export const csrfField = ({ csrf }: Session): Piece => html`<input type="hidden" name="csrf" value="${csrf}">`

/** The page without a session. */
export const loginPage = (problem: string | null): Promise<Response> =>
  respond(
    'Log in',
    html`<main class="login"><h1>Highwater <span>operator</span></h1>
<form method="post" action="/ops/login">
<input name="username" value="operator" autocomplete="username" readonly hidden>
<label for="token">Operator token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
${problem === null ? '' : html`<p class="bad" role="alert">${problem}</p>`}
<button>Log in</button>
</form>
<p class="dim">The token that <code>highwater ops tokens add</code> printed for you, or the value of <code>OPERATOR_TOKEN</code>, which may be in <code>.data/operator-token</code>.</p></main>`,
    { status: problem === null ? 200 : 401 },
  )

/** The page for a refused request, with a link back. One that may be answered later is loaded again by itself. */
export const errorPage = (
  { code, message, headers }: ApiError,
  method: string,
  back: string,
): Promise<Response> =>
  respond(
    'Refused',
    html`<header>${BRAND}</header>
<main><h1 class="refusal">${code.replaceAll('_', ' ')}</h1><p class="bad">${sentence(message)}</p><p><a href="${back}">Back</a></p></main>`,
    {
      status: STATUS_OF[code],
      headers,
      head: method === 'GET' && code === 'unavailable' ? reloadEvery(RELOAD_SECONDS / 2) : html``,
    },
  )

type Reply = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly head?: Piece
}

async function respond(
  title: string,
  body: Piece,
  { status = 200, headers = {}, head = html`` }: Reply = {},
): Promise<Response> {
  const text = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Highwater</title>
<link rel="stylesheet" href="/ops/style.css">${head}
</head>
<body>${body}</body>
</html>`
  return new Response(String(text), { status, headers: { ...headers, ...PAGE_HEADERS } })
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
}

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

/** `1 client`, `2 clients`. */
export const counted = (count: number, name: string): string =>
  `${count} ${count === 1 ? name : name.replace(/(?<=[^aeiou])y$/, 'ie')}${count === 1 ? '' : 's'}`

/** The states of deliveries as people read them. */
export const STATUS_WORDS: { readonly [Status in DeliveryState['status']]: string } = {
  owed: 'waiting',
  delivered: 'delivered',
  exhausted: 'given up',
  withdrawn: 'withdrawn',
}

const TONE: { readonly [Status in DeliveryState['status']]: string } = {
  owed: 'warn',
  delivered: 'good',
  exhausted: 'bad',
  withdrawn: 'dim',
}

export const statusOf = ({ status }: DeliveryState): Piece =>
  html`<span class="${TONE[status]}">${STATUS_WORDS[status]}</span>`

/** A table, or a sentence without rows. A wide table scrolls and can be reached with the keyboard. */
export const table = (columns: readonly string[], rows: readonly Piece[], empty: string): Piece =>
  rows.length === 0
    ? html`<div class="scroll"><p class="empty">${sentence(empty)}</p></div>`
    : html`<div class="scroll" role="region" aria-label="${columns.map(columnName).join(', ')}" tabindex="0"><table><thead><tr>${columns.map(heading)}</tr></thead><tbody>${rows}</tbody></table></div>`

/** A `#` in front marks a column of numbers. */
const heading = (name: string): Piece =>
  name.startsWith('#') ? html`<th class="n">${columnName(name)}</th>` : html`<th>${name}</th>`

const columnName = (name: string): string => name.replace(/^#/, '')

export type Figure = readonly [name: string, value: Piece | string | number, more?: Piece | string]

export const cards = (figures: readonly Figure[]): Piece =>
  html`<dl class="cards">${figures.map(
    ([name, value, more = '']) => html`<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>`,
  )}</dl>`

/** What an action will do, for the operator who must confirm it; `back` is where it is not done. */
export type Warning = {
  readonly title: string
  readonly says: string
  readonly label: string
  readonly back?: string
}

/** Asks for the confirmation of a form, which it sends again with the same fields. */
export const confirmPage = (
  session: Session,
  { title, says, label, back = '/ops' }: Warning,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<Response> =>
  respond(
    title,
    html`<header>${BRAND}</header>
<main class="confirm"><h1>${title}</h1><p>${says}</p>
<div class="actions">${action(
      session,
      path,
      label,
      'stop',
      html`<input type="hidden" name="confirm" value="yes">${Object.entries(fields).map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
      )}`,
    )}<a class="quiet" href="${back}">Cancel</a></div></main>`,
  )

/** A page for a key or a secret, which no other page shows. It has no updates, which would replace it. */
export const secretPage = (
  session: Session,
  { title, says, secret, back }: { title: string; says: string; secret: string; back: string },
): Promise<Response> =>
  respond(
    title,
    framed(
      session,
      'Clients',
      html`<div class="confirm"><h1>${title}</h1><p>${says}</p>
<p class="panel"><code class="secret">${secret}</code></p>
<p class="warn">It is shown this once: copy it now.</p>
<div class="actions"><a class="quiet" href="${back}">Back to the client</a></div></div>`,
    ),
  )

/** A form of a session; nothing if its token does not allow it. */
export const form = (session: Session, path: string, content: Piece, look = ''): Piece =>
  session.may(path)
    ? html`<form method="post" action="${path}" class="${look}">${csrfField(session)}${content}</form>`
    : html``

export const action = (
  session: Session,
  path: string,
  label: string,
  tone = '',
  fields: Piece | string = '',
): Piece => form(session, path, html`${fields}<button class="${tone}">${label}</button>`)

export const clientLink = (id: string): Piece => html`<a href="/ops/view/clients/${id}">${id}</a>`

export const signalLink = (seq: number): Piece => html`<a href="/ops/view/signals/${seq}">${seq}</a>`

export function webhookWord(state: WebhookState | undefined): Piece {
  if (state === undefined) return html`<span class="dim">none</span>`
  if (!state.enabled) return html`<span class="bad">disabled</span>`
  if (state.condition.breaker.kind === 'open') return html`<span class="bad">paused after failures</span>`
  if (state.condition.health.failingSinceMs !== null) return html`<span class="warn">failing</span>`
  return html`<span class="good">healthy</span>`
}

export const latencyOf = (firedAtMs: number, state: DeliveryState): string =>
  duration(latencyMs(firedAtMs, state))

const OWN_STYLE = `
:root { color-scheme: light dark; --ink: #14213d; --dim: #5c677d; --rule: #dfe4ec; --line: #1d6fa5; --paper: #f6f8fb;
  --card: #fff; --good: #1b7f4b; --warn: #a15c00; --bad: #b3261e; --shade: #14213d59 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ebf5; --dim: #94a0b8; --rule: #2c364a; --line: #6cb6e8; --paper: #10151f; --card: #171e2b;
    --good: #5ac58d; --warn: #e0a24a; --bad: #f2877f; --shade: #0009 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .6rem 1.5rem;
  background: var(--card); border-bottom: 1px solid var(--rule) }
header form { margin-left: auto }
.brand { color: var(--ink); font-weight: 650 }
.brand span, h1 span, h2 span { color: var(--dim); font-weight: 400 }
h2 span { font-size: .87rem }
.refusal::first-letter { text-transform: uppercase }
nav { display: flex; gap: 1.1rem }
nav a { padding: .3rem 0; color: var(--dim); white-space: nowrap }
nav a[aria-current] { color: var(--ink); box-shadow: 0 2px var(--line) }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem }
h1 { margin: .25rem 0 1rem; font-size: 1.45rem; overflow-wrap: anywhere }
h2 { margin: 2rem 0 .6rem; font-size: 1.05rem }
a { color: var(--line); text-decoration: none }
a:hover { text-decoration: underline }
code { font-size: .92em; overflow-wrap: anywhere }
.cards + .scroll, .actions + .scroll { margin-top: .75rem }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: .75rem; margin: 0 }
.cards div, .panel { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: .75rem 1rem }
.cards dt { color: var(--dim); font-size: .82rem }
.cards dd { margin: .1rem 0 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.cards dd .small { display: block; font-size: 1rem; line-height: 1.35; padding: .25rem 0 .15rem }
.cards dd small { display: block; color: var(--dim); font-size: .8rem }
.scroll { overflow-x: auto; background: linear-gradient(to right, var(--card) 2rem, transparent) left / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--card) 2rem, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / 1rem 100% no-repeat,
  linear-gradient(to left, var(--shade), transparent) right / 1rem 100% no-repeat, var(--card); border: 1px solid var(--rule); border-radius: 8px }
table { width: 100%; border-collapse: collapse }
th, td { padding: .5rem .9rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--rule) }
tr:last-child td { border-bottom: 0 }
th { color: var(--dim); font-size: .8rem; font-weight: 600 }
td.wide { white-space: normal; min-width: 18rem; overflow-wrap: anywhere }
th.n:first-child { width: 5.5rem }
.n { text-align: right; font-variant-numeric: tabular-nums }
.good { color: var(--good) } .warn { color: var(--warn) } .bad { color: var(--bad) } .dim { color: var(--dim) }
.note { padding: .6rem 1rem; border-left: 3px solid var(--good); background: var(--card) }
.empty { margin: 0; padding: .9rem 1rem; color: var(--dim) }
.actions, .actions form { display: flex; flex-wrap: wrap; gap: .6rem }
.actions { margin: .75rem 0 0 }
form { margin: 0; display: flex; gap: .4rem; align-items: center }
button { padding: .35rem .85rem; border: 1px solid var(--line); border-radius: 6px; background: var(--line); color: var(--card);
  font: inherit; cursor: pointer }
button.quiet { background: transparent; color: var(--line); border-color: var(--rule) }
button.stop { background: transparent; color: var(--bad); border-color: var(--bad) }
button:focus-visible, a:focus-visible, .scroll:focus-visible, input:focus-visible, select:focus-visible { outline: 2px solid var(--line); outline-offset: 2px }
input { padding: .35rem .6rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--paper); color: var(--ink);
  font: inherit; max-width: 100% }
input[type=number] { width: 8.5rem }
.login { max-width: 24rem; padding-top: 12vh }
.login form { display: grid; gap: .6rem; align-items: stretch }
.login p { margin: .4rem 0 }
.login form + p { margin-top: 1rem }
.filter { flex-wrap: wrap; gap: .6rem 1rem; margin: 0 0 1rem }
.filter label { display: flex; gap: .4rem; align-items: center; color: var(--dim); font-size: .87rem }
select { padding: .35rem .5rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--paper); color: var(--ink); font: inherit }
.fields { flex-wrap: wrap; gap: .6rem 1rem; margin: .75rem 0 0 }
.fields label, .filter label { max-width: 100% }
.fields input { min-width: 0; flex-shrink: 1 }
.fields label { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; color: var(--dim); font-size: .87rem }
.secret { font-size: 1rem; user-select: all }
summary { cursor: pointer; color: var(--line); margin-top: .75rem }
td form { display: inline-flex }
.confirm { max-width: 40rem }
.confirm .actions { align-items: center; gap: 1.2rem }
@media (max-width: 40rem) {
  header { padding: .6rem 1rem }
  nav { order: 3; width: 100%; flex-wrap: wrap; gap: 0 1rem; padding-bottom: 2px }
  td time { display: inline-block; min-width: 10ch; white-space: normal }
  td.wide { min-width: 12rem }
  main { padding: 1rem }
  .cards { grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)) }
  th, td { padding: .5rem .55rem }
  th.n:first-child { width: auto }
}
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: .75rem }
figure { margin: 0 }
figcaption { color: var(--dim); font-size: .82rem }
.panel + p.panel, p.panel + .cards { margin-top: .6rem }
`

/** Charts look as on the fact sheets. */
export const STYLE = readFileSync(new URL(import.meta.resolve('#pages/charts.css')), 'utf8') + OWN_STYLE
