// One HTTP request to deliver one signal, with limits on everything, and its outcome.

import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { type Dispatcher, Pool } from 'undici'
import { OUR_SECRETS } from '../clients/token.ts'
import { type LoggedSignal, signalIdOf } from '../log/read-log.ts'
import { type AddressRules, checkUrl } from './address-guard.ts'
import { type ConnectOptions, createGuardedConnect } from './guarded-connect.ts'
import { type OwnHeaders, secretsOfHeaders, withOwnHeaders } from './headers.ts'
import { BROKEN_OFF, isOurs, type Outcome, reasonOf } from './outcome.ts'
import * as policy from './policy.ts'
import { type Delivery, signedHeaders } from './sign.ts'

export type Post = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Removed from what is kept of the answer. */
  readonly secrets: readonly string[]
}

export type Sender = ReturnType<typeof createSender>

/** Parsing and checking a URL costs as much as signing. Some hundred bytes each. */
const MOST_KEPT_URLS = 20_000

/** Creates a sender with a pool of connections per origin. */
export function createSender(options: ConnectOptions) {
  const { now, startTimer, rules } = options
  const pools = createPools(options)
  const memoMethod = (url: string): Target => parseTarget(url, rules)
  const targets = new LRUCache<string, Target>({ max: MOST_KEPT_URLS, memoMethod })
  const running = new Set<Exchange>()
  let isClosed = false
  /** What came within the deadline. */
  const ask = async (target: Target, post: Post): Promise<Received> => {
    let exchange: Exchange
    const stopTimer = startTimer(policy.ATTEMPT_TIMEOUT_MS, () => exchange.breakOff(BROKEN_OFF.timeout))
    for (;;) {
      const connections = pools.of(target.origin)
      const { opened } = connections
      exchange = startExchange(connections.pool, requestOf(target, post), now)
      running.add(exchange)
      const received = await exchange.ended
      running.delete(exchange)
      if (connections.opened === opened && isLost(received)) continue // it was idle
      stopTimer()
      return received
    }
  }
  return {
    /** Makes one request, without redirects and retries. Rejects only for errors of the program. */
    async send(post: Post): Promise<Outcome> {
      if (isClosed) return { kind: 'ourFault', reason: 'shutting_down' }
      const startMs = now()
      try {
        const target = targets.memo(post.url)
        return outcomeOf(await ask(target, post), [...post.secrets, ...target.secrets], startMs, now())
      } catch (error) {
        return outcomeOf({ head: null, bytes: new Uint8Array(), isSent: false, error }, [], startMs, now())
      }
    },
    /** Aborts running requests as internal faults, and closes every connection. */
    async close(): Promise<void> {
      isClosed = true
      for (const exchange of running) exchange.breakOff(BROKEN_OFF.shuttingDown)
      await pools.destroy()
    },
  }
}

/**
 * The connections of each origin, as long as it has any. The Agent of undici looks through all its origins whenever a connection
 * ends: with thousands of endpoints that takes longer than the deliveries.
 */
function createPools(options: ConnectOptions) {
  const all = new Map<string, Connections>()
  const connect = createGuardedConnect(options)
  const open = (origin: string): Connections => {
    const counted: typeof connect = (...args) => {
      connections.opened++
      connect(...args)
    }
    const pool = new Pool(origin, { ...POOL_SETTINGS, connect: counted })
    const connections = { pool, opened: 0 }
    const closeUnused = (): void => {
      const { connected, size } = pool.stats
      if (connected + size > 0 || all.get(origin) !== connections) return
      all.delete(origin)
      void pool.close()
    }
    pool.on('disconnect', closeUnused).on('connectionError', closeUnused)
    all.set(origin, connections)
    return connections
  }
  return {
    of: (origin: string): Connections => all.get(origin) ?? open(origin),
    async destroy(): Promise<void> {
      const pools = [...all.values()].map(({ pool }) => pool)
      all.clear() // none of them is closed as unused when its connections end
      await Promise.all(pools.map(pool => pool.destroy()))
    },
  }
}

/** The connections to an origin, and how many were opened so far. */
type Connections = { readonly pool: Pool; opened: number }

