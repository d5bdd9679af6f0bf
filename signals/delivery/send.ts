// One attempt to deliver one signal: a request, bounded in every direction, and what came of it.
import { LRUCache } from 'lru-cache'
import { Agent } from 'undici'
import { type AddressRules, checkUrl, RefusedAddressError } from './address-guard.ts'
import { type Exchange, type Head, type Received, startExchange } from './exchange.ts'
import { createGuardedConnect, type StartTimer } from './guarded-connect.ts'
import { type Answer, BrokenOff, isOurs, type Outcome, reasonOf, toFailure, toOutcome } from './outcome.ts'
import {
  ATTEMPT_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  IDLE_CONNECTION_MS,
  KEPT_ANSWER_CHARACTERS,
  LONGEST_IDLE_CONNECTION_MS,
  MOST_CONNECTIONS_PER_ORIGIN,
  MOST_HEADER_BYTES,
  MOST_ORIGINS,
} from './policy.ts'
import { redact } from './redact.ts'
import type { ResolveHost } from './resolve-host.ts'
import { parseRetryAfter } from './retry-after.ts'

export type SenderOptions = {
  readonly rules: AddressRules
  readonly resolveHost: ResolveHost
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly startTimer: StartTimer
  /** Authorities to trust in place of the machine's, PEM. */
  readonly ca?: string
}

/** What is sent, and where to. */
export type Post = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** What must not be kept of the answer, should it quote us. */
  readonly secrets: readonly string[]
}

export type Sender = {
  /** Makes one request, follows nothing, repeats nothing. Rejects only where this program is wrong. */
  send(post: Post): Promise<Outcome>
  /** Breaks off what runs, which becomes our fault, and closes every connection. Nothing is sent after it. */
  close(): Promise<void>
}

/** Webhooks whose parsed URLs are kept: parsing and checking one anew costs as much as signing. */
const MOST_KEPT_URLS = 4096

/** Connections are kept for a moment and used again; an origin that has none left is forgotten. */
export function createSender(options: SenderOptions): Sender {
  const { now, startTimer } = options
  const agent = createAgent(options)
  const targets = new LRUCache<string, Target>({ max: MOST_KEPT_URLS })
  const running = new Set<Exchange>()
  let isClosed = false
  const targetOf = (url: string): Target | null => {
    const known = targets.get(url)
    if (known !== undefined) return known
    const target = parseTarget(url, options.rules)
    if (target !== null) targets.set(url, target)
    return target
  }
  return {
    async send(post) {
      if (isClosed) return { kind: 'ourFault', reason: 'shutting_down' }
      const startMs = now()
      const target = targetOf(post.url)
      if (target === null) return toFailure('address_refused', null, now() - startMs)
      const exchange = startExchange(agent, requestOf(target, post), now)
      const stopTimer = startTimer(ATTEMPT_TIMEOUT_MS, () => exchange.breakOff(new BrokenOff('timeout')))
      running.add(exchange)
      const received = await exchange.ended
      running.delete(exchange)
      stopTimer()
      return outcomeOf(received, [...post.secrets, ...target.secrets], startMs, now())
    },
    async close() {
      isClosed = true
      for (const exchange of running) exchange.breakOff(new BrokenOff('shutting_down'))
      await agent.destroy()
    },
  }
}

const createAgent = (options: SenderOptions): Agent =>
  new Agent({
    connect: createGuardedConnect({ ...options, timeoutMs: CONNECT_TIMEOUT_MS }),
    allowH2: false, // one request at a time is all that a client gets, and a smaller parser to trust
    connections: MOST_CONNECTIONS_PER_ORIGIN,
    maxOrigins: MOST_ORIGINS,
    maxHeaderSize: MOST_HEADER_BYTES,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: LONGEST_IDLE_CONNECTION_MS,
    headersTimeout: 0, // the deadline of the attempt covers both, and counts from its start
    bodyTimeout: 0,
  })

/** A URL that was checked: the address of its host is checked whenever a connection is made. */
type Target = { readonly origin: string; readonly path: string; readonly secrets: readonly string[] }

/** Null where deliveries must not go there. */
function parseTarget(text: string, rules: AddressRules): Target | null {
  try {
    const url = checkUrl(text, rules)
    return { origin: url.origin, path: url.pathname + url.search, secrets: secretPartsOf(url) }
  } catch (error) {
    if (error instanceof RefusedAddressError) return null
    throw error
  }
}

/** Shorter parts of a URL are words. */
const SHORTEST_URL_SECRET = 12

/** Many platforms put a secret into the path or the query of a webhook's URL. */
const secretPartsOf = ({ pathname, searchParams }: URL): string[] =>
  [...pathname.split('/'), ...searchParams.values()].filter(part => part.length >= SHORTEST_URL_SECRET)

const requestOf = ({ origin, path }: Target, { headers, body }: Post) => ({
  origin,
  path,
  method: 'POST' as const,
  // Nothing is decompressed here, so nobody needs to compress: what is kept can be read.
  headers: { ...headers, 'accept-encoding': 'identity' },
  body,
})

function outcomeOf(received: Received, secrets: readonly string[], startMs: number, endMs: number): Outcome {
  const { head, error } = received
  const answer = head === null ? null : toAnswer(head, startMs)
  const totalMs = endMs - startMs
  if (error !== null) {
    const reason = reasonOf(error)
    return isOurs(reason) ? { kind: 'ourFault', reason } : toFailure(reason, answer, totalMs)
  }
  if (answer === null) throw new Error('an answer ended that had not begun: undici broke its contract')
  return toOutcome(answer, totalMs, excerptOf(received, secrets))
}

/** Statuses with which a receiver may say when to come again. */
const SAYS_WHEN: readonly number[] = [429, 503]

const toAnswer = ({ status, headers, atMs }: Head, startMs: number): Answer => ({
  status,
  firstByteMs: atMs - startMs,
  retryAfterMs: SAYS_WHEN.includes(status) ? parseRetryAfter(headers['retry-after'], atMs) : null,
})

function excerptOf({ head, bytes }: Received, secrets: readonly string[]): string {
  if (bytes.length === 0) return ''
  const coding = head?.headers['content-encoding'] ?? 'identity'
  if (coding !== 'identity') return '(compressed, not read)'
  return redact(Buffer.from(bytes).toString('utf8'), secrets, KEPT_ANSWER_CHARACTERS)
}
