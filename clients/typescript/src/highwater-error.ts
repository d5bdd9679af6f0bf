import type { Error as ErrorAnswer } from './generated/history.ts'

/** The codes of the service, and those of the client, which its README lists. */
export type ErrorCode =
  | ErrorAnswer['error']['code']
  | 'unreachable'
  | 'unexpected_answer'
  | 'wrong_service'
  | 'damaged'
  | 'not_published'
  | 'not_verified'
  | 'cryptography_missing'
  | 'bad_signature'
  | 'notice'
  | 'seal_mismatch'

/** What the service lists beside the message, or the faults that `verify()` found. */
export type ErrorDetails = ErrorAnswer['error']['details'] | readonly string[]

/** A refusal, or an answer that cannot be used. A code never changes its meaning: branch on `code`, never on the message. */
export class HighwaterError extends Error {
  override readonly name = 'HighwaterError'
  readonly code: ErrorCode
  /** The HTTP status of a refusal; null if there is none. */
  readonly status: number | null
  /** The refused parameters, the alternatives or the faults, if the code has any. */
  readonly details: ErrorDetails
  /** The operator of the service finds the request by it; null if the service does not name its requests. */
  readonly requestId: string | null

  constructor(
    code: ErrorCode,
    message: string,
    status: number | null = null,
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

export type ServiceName = 'history' | 'signals'

/** The error of an answer: that of its envelope, or `unexpected_answer` if it has none. */
export function toError(service: ServiceName, root: string, path: string, response: Response, text: string) {
  const { status, headers } = response
  const { error, meta } = (parse(text) ?? {}) as Partial<ErrorAnswer> // what has no code and no message is unexpected
  const requestId = headers.get('x-request-id')
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') {
    const to = headers.has('location') ? ` and leads to ${headers.get('location')}` : ''
    const message = `${root}${path} was answered with status ${status}${to}, but not by Highwater: check the base address, and what is in front of the service`
    return new HighwaterError('unexpected_answer', message, status, null, requestId)
  }
  const { code, message, details = null } = error
  const problems = Array.isArray(details) ? details : []
  const reasons = problems.map(({ param, reason }) => (reason.endsWith('?') ? reason : `${param} ${reason}`)) // or a question
  if (code === 'not_found' && !isOf(service, { meta })) return wrongService(service, root, status)
  return new HighwaterError(code, [message, ...reasons].join('; '), status, details, requestId)
}

/** Whether an answer may be of a service: that of the history names its version in `meta`. */
export const isOf = (service: ServiceName, { meta }: { readonly meta?: object | undefined }): boolean =>
  meta === undefined || 'dataset_version' in meta === (service === 'history')

export function wrongService(service: ServiceName, root: string, status: number): HighwaterError {
  const at = `${root} is not the address of the ${service} service`
  const right =
    'Highwater.open() takes that of the history service, HighwaterSignals that of the signals service'
  return new HighwaterError('wrong_service', `${at}: ${right}`, status)
}

/** What a text of JSON holds, or undefined if it is none. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