const POOL_SETTINGS: Pool.Options = {
  allowH2: false, // one request at a time per client, and a smaller parser to trust
  connections: null, // clients may share a platform, and none should wait for another: the slots are the limit
  maxHeaderSize: policy.MOST_HEADER_BYTES,
  keepAliveTimeout: policy.IDLE_CONNECTION_MS,
  keepAliveMaxTimeout: policy.LONGEST_IDLE_CONNECTION_MS,
  headersTimeout: 0, // the deadline of the attempt covers both
  bodyTimeout: 0,
}

/** A checked URL; the address of its host is checked at each connection. */
type Target = { readonly origin: string; readonly path: string; readonly secrets: readonly string[] }

/** Throws RefusedAddressError. */
function parseTarget(text: string, rules: AddressRules): Target {
  const url = checkUrl(text, rules)
  return { origin: url.origin, path: url.pathname + url.search, secrets: secretPartsOf(url) }
}

/** Shorter parts of a URL are words. */
const SHORTEST_URL_SECRET = 12

/** Many platforms put a secret into the path or the query of a webhook's URL. */
const secretPartsOf = ({ pathname, searchParams }: URL): string[] =>
  [...pathname.split('/'), ...searchParams.values()].filter(part => part.length >= SHORTEST_URL_SECRET)

const requestOf = ({ path }: Target, { headers, body }: Post) => ({
  path,
  method: 'POST' as const,
  // Nothing is decompressed here.
  headers: { ...headers, 'accept-encoding': 'identity' },
  body,
})

function outcomeOf(received: Received, secrets: readonly string[], startMs: number, endMs: number): Outcome {
  const { head, error } = received
  const reason = error === null ? 'status' : reasonOf(error, received.isSent)
  if (isOurs(reason)) return { kind: 'ourFault', reason }
  if (head === null && error === null)
    throw new Error('an answer ended that had not begun: undici broke its contract')
  const answer = {
    status: head?.status ?? null,
    first_byte_ms: head && head.atMs - startMs,
    total_ms: endMs - startMs,
    excerpt: error === null ? excerptOf(received, secrets) : '',
    retryAfterMs: head && retryAfterOf(head),
  }
  const isSuccess = error === null && head !== null && head.status >= 200 && head.status <= 299
  return isSuccess ? { kind: 'delivered', ...answer } : { kind: 'failed', reason, ...answer }
}

/**
 * Whether the connection was lost before any answer. If it had been idle, the receiver closed it while the request was on
 * its way, and the request is made again, on a new one at last. If the receiver has it, it knows the signal by its id.
 */
const isLost = ({ head, error }: Received): boolean =>
  head === null && error !== null && reasonOf(error, true) === 'connection_lost'

/** Statuses for which `Retry-After` is honoured. */
const SAYS_WHEN: readonly number[] = [429, 503]

const retryAfterOf = ({ status, headers, atMs }: Head): number | null =>
  SAYS_WHEN.includes(status) ? parseRetryAfter(headers['retry-after'], atMs) : null

function excerptOf({ head, bytes }: Received, secrets: readonly string[]): string {
  if (bytes.length === 0) return ''
  const coding = head?.headers['content-encoding'] ?? 'identity'
  if (coding !== 'identity') return '(compressed, not read)'
  return redact(Buffer.from(bytes).toString('utf8'), secrets, policy.KEPT_ANSWER_CHARACTERS)
}

type Head = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly atMs: number
}

export type Received = {
  readonly head: Head | null
  /** The part of the body that was read. */
  readonly bytes: Uint8Array
  /** Whether the request was put on a connection. */
  readonly isSent: boolean
  /** Why the answer ended early; null if complete or cut at the limit. */
  readonly error: unknown
}

type Exchange = ReturnType<typeof startExchange>

