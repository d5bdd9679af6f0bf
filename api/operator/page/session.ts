// Who is logged in to the page. Nothing is stored: the cookie carries its own end and a seal that only the holder of the
// operator token can make, so another token ends every session.
import { createHmac } from 'node:crypto'
import { ApiError } from '#core/contract/errors.ts'
import type { Exchange } from '../exchange.ts'
import { isSame } from '../guard.ts'
import type { OperatorParts } from '../parts.ts'

/** A working day: who leaves the machine over night logs in again. */
const SESSION_MS = 12 * 3_600_000

const NONCE_BYTES = 16

const COOKIE = 'highwater_ops'

export type Session = {
  /** What every form of this session must bring along: a page of another site cannot know it. */
  readonly csrf: string
}

type SessionParts = Pick<OperatorParts, 'token' | 'clock' | 'random'>

/** The header that begins a session. */
export function beginSession({ token, clock, random }: SessionParts): string {
  const payload = `${clock.now() + SESSION_MS}.${Buffer.from(random(NONCE_BYTES)).toString('hex')}`
  return cookie(`${payload}.${seal(token, 'session', payload)}`, SESSION_MS / 1000)
}

/** The header that ends one. */
export const endSession = (): string => cookie('', 0)

/** The session of a request, null where there is none or it is over. */
export function readSession(c: Exchange, { token, clock }: SessionParts): Session | null {
  const [, ends, nonce, found] = COOKIE_FORM.exec(c.req.header('cookie') ?? '') ?? []
  if (ends === undefined || nonce === undefined || found === undefined) return null
  const payload = `${ends}.${nonce}`
  if (!isSame(found, seal(token, 'session', payload)) || clock.now() >= Number(ends)) return null
  return { csrf: seal(token, 'csrf', payload) }
}

/** Throws `forbidden` unless a form was sent by a page of this session. */
export function assertOwnForm(c: Exchange, { csrf }: Session, form: URLSearchParams): void {
  const origin = c.req.header('origin')
  const isForeign = origin !== undefined && hostOf(origin) !== new URL(c.req.url).host
  if (!isForeign && isSame(form.get('csrf') ?? '', csrf)) return
  throw new ApiError(
    'forbidden',
    'this form is not of your session: load the page again, and send it from there',
  )
}

/** Without the scheme: a proxy may speak TLS for us. */
const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null)

const COOKIE_FORM = new RegExp(`(?:^|;\\s*)${COOKIE}=(\\d{1,16})\\.([0-9a-f]+)\\.([0-9a-f]+)(?:;|$)`)

/** The purpose keeps the seal of a cookie from being taken for the secret of its forms. */
const seal = (token: string, purpose: 'session' | 'csrf', payload: string): string =>
  createHmac('sha256', token).update(`${purpose}:${payload}`).digest('hex')

const cookie = (value: string, maxAge: number): string =>
  `${COOKIE}=${value}; Path=/ops; HttpOnly; SameSite=Strict; Max-Age=${maxAge}`
