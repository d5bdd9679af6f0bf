import type { ValueOf } from './payloads/field.ts'
import type { errorDetails, parameterProblem } from './payloads/meta.ts'

/**
 * Every error code of both services and the HTTP status that it is answered with: one closed table, printed
 * in the API reference. A code never changes its meaning.
 */
export const STATUS_OF = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  account_not_active: 403,
  not_entitled: 403,
  not_found: 404,
  profile_not_set: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  validation_error: 422,
  rate_limited: 429,
  internal_error: 500,
  not_ready: 503,
  unavailable: 503,
  overloaded: 503,
} as const

export type ErrorCode = keyof typeof STATUS_OF

export type ParameterProblem = ValueOf<typeof parameterProblem>
type ErrorDetails = ValueOf<typeof errorDetails>

/** An error that the caller made or must know of: thrown anywhere below a request, answered in one place. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  /** Headers that belong to the refusal itself, such as `Allow` and `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string,
    extra: { details?: ErrorDetails; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.details = extra.details ?? null
    this.headers = extra.headers ?? {}
  }
}

/** The message of every unexpected error: its cause never leaves the process. */
export const INTERNAL_ERROR_MESSAGE = 'something went wrong on our side; the request was not at fault'

/** The refusal of one parameter; `value` is what may be repeated of it. */
export const invalidParameter = (param: string, value: string, reason: string): ApiError =>
  new ApiError('validation_error', `${param}: ${reason}`, { details: [{ param, value, reason }] })
