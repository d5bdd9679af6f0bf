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
//   check  every 12 minutes: your signals are sealed in public        what was sent to you cannot be changed unnoticed
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'
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
/** `SEALS=off` checks no seals. They are checked with and without signals: the rhythm of the requests says nothing of these. */
const SEALS_SECONDS = env.SEALS === 'off' ? 0 : Number(env.SEALS_SECONDS ?? 720)

/** Where you know the seals to be; else the service says it. */
const HISTORY_URL = (env.HISTORY_URL ?? '').replace(/\/+$/, '')

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
  | { readonly seq: number; readonly signal_id: string; readonly body: string }
  | { readonly seals: Seals }

const state = {
  epoch: '',
  from: 0,
  lastSeq: 0,
  done: new Set<string>(),
  seals: undefined as Seals | undefined,
  /** The exact text of signals that are not checked yet, by their numbers. */
  unchecked: new Map<number, string>(),
}
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
  else if ('seals' in line) {
    state.seals = line.seals
    for (const seq of state.unchecked.keys()) if (seq <= line.seals.checked_seq) state.unchecked.delete(seq)
  } else {
    state.done.add(line.signal_id)
    state.lastSeq = Math.max(state.lastSeq, line.seq)
    if (line.body !== undefined) state.unchecked.set(line.seq, line.body) // lines of earlier releases have none
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
async function receive(signal: Signal, prevSeq: number, body: string): Promise<void> {
  if (state.done.has(signal.signal_id)) return
  if (signal.is_test) {
    loggedTests.add(signal.signal_id)
    return console.log(`skipped #${signal.seq}, a test`)
  }
  firstPushed = Math.min(firstPushed, signal.seq)
  const isNext = state.epoch !== '' && prevSeq <= state.lastSeq && signal.seq > state.lastSeq // else the log may be another
  await (isNext ? finish(signal, body) : pull()) // a pull returns this one too, in order
}

/** Everything after the last finished signal, page by page. */
async function pull(): Promise<void> {
  const { epoch, seq } = (await get<{ epoch: string; seq: number }>('/v1/signals/head')).data
  if (epoch !== state.epoch) {
    remember({ epoch, from: state.epoch === '' ? Math.min(seq, firstPushed - 1) : state.from })
    console.log(`the log is ${epoch}: everything after #${state.from} is read`)
  }
  if (state.seals === undefined) remember({ seals: { checked_seq: state.lastSeq } })
  let path: string | undefined = `/v1/signals/history?since=${state.lastSeq}&limit=${PAGE}`
  while (path !== undefined && !isStopping) {
    const text = await getText(path)
    const { data, links }: Page<unknown[]> = JSON.parse(text)
    const rows = rowsOf(text)
    for (const [i, row] of data.entries()) await finish(toSignal(row), rows[i] ?? '')
    path = links.next
  }
}

type Page<Data> = { readonly data: Data; readonly links: { readonly next?: string; readonly seals?: string } }

/** The exact text of each row: serialised again it may differ. */
function rowsOf(page: string): string[] {
  const rows: string[] = []
  let [depth, begin] = [0, 0]
  for (const { 0: token, index } of page.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if ('[{'.includes(token) && ++depth === 3) begin = index
    if (']}'.includes(token) && --depth === 2) rows.push(page.slice(begin, index + 1))
    if (depth === 1 && token === ']') break
  }
  return rows
}

const get = async <Data>(path: string): Promise<Page<Data>> => JSON.parse(await getText(path)) // the documented shape

async function getText(path: string): Promise<string> {
  const response = await fetch(HIGHWATER_URL + path, {
    headers: { 'x-api-key': HIGHWATER_KEY },
    redirect: 'error', // the key is sent to no other server
    signal: AbortSignal.timeout(PULL_TIMEOUT_MS),
  })
  if (response.ok) return response.text()
  throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
}

/** Processes each signal once, in order; tests and dry runs are skipped. */
async function finish(signal: Signal, body: string): Promise<void> {
  const { schema_version, signal_id, seq, mode, is_test } = signal
  if (isStopping || seq <= state.lastSeq) return
  if (schema_version !== SCHEMA_VERSION)
    throw new Error(`#${seq} has schema version ${schema_version}: read what changed, raise SCHEMA_VERSION`)
  if (state.done.has(signal_id)) console.log(`skipped #${seq}, done before`)
  else if (mode === 'LIVE' && is_test === false) await trade(signal)
  else if (!loggedTests.delete(signal_id)) console.log(`skipped #${seq}, ${is_test ? 'a test' : mode}`)
  remember({ seq, signal_id, body })
}

// ---- seals -------------------------------------------------------------------------------------------------------------

/** What is known of the public chain of seals: the newest one that was seen, and what was wrong. */
type Seals = {
  readonly checked_seq: number
  readonly head?: Pick<Seal, 'n' | 'digest' | 'origin'> & { readonly key: string }
  /** The first signal without a receipt, and the newest seal when that was found. */
  readonly waiting?: { readonly seq: number; readonly n: number } | undefined
  readonly fault?: string
}

type Receipt = {
  readonly seq: number
  readonly n: number
  readonly r: string
  readonly s_n: string
  readonly batch: string
}

/** Something that must not be: it is printed at each check until its line is deleted from STATE_FILE. */
class Mismatch extends Error {}

function fail(sentence: string): never {
  throw new Mismatch(sentence)
}

const OTHER = 'another chain is shown to you than before'

/** The seals that may pass before a signal is in one of them. */
const MOST_SEALS = 6

let isChecking = false

/** Checks that what was sent is what is sealed, beside the work: no signal waits for it. */
async function checkSeals(): Promise<void> {
  const { seals, lastSeq } = state
  if (seals === undefined || isChecking) return
  isChecking = true
  try {
    remember({ seals: await checked(seals, new Map(state.unchecked), lastSeq) })
    console.log(
      `signals up to #${state.seals?.checked_seq} are sealed: ${state.seals?.head?.n} ${state.seals?.head?.digest}`,
    )
  } catch (error) {
    if (!(error instanceof Mismatch))
      return console.error(`seals are not checked, the next check tries again: ${error}`)
    console.error(`SEALS DO NOT MATCH: ${error.message}`)
    if (seals.fault === undefined) remember({ seals: { ...seals, fault: error.message } })
  } finally {
    isChecking = false
  }
}

async function checked(before: Seals, delivered: ReadonlyMap<number, string>, last: number): Promise<Seals> {
  if (before.fault !== undefined) fail(before.fault)
  const { head: known, checked_seq: since } = before
  const { receipts, read } = await readReceipts(since)
  const find = async (name: string) =>
    (await read(name)) ??
    (known ? fail(`${name} of the seals is missing: ${OTHER}`) : Promise.reject('nothing is sealed yet'))
  let head = parseSeal(await find('head'))
  if (known && head.n < known.n) head = parseSeal(await find(nameOf(known.n))) // a cache may have an old head
  // A later one is published in a moment, or its signal is not finished.
  const shown = receipts.filter(({ n, seq }) => n <= head.n && seq <= last)
  const first = Math.min(head.n, ...shown.map(({ n }) => n))
  const chain = await readChain(read, head, known ?? head, first)
  if (known && chain.get(known.n)?.digest !== known.digest)
    fail(`seal ${known.n} is not the one that you saw: ${OTHER}`)
  const key = known?.key ?? (await find(`keys/${head.origin.split('/')[1]}.pem`))
  const signature = Buffer.from(head.signature, 'base64').subarray(4)
  if (!verify(null, Buffer.from(head.text), createPublicKey(key), signature))
    fail(`seal ${head.n} is not signed by the key that you know: ${OTHER}`)
  for (const each of shown) checkReceipt(each, delivered.get(each.seq), chain.get(each.n)?.commitment)
  const checked_seq = shown.at(-1)?.seq ?? since
  const sealed = receipts.map(({ seq }) => seq)
  const seq = Math.min(...[...delivered.keys()].filter(each => each > since && !sealed.includes(each)))
  const n = before.waiting?.seq === seq ? before.waiting.n : head.n
  if (seq < checked_seq || head.n > n + MOST_SEALS)
    fail(
      `signal ${seq} was delivered to you, and no seal up to ${head.n} has it: it was left out, or is no longer one of yours`,
    )
  const { digest, origin } = head
  return {
    checked_seq,
    head: { n: head.n, digest, origin, key },
    waiting: seq === Infinity ? undefined : { seq, n },
  }
}

/** The receipts of your signals after a number, and what reads the public chain: no key is sent there. */
async function readReceipts(since: number) {
  const receipts: Receipt[] = []
  let path: string | undefined = `/v1/signals/seals?since=${since}`
  let base: string | undefined
  while (path !== undefined) {
    const { data, links }: Page<Receipt[]> = await get(path)
    receipts.push(...data)
    path = links.next
    base = HISTORY_URL === '' ? links.seals : `${HISTORY_URL}/v1/seals/`
  }
  const read = async (name: string): Promise<string | null> => {
    const response = await fetch(base + name, { signal: AbortSignal.timeout(PULL_TIMEOUT_MS) })
    if (response.ok) return response.text()
    if (response.status === 404) return null
    throw new Error(`${base}${name} answered ${response.status}`)
  }
  if (base !== undefined) return { receipts, read }
  throw new Error('the service does not say where its seals are')
}

const nameOf = (n: number): string => String(n).padStart(9, '0')

const SEAL =
  /^(highwater\/seal\/v1\n(\S+)\n(\d{9})\n(\d{4}-\d\d-\d\d\S{10}) (\S{20})\n(\S{44})\n(\S{44})\n\d{9} \S{44}\n)\n— \S+ (\S+)\n$/

function parseSeal(seal: string) {
  const [all, text = '', origin = '', n, begin = '', end = '', commitment, prev, signature = ''] =
    SEAL.exec(seal) ?? fail('a published seal has another form: it was altered')
  const digest = sha256(all).toString('base64')
  return { text, origin, n: Number(n), begin, end, commitment, prev, signature, digest }
}

type Seal = ReturnType<typeof parseSeal>
type ReadSeals = (name: string) => Promise<string | null>

/**
 * The seals from the head back to the known one; if an earlier one is needed, the first, back to it and over whole days, so that no
 * read says in which seal a signal is. Those of a day that is over are in one file.
 */
async function readChain(read: ReadSeals, head: Seal, known: Pick<Seal, 'n' | 'origin'>, first: number) {
  const shown = new Map<number, string>()
  const seals = new Map([[head.n, head]])
  const today = head.end.slice(0, 10)
  for (let at = head; ; ) {
    if (at.origin !== known.origin)
      fail(`seal ${at.n} is of ${at.origin}, not of ${known.origin}: another chain began; ask why`)
    const [n, day] = [at.n - 1, at.begin.slice(0, 10)]
    if (n === 0 || (n < Math.min(first, known.n) && (first >= known.n || day !== today))) return seals
    if (!shown.has(n)) {
      const text = (await read(day < today ? `days/${day}` : nameOf(n))) ?? ''
      for (const each of text.match(/^highwater[^—]+—.+\n/gm) ?? [])
        shown.set(Number(each.split('\n')[2]), each)
    }
    const before = parseSeal(shown.get(n) ?? fail(`seal ${n} is missing: withheld or removed`))
    if (at.prev !== before.digest || at.begin !== before.end)
      fail(`seal ${at.n} does not continue seal ${n}: one of the two was altered, or the chain was forked`)
    seals.set(n, before)
    at = before
  }
}

function checkReceipt(
  { seq, n, r, s_n, batch }: Receipt,
  body: string | undefined,
  commitment?: string,
): void {
  if (!/^after (0|[1-9]\d*)\n([0-9a-f]{64}\n)*$/.test(batch))
    fail(`the batch of signal ${seq} has another form: it was altered`)
  const [salt, sealSalt] = [Buffer.from(r, 'base64'), Buffer.from(s_n, 'base64')]
  const line = sha256(salt, body ?? '').toString('hex')
  if (body !== undefined && (salt.length !== 32 || !batch.split('\n').includes(line)))
    fail(`signal ${seq} as it was delivered is not in the batch of seal ${n}: it was altered`)
  if (sealSalt.length !== 32 || sha256(sealSalt, sha256(batch)).toString('base64') !== commitment)
    fail(`the batch of signal ${seq} is not what seal ${n} commits to: it was altered later`)
}

const sha256 = (...parts: (Uint8Array | string)[]): Buffer =>
  createHash('sha256')
    .update(Buffer.concat(parts.map(part => Buffer.from(part))))
    .digest()

// ---- server ------------------------------------------------------------------------------------------------------------

const app = new Hono()

app.post('/signals', bodyLimit({ maxSize: MOST_BODY_BYTES }), async c => {
  const body = new Uint8Array(await c.req.arrayBuffer()) // the raw bytes: serialising parsed JSON changes them
  if (!isSigned(body, c.req.raw.headers)) return c.text('no valid signature', 401)
  const signal = parse(body)
  if (signal === 'notice') return c.text('ok')
  if (signal === null) return c.text('not a signal', 400)
  const prevSeq = Number(c.req.header('x-prev-seq') || Number.POSITIVE_INFINITY)
  doLater(() => receive(signal, prevSeq, new TextDecoder().decode(body)))
  return c.text('ok') // at once: if the answer is late, the signal is sent again
})

function parse(body: Uint8Array): Signal | 'notice' | null {
  try {
    const sent = JSON.parse(new TextDecoder().decode(body))
    if (typeof sent.event !== 'string' || 'seq' in sent) return toSignal(sent)
    console.log(`notice ${sent.event}, ${sent.endpoint ?? sent.key_id}: ${sent.reason}`) // of your account: no signal
    return 'notice'
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
if (SEALS_SECONDS > 0) doLater(async () => void checkSeals())
const timer = setInterval(() => doLater(pull), PULL_SECONDS * 1000)
const checking = SEALS_SECONDS === 0 ? undefined : setInterval(() => void checkSeals(), SEALS_SECONDS * 1000)

/** Accepts nothing new, finishes the current trade and exits; the rest is pulled at the next start. */
function stop(): void {
  isStopping = true
  clearInterval(timer)
  clearInterval(checking)
  server.close(() => work.then(() => process.exit(0)))
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
