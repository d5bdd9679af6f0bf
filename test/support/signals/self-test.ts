// The self-test of receivers as a command, and receivers that have each of the flaws that it finds.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { run } from '../../cli/made-up.ts'
import { type Received, startReceiver } from './receiver.ts'
import { NOW_MS } from './signals.ts'

/** `ops self-test ...args`. */
export const selfTest = (args: readonly string[], env: Record<string, string> = {}) =>
  run(['ops', 'self-test', ...args], { env, now: () => NOW_MS })

export type Flaw =
  | 'takes everything'
  | 'takes what has no signature'
  | 'compares the beginning only'
  | 'signs what it has parsed'
  | 'knows the new secret only'
  | 'refuses what it has seen'
  | 'refuses what comes late'
  | 'refuses unknown fields'
  | 'refuses tests that would be entries'
  | 'takes small headers only'
  | 'breaks instead of refusing'
  | 'redirects'

const sent = z.looseObject({
  signal_id: z.string(),
  seq: z.int(),
  action: z.string(),
  is_test: z.literal(true),
})

/** More than the ordinary headers of a delivery have. */
const SMALL_HEADERS = 2_000

/** Starts it and gives its address; it is gone after the test. */
export async function startFlawedReceiver(secrets: readonly string[], flaw: Flaw | null): Promise<string> {
  const answer = createAnswer(secrets, flaw)
  const { urlOf } = await startReceiver((request, response) => {
    response.writeHead(answer(request)).end('said')
  })
  return urlOf('hook')
}

function createAnswer(secrets: readonly string[], flaw: Flaw | null) {
  const seen = new Set<string>()
  let lastSeq = 0
  return ({ body, headers }: Received): number => {
    if (flaw === 'redirects') return 302
    if (flaw === 'takes small headers only' && JSON.stringify(headers).length > SMALL_HEADERS) return 431
    if (!isSigned(body, headers, secrets, flaw)) return flaw === 'breaks instead of refusing' ? 500 : 401
    const { signal_id, seq, action, a_field_of_the_future } = sent.parse(JSON.parse(body))
    if (flaw === 'refuses unknown fields' && a_field_of_the_future !== undefined) return 422
    if (flaw === 'refuses what it has seen' && seen.has(signal_id)) return 409
    if (flaw === 'refuses what comes late' && seq === 2 && lastSeq === 3) return 400
    if (flaw === 'refuses tests that would be entries' && action !== 'flat') return 400
    seen.add(signal_id)
    lastSeq = seq
    return 204
  }
}

function isSigned(
  body: string,
  { 'x-signature': given = '' }: IncomingHttpHeaders,
  secrets: readonly string[],
  flaw: Flaw | null,
): boolean {
  if (flaw === 'takes everything') return true
  if (flaw === 'takes what has no signature' && given === '') return true
  const text = flaw === 'signs what it has parsed' ? JSON.stringify(JSON.parse(body)) : body
  const known = flaw === 'knows the new secret only' ? secrets.slice(0, 1) : secrets
  return known.some(secret => {
    const expected = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
    if (flaw === 'compares the beginning only') return given !== '' && expected.startsWith(String(given))
    return (
      given.length === expected.length && timingSafeEqual(Buffer.from(String(given)), Buffer.from(expected))
    )
  })
}
