// The answers to what never becomes a request, written by hand where there is no response object.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '#core/contract/errors.ts'
import type { ErrorAnswer } from './error-answer.ts'
import { HTTP_LIMITS } from './http-limits.ts'
import { COMMON_HEADERS, METHODS } from './shared-headers.ts'

/** What Node adds to an error of its parser: the bytes that it read last, and how many of them it took. */
export type ParserError = NodeJS.ErrnoException & {
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

/** Why Node's parser, or its clock, gave a request up. */
export function toRefusal(error: ParserError): ApiError {
  const { code } = error
  if (code === 'HPE_INVALID_METHOD' && isRequestLine(refusedLine(error))) {
    return methodNotAllowed(`this server answers ${METHODS}`)
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError(
      'headers_too_large',
      `request line and headers exceed ${HTTP_LIMITS.headerBytes} bytes`,
    )
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ApiError('bad_request', 'the request took too long to arrive')
  return new ApiError('bad_request', 'the request is not well-formed HTTP')
}

export const methodNotAllowed = (message: string): ApiError =>
  new ApiError('method_not_allowed', message, { headers: { allow: METHODS } })

/** Writes an answer, or nothing, and closes the connection; one that is closing already is left to it. */
export function endWith(socket: Socket, answer: ErrorAnswer | null): void {
  if (!socket.writable) return
  socket.end(answer === null ? '' : toBytes(answer))
  socket.resume() // an end that is not read is never seen
  const linger = setTimeout(() => socket.destroy(), HTTP_LIMITS.lingerMs)
  socket.once('close', () => clearTimeout(linger))
}

function toBytes({ status, headers, body }: ErrorAnswer): string {
  const all = { ...COMMON_HEADERS, ...headers, connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n')
}

/** The line in which the parser stopped. */
function refusedLine({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: ParserError): string {
  const text = rawPacket.toString('latin1')
  return text.slice(text.lastIndexOf('\n', bytesParsed) + 1).split('\r\n', 1)[0] ?? ''
}

/** Node's parser knows a list of methods and calls any other malformed; HTTP allows any token (RFC 9110, section 9.1). */
const isRequestLine = (line: string): boolean => /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]$/.test(line)