/** Starts a request. An answer past the limit is cut and counts as complete. */
function startExchange(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions, now: () => number) {
  const { promise, resolve } = Promise.withResolvers<Received>()
  const chunks: Uint8Array[] = []
  let size = 0
  let head: Head | null = null
  let controller: Dispatcher.DispatchController | null = null
  let broken: Error | null = null
  const end = (error: Error | null): void =>
    resolve({
      head,
      bytes: Buffer.concat(chunks).subarray(0, policy.MOST_ANSWER_BYTES),
      isSent: controller !== null,
      error,
    })

  dispatcher.dispatch(request, {
    onRequestStart(given) {
      controller = given
      if (broken !== null) given.abort(broken) // while it waited for its connection
    },
    onResponseStart(_, status, headers) {
      if (status >= 200) head = { status, headers, atMs: now() } // 1xx precede the answer
    },
    onResponseData(given, chunk) {
      chunks.push(chunk)
      size += chunk.length
      if (size < policy.MOST_ANSWER_BYTES) return
      end(null)
      given.abort(new Error('the answer is long enough'))
    },
    onResponseEnd: () => end(null),
    onResponseError: (_, error) => end(error),
  })
  return {
    ended: promise,
    breakOff(error: Error): void {
      broken = error
      end(error)
      controller?.abort(error)
    },
  }
}

// Redaction of what receivers answer, before it is stored and shown.

const REDACTED = '[redacted]'

/** Shorter texts would match everywhere. */
const SHORTEST_SECRET = 8

/**
 * What looks like a secret: ours, tokens with a scheme, named ones, JWTs, and long runs of hex or base64. Repetitions
 * that can start at many positions are bounded, because the text is untrusted.
 */
const SECRET_LOOKS: readonly RegExp[] = [
  OUR_SECRETS,
  /\b(?:bearer|basic)\s{1,4}[\w.~+/=-]+/gi,
  /(?<=(?:authorization|api[_-]?key|token|secret|passw(?:or)?d|signature|cookie)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"',;&]+/gi,
  /\bey[\w-]{8,512}\.[\w-]+(?:\.[\w-]*)?/g,
  /[\w+/=-]{40,}/g,
]

/**
 * Removes `known` and everything that looks like a secret from `text`, and control characters, and then cuts it to
 * `most` characters: cutting first could leave half a secret.
 */
export function redact(text: string, known: readonly string[], most: number): string {
  const hidden = known
    .filter(secret => secret.length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
  const safe = SECRET_LOOKS.reduce((rest, looks) => rest.replaceAll(looks, REDACTED), hidden)
  return safe
    .replaceAll(/\p{C}+/gu, ' ')
    .slice(0, most)
    .toWellFormed()
}

/** The only date format that servers may send (RFC 9110, 5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

const SECONDS = /^\d{1,9}$/

/** The wait that `Retry-After` requests, in seconds or as a date; null if it cannot be parsed. */
function parseRetryAfter(value: string | readonly string[] | undefined, nowMs: number): number | null {
  const text = typeof value === 'string' ? value.trim() : ''
  if (SECONDS.test(text)) return Number(text) * 1000
  const ms = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? null : Math.max(0, ms - nowMs)
}

export type SendOrder = {
  /** In the clear, like the secrets, for the duration of one attempt. */
  readonly url: string
  readonly secrets: readonly string[]
  /** Of the endpoint's own. */
  readonly headers: OwnHeaders
  readonly signal: LoggedSignal
  readonly prevSeq: number
  /** From 1. */
  readonly attempt: number
}

export type SendSignal = (order: SendOrder) => Promise<Outcome>

/** A signal goes to many clients, and is parsed and encoded once. */
const contents = new WeakMap<LoggedSignal, Pick<Delivery, 'body' | 'id' | 'seq'>>()

/** Sends the exact bytes of a signal of the log, signed now. */
export const createSendSignal =
  (sender: Sender, now: () => number): SendSignal =>
  ({ url, secrets, headers: own, signal, prevSeq, attempt }) => {
    const { body: text, seq } = signal
    const content = contents.get(signal) ?? {
      body: new TextEncoder().encode(text),
      id: signalIdOf(text),
      seq,
    }
    contents.set(signal, content)
    const signed = signedHeaders({ ...content, prevSeq, attempt, sentAtMs: now() }, secrets)
    const headers = withOwnHeaders(own, signed)
    return sender.send({ url, headers, body: content.body, secrets: [...secrets, ...secretsOfHeaders(own)] })
  }
