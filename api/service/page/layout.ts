// How the pages of services look: frame, login, confirmation, refusal, and the parts of which their contents are made.
import { html, raw } from 'hono/html'
import type { endpointState } from '#core/contract/endpoint.ts'
import { type ApiError, STATUS_OF } from '#core/contract/errors.ts'
import type { ValueOf } from '#core/contract/payloads/field.ts'
import { nounFor } from '#pages/format.ts'
import { prose } from '#pages/guides/guide.ts'
import type { DeliveryState } from '#signals/outbox/outbox.ts'
import { setterOf } from '#signals/outbox/setter.ts'
import type { Secret, Warning } from './page-route.ts'

/** Part of a page, with all values escaped. */
export type Piece = ReturnType<typeof html>

export type Texts = Readonly<Record<string, string>>

/** What differs between the pages of two services. */
export type Site = {
  /** The path of its first page, below which all others are: `/ops`. */
  readonly home: string
  /** What the paths of its other pages begin with. */
  readonly below: string
  /** The word behind the name of the product. */
  readonly brand: string
  /** Each tab by its name, with its path. */
  readonly tabs: readonly (readonly [path: string, name: string])[]
  /** The tabs without forms: they are loaded again where scripts are off. */
  readonly reloads: readonly string[]
  readonly login: Login
  /** How a sentence of the service is said on its page, where that names what else a person uses. */
  says?(sentence: string): string
}

type Login = {
  /** The label of the field for the token. */
  readonly label: string
  /** The user name that password managers store with the token. */
  readonly username: string
  readonly help: Piece
  /** Why a session has ended. */
  readonly ended: string
  /** Whether links log in, too: a script sends the token of one. */
  readonly hasLinks?: true
}

/** Somebody who has logged in. */
export type Session<Who = unknown> = {
  readonly site: Site
  /** The token that every form of this session must carry; pages of other sites cannot know it. */
  readonly csrf: string
  /** What stands beside the button to log out. */
  readonly name: string
  readonly who: Who
}

/** One script, which follows what happens, and one style sheet. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** How often a page without forms is loaded again where scripts are off, in seconds. */
const RELOAD_SECONDS = 30

const brandOf = ({ home, brand }: Site): Piece =>
  html`<a class="brand" href="${home}">Highwater <span>${brand}</span></a>`

export function page(session: Session, tab: string, title: string, content: Piece): Promise<Response> {
  const { site } = session
  const reload = site.reloads.includes(tab) ? html`<noscript>${reloadEvery(RELOAD_SECONDS)}</noscript>` : ''
  return respond(site, title, framed(session, tab, content), {
    head: html`<script src="${site.home}/updates.js" defer></script>${reload}`,
  })
}

const framed = (
  session: Session,
  tab: string | null,
  content: Piece,
): Piece => html`<header>${brandOf(session.site)}
<nav>${session.site.tabs.map(([path, name]) => html`<a href="${path}"${name === tab ? raw(' aria-current="page"') : ''}>${name}</a>`)}</nav>
${formTo(session, `${session.site.home}/logout`, html`<span class="dim">${session.name}</span><button class="quiet">Log out</button>`)}</header>
<main>${content}</main>`

const reloadEvery = (seconds: number): Piece => html`<meta http-equiv="refresh" content="${seconds}">`

export const formTo = ({ csrf }: Session, path: string, content: Piece, look = ''): Piece =>
  html`<form method="post" action="${path}" class="${look}">${hidden({ csrf })}${content}</form>`

export const loginPage = (site: Site, problem: string | null, hasEnded = false): Promise<Response> =>
  respond(
    site,
    'Log in',
    html`<main class="login"><h1>Highwater <span>${site.brand}</span></h1>
<form method="post" action="${site.home}/login">
<input name="username" value="${site.login.username}" autocomplete="username" readonly hidden>
<label for="token">${site.login.label}</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
${problem === null ? '' : html`<p class="bad" role="alert">${problem}</p>`}${hasEnded ? html`<p role="status">Your session ended: ${site.login.ended}.</p>` : ''}
<button>Log in</button>
</form>
<p class="dim">${site.login.help}</p></main>`,
    {
      status: problem === null ? 200 : 401,
      ...(site.login.hasLinks && { head: html`<script src="${site.home}/login.js" defer></script>` }),
    },
  )

