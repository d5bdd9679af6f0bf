// The page for the operator: rendered here, without a script. A cookie opens it and nothing else; the JSON interface beside
// it takes the token alone, so a browser cannot be made to use it.
import type { Hono } from 'hono'
import { ApiError } from '#core/contract/errors.ts'
import { type Exchange, type OperatorEnv, toRefusal } from '../exchange.ts'
import { isSame } from '../guard.ts'
import type { OperatorParts } from '../parts.ts'
import { readText } from '../read-body.ts'
import { FORMS } from './forms.ts'
import { errorPage, loginPage } from './layout.ts'
import { assertOwnForm, beginSession, endSession, readSession, type Session } from './session.ts'
import { STYLE } from './style.ts'
import { VIEWS } from './views.ts'

export function mountPage(app: Hono<OperatorEnv>, parts: OperatorParts): void {
  app.get('/ops/style.css', () => new Response(STYLE, { headers: STYLE_HEADERS }))
  app.get('/ops/login', () => loginPage(null))
  app.post('/ops/login', c => told(parts, () => logIn(c, parts)))
  app.post('/ops/logout', c =>
    told(parts, async () => {
      await readOwnForm(c, parts)
      return redirect('/ops/login', endSession())
    }),
  )
  for (const [path, view] of Object.entries(VIEWS)) {
    app.get(path, c =>
      told(parts, async () => {
        const session = readSession(c, parts)
        return session === null ? redirect('/ops/login') : view(c, parts, session)
      }),
    )
  }
  for (const [path, act] of Object.entries(FORMS)) {
    app.post(path, c =>
      told(parts, async () => {
        const { form } = await readOwnForm(c, parts)
        return redirect(await act(c, parts, form))
      }),
    )
  }
}

const STYLE_HEADERS = {
  'content-type': 'text/css; charset=utf-8',
  'cache-control': 'max-age=3600',
  'x-content-type-options': 'nosniff',
}

/** A page, or the page that tells why there is none. */
async function told(parts: OperatorParts, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    return errorPage(toRefusal(error, parts.onError))
  }
}

async function logIn(c: Exchange, parts: OperatorParts): Promise<Response> {
  const given = (await readForm(c)).get('token') ?? ''
  if (!isSame(given.trim(), parts.token)) return loginPage('That is not the operator token.')
  return redirect('/ops', beginSession(parts))
}

/** The form of a request, which somebody who is logged in has sent from a page of ours. */
async function readOwnForm(
  c: Exchange,
  parts: OperatorParts,
): Promise<{ readonly session: Session; readonly form: URLSearchParams }> {
  const session = readSession(c, parts)
  if (session === null) throw new ApiError('unauthorized', 'log in first: your session is over')
  const form = await readForm(c)
  assertOwnForm(c, session, form)
  return { session, form }
}

async function readForm(c: Exchange): Promise<URLSearchParams> {
  const media = (c.req.header('content-type') ?? '').split(';', 1)[0]
  if (media !== 'application/x-www-form-urlencoded')
    throw new ApiError('unsupported_media_type', 'expected a form: application/x-www-form-urlencoded')
  return new URLSearchParams(await readText(c))
}

/** After a form another page: loading it again does nothing again. */
const redirect = (location: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: {
      location,
      'cache-control': 'no-store',
      ...(cookie === undefined ? {} : { 'set-cookie': cookie }),
    },
  })
