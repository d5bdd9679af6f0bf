// A receiver of trade signals. Copy this folder, put your own code into trade(), and start it with Node 24:
//
//   npm install
//   export HIGHWATER_URL=https://signals.example.org HIGHWATER_KEY=hw_live_... WEBHOOK_SECRET=whsec_...
//   node receiver.ts
//
// Every signal since the first start reaches trade() in the order of `seq`, even if deliveries are lost, repeated or late:
//
//   push   POST /signals: verify, answer 200, then work               within a second after a strategy fires
//   pull   at the start, every minute, and when a push shows a gap    everything that no push delivered
//   state  STATE_FILE, a line per finished signal                     no signal is processed twice after a restart
import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'

type Signal = {
  readonly schema_version: string
  readonly signal_id: string
  readonly seq: number
  readonly alias: string
  readonly mode: string
  readonly is_test: boolean
  readonly action: string
  readonly signal_price: number
  readonly stop: number
  readonly base_risk_pct: number
  readonly timestamp: string
  readonly implied_leverage: number
  readonly by?: string
  readonly why?: string
}

/**
 * YOUR CODE GOES HERE. It gets every signal that may be traded, one at a time.
 *
 * If it throws, the signal stays open and is passed again, and later signals wait. If the machine fails after the order and
 * before the line in STATE_FILE, the signal is passed again too: use `signal_id` as the id of the order at your venue, so
 * that the venue refuses the second one. After an outage signals are late: check `timestamp` before entering at an old price.
 */
async function trade({ seq, alias, action, signal_price, stop, implied_leverage }: Signal): Promise<void> {
  console.log(
    `TRADE #${seq} ${alias} ${action} at ${signal_price}, stop ${stop}, ${implied_leverage} x capital`,
  )
}

// ---- settings ----------------------------------------------------------------------------------------------------------

const { env } = process
const HIGHWATER_URL = required('HIGHWATER_URL').replace(/\/+$/, '')
const HIGHWATER_KEY = required('HIGHWATER_KEY')
/** Two while the secret is rotated: the new one, and the old one until its 24 hours have passed. */
const SECRETS = [required('WEBHOOK_SECRET'), env.WEBHOOK_SECRET_OLD ?? ''].filter(secret => secret !== '')
const STATE_FILE = env.STATE_FILE ?? 'receiver.state'
const PULL_SECONDS = Number(env.PULL_SECONDS ?? 60)

/** The version that this file was written for. Fields of another one may mean something else: read its changes first. */
const SCHEMA_VERSION = '1.0'
/** A signal has about 400 bytes; larger requests are refused. */
const MOST_BODY_BYTES = 64 * 1024
/** Signals per page of a pull. */
const PAGE = 500
/** A pull that hangs is aborted; the next pull repeats it. */
const PULL_TIMEOUT_MS = 10_000
/** Maximum age of a delivery in the Standard Webhooks format, against replayed requests. */
const TOLERANCE_SECONDS = 300

function required(name: string): string {
  const value = env[name] ?? ''
  if (value !== '') return value
  console.error(`${name} is not set: export it, as the first lines of this file show`)
  process.exit(2)
}

// ---- signatures --------------------------------------------------------------------------------------------------------

/** `SIGNATURE=standard-webhooks` selects the other format, which any library of standardwebhooks.com can verify. */
const isSigned = env.SIGNATURE === 'standard-webhooks' ? hasStandardSignature : hasXSignature