/** What a refusal says on the page, and the form that was refused with what was typed. */
export type RefusedForm = { readonly says?: string; readonly title?: string; readonly again?: Piece }

/** The page for a refused request, with a link back. One that may be answered later is loaded again. */
export const errorPage = (
  site: Site,
  { code, message, headers }: ApiError,
  method: string,
  back: string,
  { says = message, title = code.replaceAll('_', ' '), again }: RefusedForm = {},
): Promise<Response> =>
  respond(
    site,
    'Refused',
    html`<header>${brandOf(site)}</header>
<main><h1 class="refusal">${title}</h1><p class="bad" role="alert">${sentence(site, says)}</p>${again ?? ''}<p><a href="${back}">Back</a></p></main>`,
    {
      status: STATUS_OF[code],
      headers,
      head: method === 'GET' && code === 'unavailable' ? reloadEvery(RELOAD_SECONDS / 2) : html``,
    },
  )

const INSTANT = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/

/** A sentence of the service on its page, with times as tables have them. */
export const sentence = ({ says = text => text }: Pick<Site, 'says'>, text: string): Piece =>
  html`${says(text)
    .split(INSTANT)
    .map((part, i) => (i % 2 === 0 ? prose(part) : html`${moment(part)} UTC`))}`

async function respond(
  { home }: Site,
  title: string,
  body: Piece,
  { status = 200, headers = {}, head = html`` }: { status?: number; headers?: Texts; head?: Piece } = {},
): Promise<Response> {
  const text = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Highwater</title>
<link rel="icon" href="${home}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${home}/style.css">${head}
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

/** `2026-11-21 00:15:02`, or a dash; `2026-11-21 00:15:02.417` where a second is long. */
export function moment(at: number | string | null, isPrecise = false): Piece {
  if (at === null) return toned('dim', '–')
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, isPrecise ? 23 : 19)}</time>`
}

/** `312 ms`, `4.2 s`, `3.1 h`, or a dash. */
export function duration(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`
  return ms < 7_200_000 ? `${(ms / 60_000).toFixed(1)} min` : `${(ms / 3_600_000).toFixed(1)} h`
}

/** `1 client`, `2 clients`. */
export const counted = (count: number, name: string): string => `${count} ${nounFor(count, name)}`

export const toned = (tone: string, words: Piece | string | number): Piece =>
  html`<span class="${tone}">${words}</span>`

const STATES: { readonly [Status in DeliveryState['status']]: readonly [tone: string, word: string] } = {
  owed: ['warn', 'waiting'],
  delivered: ['good', 'delivered'],
  exhausted: ['bad', 'given up'],
  withdrawn: ['dim', 'withdrawn'],
  expired: ['dim', 'expired'],
}

export const statusOf = ({ status }: Pick<DeliveryState, 'status'>): Piece => toned(...STATES[status])

export type Cell = Piece | string | number

/**
 * A table, or a sentence without rows. A wide table scrolls and can be reached with the keyboard; on a phone each row is a
 * list of its cells with their names. A `#` in front of a column marks numbers, a `~` long texts.
 */
export const table = (
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty: string,
  look = 'scroll',
) =>
  rows.length === 0
    ? html`<div class="scroll"><p class="empty">${prose(empty)}</p></div>`
    : html`<div class="${look}" role="region" aria-label="${columns.map(columnName).join(', ')}" tabindex="0"><table><thead><tr>${columns.map(name => (name === '' ? html`<td></td>` : html`<th${classOf(name)}>${columnName(name)}</th>`))}</tr></thead><tbody>${rows.map(row => rowOf(columns, row))}</tbody></table></div>`

