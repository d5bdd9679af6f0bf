// Requests to a service: the cache of answers, and what is tried again.
import { HighwaterError, isOf, parse, type ServiceName, toError, wrongService } from './highwater-error.ts'

/** How a client makes its requests. */
export type ClientOptions = {
  /** Used in place of the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** How many times a request is sent that is answered with 429 or 503; 4 by default. */
  readonly attempts?: number
  /** A longer `Retry-After` is not waited for: the request fails at once. Seconds, 30 by default. */
  readonly longestWaitSeconds?: number
  /** Size of the cache of answers; 0 turns it off. Characters, 32 million by default. */
  readonly cachedCharacters?: number
}

/** What every call takes beside its parameters. */
export type CallOptions = {
  /** Aborts the call, also while it waits for another attempt. */
  readonly signal?: AbortSignal | undefined
}

export type Transport = ReturnType<typeof createTransport>

/** A browser has a cache that does it, and a header of ours would cost a preflight for each request. */
const REVALIDATES = !('document' in globalThis || 'importScripts' in globalThis)

/** Requests an immutable answer once, and revalidates others by ETag. Throws `TypeError` if `base` is no address of a service. */
export function createTransport(
  base: string,
  {
    fetch = globalThis.fetch,
    attempts = 4,
    longestWaitSeconds = 30,
    cachedCharacters = 2 ** 25,
  }: ClientOptions,
  service: ServiceName,
  init: RequestInit = {},
) {
  const root = base.replace(/\/+$/, '')
  if (!/^https?:\/\/[^/]/.test(root) || root.endsWith('/v1'))
    throw new TypeError(`expected the address of a service without /v1, as https://a.example, got '${base}'`)
  const cache = createAnswerCache(cachedCharacters)

  /** An answer past the cache, unchecked; with `etag` no bytes if it is still the same. A `change` is repeated only if it was refused with 429. */
  async function request(path: string, { signal }: CallOptions = {}, etag?: string, change?: RequestInit) {
    const headers = {
      ...{ ...init.headers, ...change?.headers },
      ...(etag && REVALIDATES ? { 'if-none-match': etag } : {}),
    }
    const passing = change ? [429] : [429, 503]
    const lost = (error: Error & { readonly cause?: Partial<Error> }): never => {
      if (signal?.aborted) throw error
      const reason = error.cause?.message || error.message // Node gives it as the cause
      throw new HighwaterError('unreachable', `no whole answer from ${root}${path}: ${reason}`)
    }
    for (let nth = 1; ; nth++) {
      const response = await fetch(root + path, {
        ...init,
        ...change,
        headers,
        signal: signal ?? null,
      }).catch(lost)
      const bytes = new Uint8Array(await response.arrayBuffer().catch(lost))
      if (response.ok || (response.status === 304 && etag)) return { response, bytes }
      const seconds = secondsToWait(response.headers.get('retry-after'), nth)
      if (!passing.includes(response.status) || nth >= attempts || seconds > longestWaitSeconds)
        throw toError(service, root, path, response, textOf(bytes))
      await wait(seconds, signal)
    }
  }

  /** An answer with its text. */
  async function readText<Answer>(path: string, options?: CallOptions): Promise<[Answer, string]> {
    const kept = cache.get(path)
    if (kept?.isImmutable) return [JSON.parse(kept.text), kept.text]
    const { response, bytes } = await request(path, options, kept?.etag)
    if (kept && response.status === 304) return [JSON.parse(kept.text), kept.text]
    const [answer, text] = await checked<Answer>(path, response, bytes)
    cache.set(path, response, text)
    return [answer, text]
  }

  /** Changes something, once: if no answer comes, it may have been done. */
  async function send<Answer>(method: string, path: string, body?: object, options?: CallOptions) {
    const json = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const { response, bytes } = await request(path, options, undefined, { method, ...json })
    return (await checked<Answer>(path, response, bytes))[0]
  }

  async function checked<Answer>(
    path: string,
    response: Response,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<[Answer, string]> {
    if (!(await isWhole(response, bytes)))
      throw new HighwaterError('damaged', `${root}${path} was altered on its way: it has another checksum`)
    const text = textOf(bytes)
    const answer = parse(text) ?? undefined // null is no answer
    if (answer === undefined) throw toError(service, root, path, response, text)
    if (!isOf(service, answer as object)) throw wrongService(service, root, response.status)
    return [answer as Answer, text] // the shape that the service documents
  }

  /** The answers from a path on, each with its text; none without a path. */
  async function* pages<Answer extends Page>(first: string | undefined, options?: CallOptions) {
    for (let path = first; path !== undefined; ) {
      const page = await readText<Answer>(path, options)
      yield page
      path = page[0].links.next
    }
  }

  /** The answer at a path. Throws `HighwaterError`, and the reason of an abort. */
  const read = async <Answer>(path: string, options?: CallOptions): Promise<Answer> =>
    (await readText<Answer>(path, options))[0]

  return { read, pages, request, send, cache }
}

type Page = { readonly links: { readonly next?: string } }

/** `?from=2025-01-01&risk_pct=0.01`: sorted, so that equal questions have one address. */
export function queryOf(query: object = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value))
  parameters.sort()
  return parameters.size === 0 ? '' : `?${parameters}`
}

export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Whether an answer has the digest that it names, if it names one; a page without HTTPS cannot know. */
async function isWhole({ headers }: Response, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const named = /^sha-256=:(.+):$/.exec(headers.get('unencoded-digest') ?? '')?.[1]
  return !named || !globalThis.crypto?.subtle || toBase64(await sha256(bytes)) === named
}

/** The SHA-256 of parts that follow one another. */
export const sha256 = async (...parts: (Uint8Array<ArrayBuffer> | string)[]) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer()))

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

export const fromBase64 = (text: string) => Uint8Array.from(atob(text), char => char.charCodeAt(0))

/** `Retry-After` is seconds or a date; without it the waits are 1, 2, 4, … seconds. */
function secondsToWait(retryAfter: string | null, attempt: number): number {
  const asked = retryAfter ?? ''
  const seconds = /^\d+$/.test(asked) ? Number(asked) : (Date.parse(asked) - Date.now()) / 1000
  return Number.isNaN(seconds) ? 2 ** (attempt - 1) : Math.max(0, seconds)
}

/** Resolves after so many seconds. Rejects with the reason of `signal` if that comes first. */
export function wait(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, seconds * 1000)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

type Kept = { readonly etag: string; readonly isImmutable: boolean; readonly text: string }

/** Keeps answers that have an ETag, by path, at most so many characters: the one that was used least recently goes first. */
function createAnswerCache(mostCharacters: number) {
  const kept = new Map<string, Kept>() // in the order of use

  return {
    get(path: string): Kept | undefined {
      const found = kept.get(path)
      if (found && kept.delete(path)) kept.set(path, found)
      return found
    },
    /** The target of a redirect is not kept: the next redirect may lead elsewhere. */
    set(path: string, { headers, redirected }: Response, text: string): void {
      const etag = headers.get('etag')
      if (etag === null || redirected || text.length > mostCharacters) return
      kept.delete(path)
      kept.set(path, { etag, isImmutable: /\bimmutable\b/.test(headers.get('cache-control') ?? ''), text })
      let left = mostCharacters
      for (const [other, { text }] of [...kept].reverse()) {
        left -= text.length
        if (left < 0) kept.delete(other)
      }
    },
  }
}