/** `X-Signature: sha256=<hex>`. The key is the secret as it was shown; the message is the body, byte for byte. */
function hasXSignature(body: Uint8Array, headers: Headers): boolean {
  const given = headers.get('x-signature') ?? ''
  return SECRETS.some(secret =>
    isEqual(given, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`),
  )
}

/** `webhook-signature: v1,<base64> v1,<base64>`. The key is the decoded secret; the message begins with id and time. */
function hasStandardSignature(body: Uint8Array, headers: Headers): boolean {
  const timestamp = headers.get('webhook-timestamp') ?? ''
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS
  const prefix = `${headers.get('webhook-id')}.${timestamp}.`
  const given = (headers.get('webhook-signature') ?? '').split(' ')
  const expected = SECRETS.map(secret => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    return `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`
  })
  return isFresh && expected.some(one => given.some(other => isEqual(one, other)))
}

/** Compares in constant time, so that a signature cannot be guessed character by character. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

// ---- state -------------------------------------------------------------------------------------------------------------

/**
 * A line of STATE_FILE. The first one holds the start: signals fired before it are history and are not traded. A new
 * `epoch` means that the service was restored from a backup.
 */
type Line =
  | { readonly epoch: string; readonly from: number }
  | { readonly seq: number; readonly signal_id: string }

const state = { epoch: '', from: 0, lastSeq: 0, done: new Set<string>() }
if (existsSync(STATE_FILE)) {
  const text = readFileSync(STATE_FILE, 'utf8')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1) // a crash may have left half a line
  truncateSync(STATE_FILE, Buffer.byteLength(whole))
  for (const line of whole.split('\n')) if (line !== '') apply(JSON.parse(line))
}
const file = openSync(STATE_FILE, 'a', 0o600)

/** Writes to the disk first, then to memory. */
function remember(line: Line): void {
  writeSync(file, `${JSON.stringify(line)}\n`)
  fsyncSync(file)
  apply(line)
}

function apply(line: Line): void {
  if ('epoch' in line) Object.assign(state, { ...line, lastSeq: line.from })
  else {
    state.done.add(line.signal_id)
    state.lastSeq = Math.max(state.lastSeq, line.seq)
  }
}

// ---- work, one task at a time ------------------------------------------------------------------------------------------

let work = Promise.resolve()
let isStopping = false

/** A failure is logged, and nothing is lost: the next pull begins after the last finished signal. */
function doLater(task: () => Promise<void>): void {
  work = work
    .then(() => (isStopping ? undefined : task()))
    .catch(error => console.error(`not finished, the next pull tries again: ${error}`))
}

/** The first signal that was pushed before the first pull. */
let firstPushed = Number.POSITIVE_INFINITY

/** Tests that were pushed and logged; the pull that passes them does not log them again. */
const loggedTests = new Set<string>()

/** A push. `X-Prev-Seq` is the signal that was sent to you before this one: if you have not processed it, pull. */
async function receive(signal: Signal, prevSeq: number): Promise<void> {
  if (state.done.has(signal.signal_id)) return
  if (signal.is_test) {
    loggedTests.add(signal.signal_id)
    return console.log(`skipped #${signal.seq}, a test`)
  }
  firstPushed = Math.min(firstPushed, signal.seq)
  const isNext = state.epoch !== '' && prevSeq <= state.lastSeq && signal.seq > state.lastSeq // else the log may be another
  await (isNext ? finish(signal) : pull()) // a pull returns this one too, in order
}

/** Everything after the last finished signal, page by page. */
async function pull(): Promise<void> {
  const { epoch, seq } = (await get<{ epoch: string; seq: number }>('/v1/signals/head')).data
  if (epoch !== state.epoch) {
    remember({ epoch, from: state.epoch === '' ? Math.min(seq, firstPushed - 1) : state.from })
    console.log(`the log is ${epoch}: everything after #${state.from} is read`)
  }
  let path: string | undefined = `/v1/signals/history?since=${state.lastSeq}&limit=${PAGE}`
  while (path !== undefined && !isStopping) {
    const { data, links }: Page<unknown[]> = await get(path)
    for (const row of data) await finish(toSignal(row))
    path = links.next
  }
}

type Page<Data> = { readonly data: Data; readonly links: { readonly next?: string } }

async function get<Data>(path: string): Promise<Page<Data>> {
  const response = await fetch(HIGHWATER_URL + path, {
    headers: { 'x-api-key': HIGHWATER_KEY },
    redirect: 'error', // the key is sent to no other server
    signal: AbortSignal.timeout(PULL_TIMEOUT_MS),
  })
  if (response.ok) return (await response.json()) as Page<Data> // the documented shape
  throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
}

/** Processes each signal once, in order; tests and dry runs are skipped. */
async function finish(signal: Signal): Promise<void> {
  const { schema_version, signal_id, seq, mode, is_test } = signal
  if (isStopping || seq <= state.lastSeq) return
  if (schema_version !== SCHEMA_VERSION)
    throw new Error(`#${seq} has schema version ${schema_version}: read what changed, raise SCHEMA_VERSION`)
  if (state.done.has(signal_id)) console.log(`skipped #${seq}, done before`)
  else if (mode === 'LIVE' && is_test === false) await trade(signal)
  else if (!loggedTests.delete(signal_id)) console.log(`skipped #${seq}, ${is_test ? 'a test' : mode}`)
  remember({ seq, signal_id })
}

// ---- server ------------------------------------------------------------------------------------------------------------

const app = new Hono()

app.post('/signals', bodyLimit({ maxSize: MOST_BODY_BYTES }), async c => {
  const body = new Uint8Array(await c.req.arrayBuffer()) // the raw bytes: serialising parsed JSON changes them
  if (!isSigned(body, c.req.raw.headers)) return c.text('no valid signature', 401)
  const signal = parse(body)
  if (signal === null) return c.text('not a signal', 400)
  const prevSeq = Number(c.req.header('x-prev-seq') || Number.POSITIVE_INFINITY)
  doLater(() => receive(signal, prevSeq))
  return c.text('ok') // at once: if the answer is late, the signal is sent again
})

function parse(body: Uint8Array): Signal | null {
  try {
    return toSignal(JSON.parse(new TextDecoder().decode(body)))
  } catch {
    return null
  }
}

/** Unknown fields are allowed: later versions may add some. */
function toSignal(value: unknown): Signal {
  const signal = value as Signal | null // the fields that this file needs are checked in the next line
  if (typeof signal?.signal_id === 'string' && Number.isSafeInteger(signal.seq)) return signal
  throw new Error('this is not a signal')
}

const server = serve(
  { fetch: app.fetch, port: Number(env.PORT ?? 8090), hostname: env.HOST ?? '127.0.0.1' },
  info => console.log(`listening on http://${info.address}:${info.port}/signals`),
)
doLater(pull)
const timer = setInterval(() => doLater(pull), PULL_SECONDS * 1000)

/** Accepts nothing new, finishes the current trade and exits; the rest is pulled at the next start. */
function stop(): void {
  isStopping = true
  clearInterval(timer)
  server.close(() => work.then(() => process.exit(0)))
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
