import { html, raw } from 'hono/html'
import { type ApiError, STATUS_OF } from '#core/contract/errors.ts'
import type { Session } from './session.ts'

/** A piece of a page: everything that was put into it is escaped. */
export type Piece = ReturnType<typeof html>

/** No script at all, and one style sheet from one file. */
const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const TABS = [
  ['/ops', 'Overview'],
  ['/ops/view/clients', 'Clients'],
  ['/ops/view/signals', 'Signals'],
  ['/ops/view/exhausted', 'Exhausted'],
  ['/ops/view/live', 'Live'],
] as const

export type Tab = (typeof TABS)[number][1]

/** What was done a moment ago, told once on the page that follows: a closed list, so that no link can put words here. */
export const NOTES = {
  activated: 'The account is active.',
  suspended: 'The account is suspended: pulls and deliveries stop.',
  tested: 'A test signal was fired to this client.',
  replayed: 'The signals are owed again, and on their way.',
  enabled: 'The webhook is enabled.',
  disabled: 'The webhook is disabled.',
  halted: 'Halted: no entry goes out, a flat still does.',
  resumed: 'Resumed.',
} as const

export type Note = keyof typeof NOTES

/** A sentence of ours, in which what stands between backticks is typed. */
export const sentence = (text: string): Piece =>
  html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`

const isNote = (text: string | undefined): text is Note => text !== undefined && Object.hasOwn(NOTES, text)

const BRAND = html`<a class="brand" href="/ops">Highwater <span>operator</span></a>`

/** A page of who is logged in. */
export function page(
  session: Session,
  tab: Tab,
  title: string,
  content: Piece,
  note?: string,
): Promise<Response> {
  return respond(
    title,
    html`<header>${BRAND}
<nav>${TABS.map(([path, name]) => html`<a href="${path}"${name === tab ? raw(' aria-current="page"') : ''}>${name}</a>`)}</nav>
<form method="post" action="/ops/logout">${csrfField(session)}<button class="quiet">Log out</button></form></header>
<main>${isNote(note) ? html`<p class="note" role="status">${NOTES[note]}</p>` : ''}${content}</main>`,
  )
}

/** The field that every form carries. */
export const csrfField = ({ csrf }: Session): Piece => html`<input type="hidden" name="csrf" value="${csrf}">`

/** The page for who is not. */
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
<p class="dim">The token is the value of <code>OPERATOR_TOKEN</code>, or stands in <code>.data/operator-token</code>.</p></main>`,
    problem === null ? 200 : 401,
  )

/** What became of a request that was refused. */
export const errorPage = ({ code, message }: ApiError): Promise<Response> =>
  respond(
    'Refused',
    html`<header>${BRAND}</header>
<main><h1 class="refusal">${code.replaceAll('_', ' ')}</h1><p class="bad">${sentence(message)}</p><p><a href="/ops">Back to the overview</a></p></main>`,
    STATUS_OF[code],
  )

async function respond(title: string, body: Piece, status = 200): Promise<Response> {
  const text = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Highwater</title>
<link rel="stylesheet" href="/ops/style.css">
</head>
<body>${body}</body>
</html>`
  return new Response(String(text), { status, headers: PAGE_HEADERS })
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
}
