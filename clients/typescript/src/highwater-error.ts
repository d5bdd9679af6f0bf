import type { Error as ErrorAnswer } from './generated/history.ts'

/** The codes of the service, and `unexpected_answer` if something else answered in its place. */
export type ErrorCode = ErrorAnswer['error']['code'] | 'unexpected_answer'

export type ErrorDetails = ErrorAnswer['error']['details']

/** A refusal. A code never changes its meaning: branch on `code`, never on the message. */
export class HighwaterError extends Error {
  override readonly name = 'HighwaterError'
  readonly code: ErrorCode
  /** The HTTP status. */
  readonly status: number
  /** The refused parameters, or the alternatives, if the code has any. */
  readonly details: ErrorDetails
  /** The operator of the service finds the request by it; null if the service does not name its requests. */
  readonly requestId: string | null

  constructor(
    code: ErrorCode,
    message: string,
    status: number,
    details: ErrorDetails = null,
    requestId: string | null = null,
  ) {
    super(message)
    this.code = code
    this.status = status
    this.details = details
    this.requestId = requestId
  }
}

/** The error of an answer: that of its envelope, or `unexpected_answer` if it has none. */
export function toError({ status, headers, url }: Response, answer: unknown): HighwaterError {
  const { error } = (answer ?? {}) as Partial<ErrorAnswer> // what has no code and no message is unexpected
  const requestId = headers.get('x-request-id')
  if (typeof error?.code === 'string' && typeof error.message === 'string')
    return new HighwaterError(error.code, error.message, status, error.details ?? null, requestId)
  const message = `${url} was answered with status ${status}, but not by Highwater: check the base address, and what is in front of the service`
  return new HighwaterError('unexpected_answer', message, status, null, requestId)
}

/** What a text of JSON holds, or undefined if it is none. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