const rowOf = (columns: readonly string[], row: readonly Cell[]): Piece =>
  html`<tr>${row.map((cell, i) => html`<td${classOf(columns[i]!)} data-name="${columnName(columns[i]!)}">${cell}</td>`)}</tr>
`

const classOf = (name: string) =>
  raw(name.startsWith('#') ? ' class="n"' : name.startsWith('~') ? ' class="wide"' : '')

const columnName = (name: string): string => name.replace(/^[#~]/, '')

export const section = (title: string, forms: Piece | string): Piece | string =>
  forms === '' ? '' : html`<h2>${title}</h2><div class="panel">${forms}</div>`

export type Figure = readonly [name: string, value: Piece | string | number, more?: Piece | string]

export const cards = (figures: readonly Figure[]): Piece =>
  html`<dl class="cards">${figures.map(
    ([name, value, more = '']) => html`<div><dt>${name}</dt><dd>${value}<small>${more}</small></dd></div>`,
  )}</dl>`

/** Asks for the confirmation of a form, which it sends again with the same fields and `inputs`; `back` is where it is not done. */
export const confirmPage = (
  session: Session,
  [title, says, button]: Required<Warning>,
  path: string,
  fields: Texts,
  back: string,
  inputs: readonly Piece[],
): Promise<Response> =>
  respond(
    session.site,
    title,
    html`<header>${brandOf(session.site)}</header>
<main class="confirm"><h1>${title}</h1><p>${says}</p>
<div class="actions">${formTo(session, path, html`${hidden({ confirm: 'yes', ...fields })}${[...inputs]}<button class="stop">${button}</button>`, inputs.length > 0 ? 'fields' : '')}<a class="quiet" href="${back}">Cancel</a></div></main>`,
  )

export const hidden = (fields: Texts): Piece =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`

/** A page for a key or a secret, which no other page shows. It has no updates, which would replace it. */
export const secretPage = (session: Session, { title, says }: Secret, secret: string, back: string) =>
  respond(
    session.site,
    title,
    framed(
      session,
      null,
      html`<div class="confirm"><h1>${title}</h1><p>${says}</p>
<p class="panel"><code class="secret">${secret}</code></p>
<p class="warn">It is shown this once: copy it now.</p>
<div class="actions"><a class="quiet" href="${back}">Back</a></div></div>`,
    ),
  )

type ShownHealth = Pick<ValueOf<typeof endpointState>, 'enabled' | 'failing_since' | 'paused'> & {
  readonly breaker?: string
}

type ShownState = ShownHealth &
  Pick<ValueOf<typeof endpointState>, 'owed' | 'last_success_at' | 'set_at' | 'set_by' | 'settings_by'>

/** How an endpoint is, in a line; `more` follows the word for it. */
export function stateLine(state: ShownState, more = ''): Piece {
  const { owed, last_success_at, failing_since, set_at, set_by, settings_by } = state
  return html`${webhookWord(state)}${more}, waiting: ${counted(owed, 'delivery')}, last success ${moment(last_success_at)}${
    failing_since === null ? '' : html`, failing since ${moment(failing_since)}`
  }${set_at === null ? '' : html`, set ${moment(set_at)} by ${setterWords(set_by)}`}${settings_by === null ? '' : html`, settings by ${setterWords(settings_by)}`}`
}

/** Who set an endpoint, by the name that is stored. */
function setterWords(name: string | null): Piece {
  const { kind, id } = setterOf(name ?? '')
  if (kind === 'key') return html`key <code>${id}</code>`
  return html`${kind === 'link' ? `a link made by ${id}` : 'the operator'}`
}

export function webhookWord(state: ShownHealth | null): Piece {
  if (state === null) return toned('dim', 'none')
  if (!state.enabled) return toned('bad', 'disabled')
  if (state.paused) return toned('warn', 'paused')
  if (state.breaker === 'open') return toned('bad', 'paused after failures')
  return state.failing_since === null ? toned('good', 'healthy') : toned('warn', 'failing')
}
