// Requests to a service: the cache of answers, and what is tried again.
import { parse, toError } from './highwater-error.ts'

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

/** Reads the answer at a path. Throws `HighwaterError`, what `fetch` throws if there is no answer, and the reason of an abort. */
export type Read = <Answer>(path: string, options?: CallOptions) => Promise<Answer>

/** Statuses of a service that is busy or not ready: the same request succeeds later. */
const RETRIED: readonly number[] = [429, 503]

/** A browser has a cache that does it, and a header of ours would cost a preflight for each request. */
const REVALIDATES = !('document' in globalThis || 'importScripts' in globalThis)

/**
 * Reads from `base`. An immutable answer that is in the cache is not requested again; any other is revalidated with its
 * ETag.
 */
export function createRead(
  base: string,
  {
    fetch = globalThis.fetch,
    attempts = 4,
    longestWaitSeconds = 30,
    cachedCharacters = 2 ** 25,
  }: ClientOptions,
  init: RequestInit = {},
): Read {
  const root = base.replace(/\/+$/, '')
  const cache = createAnswerCache(cachedCharacters)

  async function request<Answer>(
    path: string,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const kept = cache.get(path)
    if (kept?.isImmutable) return JSON.parse(kept.text)
    const headers = { ...init.headers, ...(kept && REVALIDATES ? { 'if-none-match': kept.etag } : {}) }
    const response = await fetch(root + path, { ...init, headers, signal: signal ?? null })
    if (response.status === 304 && kept !== undefined) return JSON.parse(kept.text)
    const text = await response.text()
    const answer = parse(text)
    if (response.ok && answer !== undefined) {
      cache.set(path, response, text)
      return answer as Answer // the shape that the service documents
    }
    const seconds = secondsToWait(response.headers.get('retry-after'), attempt)
    if (!RETRIED.includes(response.status) || attempt >= attempts || seconds > longestWaitSeconds)
      throw toError(response, answer)
    await wait(seconds, signal)
    return request(path, attempt + 1, signal)
  }

  return (path, { signal } = {}) => request(path, 1, signal)
}

/** `Retry-After` is seconds or a date; without it the waits are 1, 2, 4, … seconds. */
function secondsToWait(retryAfter: string | null, attempt: number): number {
  if (retryAfter === null) return 2 ** (attempt - 1)
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
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

  function put(path: string, answer: Kept): void {
    kept.delete(path)
    kept.set(path, answer)
  }

  return {
    get(path: string): Kept | undefined {
      const found = kept.get(path)
      if (found !== undefined) put(path, found)
      return found
    },
    /** The target of a redirect is not kept: the next redirect may lead elsewhere. */
    set(path: string, { headers, redirected }: Response, text: string): void {
      const etag = headers.get('etag')
      if (etag === null || redirected || text.length > mostCharacters) return
      put(path, { etag, isImmutable: /\bimmutable\b/.test(headers.get('cache-control') ?? ''), text })
      let left = mostCharacters
      for (const [other, { text }] of [...kept].reverse()) {
        left -= text.length
        if (left < 0) kept.delete(other)
      }
    },
  }
}
