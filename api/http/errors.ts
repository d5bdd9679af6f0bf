import { ApiError, type ErrorCode, INTERNAL_ERROR_MESSAGE, STATUS_OF } from '#core/contract/errors.ts'
import type { KeyedMeta } from '#core/contract/keyed-meta.ts'
import type { Register } from '#core/contract/register.ts'
import { CACHING } from './headers.ts'

/** The parts of an HTTP answer to an error. */
export type ErrorAnswer = {
  readonly status: (typeof STATUS_OF)[ErrorCode]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** How long a client should wait before it asks again, where an error passes by itself. */
const RETRY_AFTER_SECONDS = 5

/** Refusals that caches may keep for a moment. */
const REMEMBERED: ReadonlySet<number> = new Set([404, 410, 422])

/** The caller's error as it is, any other as the one fixed sentence: nothing of its cause leaves the process. */
export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError('internal_error', INTERNAL_ERROR_MESSAGE)

/** `{error, meta}` with its status and headers. */
export function errorAnswer(error: ApiError, meta: Register | KeyedMeta): ErrorAnswer {
  const status = STATUS_OF[error.code]
  const { code, message, details } = error
  const body = JSON.stringify({ error: { code, message, details }, meta })
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': REMEMBERED.has(status) ? CACHING.refusal : CACHING.never,
      ...(status === 503 || status === 429 ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {}),
      ...error.headers,
    },
    body,
  }
}

/** A longer address is refused: the longest legal one, a subset of a hundred ids, stays far below. */
export const LONGEST_URL = 8192

/** Throws `uri_too_long` on an address that no request of ours needs. */
export function assertUrlLength(url: string): void {
  if (url.length <= LONGEST_URL) return
  throw new ApiError('uri_too_long', `the address is longer than ${LONGEST_URL} characters`)
}
