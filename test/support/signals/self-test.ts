// The self-test of receivers as a command, and receivers that have each of the flaws that it finds.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { Command } from 'commander'
import { z } from 'zod'
import { addSelfTest } from '#cli/commands/ops/self-test.ts'
import { madeUp } from '../../cli/made-up.ts'
import { listenForTest } from '../http/listen-for-test.ts'
import { NOW_MS } from './signals.ts'

/** `ops self-test ...args`: what it printed, and the error that it ended with. */
export async function selfTest(args: readonly string[], env: Record<string, string> = {}) {
  const { runtime, out, err } = madeUp({ env, now: () => NOW_MS })
  const program = new Command('highwater').exitOverride()
  addSelfTest(program.command('ops'), runtime)
  const error = await program.parseAsync(['ops', 'self-test', ...args], { from: 'user' }).then(
    () => null,
    (thrown: unknown) => String(thrown),
  )
  return { out: out(), err: err(), error }
}

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
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      response.writeHead(answer(Buffer.concat(chunks), request.headers, request.rawHeaders.join('').length))
      response.end('said')
    })
  })
  return `${await listenForTest(server)}/hook`
}

function createAnswer(secrets: readonly string[], flaw: Flaw | null) {
  const seen = new Set<string>()
  let lastSeq = 0
  return (body: Buffer, headers: IncomingHttpHeaders, headerLength: number): number => {
    if (flaw === 'redirects') return 302
    if (flaw === 'takes small headers only' && headerLength > SMALL_HEADERS) return 431
    if (!isSigned(body, headers, secrets, flaw)) return flaw === 'breaks instead of refusing' ? 500 : 401
    const { signal_id, seq, action, a_field_of_the_future } = sent.parse(JSON.parse(body.toString()))
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
  body: Buffer,
  { 'x-signature': given = '' }: IncomingHttpHeaders,
  secrets: readonly string[],
  flaw: Flaw | null,
): boolean {
  if (flaw === 'takes everything') return true
  if (flaw === 'takes what has no signature' && given === '') return true
  const text = flaw === 'signs what it has parsed' ? JSON.stringify(JSON.parse(body.toString())) : body
  const known = flaw === 'knows the new secret only' ? secrets.slice(0, 1) : secrets
  return known.some(secret => {
    const expected = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
    if (flaw === 'compares the beginning only') return given !== '' && expected.startsWith(String(given))
    return (
      given.length === expected.length && timingSafeEqual(Buffer.from(String(given)), Buffer.from(expected))
    )
  })
}
