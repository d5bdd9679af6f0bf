import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { ApiError } from '#core/contract/errors.ts'
import { trackConnections } from './connections.ts'
import type { ErrorAnswer } from './error-answer.ts'
import { COMMON_HEADERS, METHODS } from './shared-headers.ts'

/** Request line and headers together; Node answers 431 beyond it. */
const MAX_HEADER_BYTES = 16 << 10

/** Headers must be complete after this: a slow sender must not hold a connection for nothing. */
const HEADERS_TIMEOUT_MS = 10_000

/** The whole request must be complete after this. No request of ours has a body worth more. */
const REQUEST_TIMEOUT_MS = 30_000

/** An idle connection is kept this long: longer than the minute for which balancers keep theirs. */
const KEEP_ALIVE_MS = 65_000

/** What still runs this long after the process was asked to end is cut off. */
const DRAIN_MS = 10_000

export type HttpApp = {
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** Answers at once what needs no app, or returns false and leaves it to `fetch`. */
  readonly answerAtOnce?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** The answer to what never becomes a request: it cannot be parsed. */
  readonly answerError: (error: ApiError) => ErrorAnswer
}

export type RunningServer = {
  /** `http://127.0.0.1:8080`. */
  readonly url: string
  /** Stops listening, lets running requests end, cuts off what does not. */
  readonly close: () => Promise<void>
}

/**
 * Starts an HTTP server for an app, which is made once the address is known. Rejects with a sentence where the address
 * cannot be had.
 */
export async function startServer(
  createApp: (url: string) => HttpApp,
  host: string,
  port: number,
): Promise<RunningServer> {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requireHostHeader: false, // by itself Node refuses without a word; below it is refused in the envelope
  })
  const connections = trackConnections(server)
  await listen(server, host, port)
  const url = addressOf(server)
  answer(server, createApp(url)) // in time: no connection is taken before this turn of the event loop ends
  return { url, close: () => connections.close(DRAIN_MS) }
}

function answer(server: Server, app: HttpApp): void {
  const listener = getRequestListener(app.fetch, {
    hostname: 'localhost', // for requests of HTTP/1.0 without a Host header
    errorHandler: () =>
      toResponse(app.answerError(new ApiError('bad_request', 'the request cannot be understood'))),
  })
  const { answerAtOnce = () => false } = app
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (answerAtOnce(request, response)) return
    if (isHostless(request)) refuseHostless(app, response)
    else listener(request, response)
  }
  server.on('request', handle)
  // By itself Node refuses without a word; what is expected may as well be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handle)
  server.on('clientError', (error, socket) => refuseRaw(app, error, socket as Socket))
  server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    endWith(socket, app.answerError(methodNotAllowed('this server is no proxy'))),
  )
}

const listen = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const hint =
        error.code === 'EADDRINUSE' ? 'another process has the port: stop it, or choose another port' : ''
      reject(new Error(`cannot listen on ${host}:${port}: ${hint || error.message}`, { cause: error }))
    })
    server.listen(port, host, resolve)
  })

function addressOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo // a string only for pipes, which we never use
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** HTTP/1.1 demands the header (RFC 9112, section 3.2); HTTP/1.0 does not know it. */
const isHostless = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.host === undefined && httpVersion === '1.1'

function refuseHostless(app: HttpApp, response: ServerResponse): void {
  const { status, headers, body } = app.answerError(
    new ApiError('bad_request', 'a request of HTTP/1.1 must have a Host header'),
  )
  response.writeHead(status, { ...COMMON_HEADERS, ...headers }).end(body)
}

/** What Node's parser refuses by itself is answered in the same envelope as everything else. */
function refuseRaw(app: HttpApp, error: ParserError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
  else endWith(socket, app.answerError(toRefusal(error)))
}

/** What Node adds to an error of its parser: the bytes that it read last, and how many of them it took. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer; readonly bytesParsed?: number }

function toRefusal(error: ParserError): ApiError {
  const { code } = error
  if (code === 'HPE_INVALID_METHOD' && isRequestLine(refusedLine(error))) {
    return methodNotAllowed(`this server answers ${METHODS}`)
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError('headers_too_large', `request line and headers exceed ${MAX_HEADER_BYTES} bytes`)
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ApiError('bad_request', 'the request took too long to arrive')
  return new ApiError('bad_request', 'the request is not well-formed HTTP')
}

const methodNotAllowed = (message: string): ApiError =>
  new ApiError('method_not_allowed', message, { headers: { allow: METHODS } })

/** The line in which the parser stopped. */
function refusedLine({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: ParserError): string {
  const text = rawPacket.toString('latin1')
  return text.slice(text.lastIndexOf('\n', bytesParsed) + 1).split('\r\n', 1)[0] ?? ''
}

/** Node's parser knows a list of methods and calls any other malformed; HTTP allows any token (RFC 9110, section 9.1). */
const isRequestLine = (line: string): boolean => /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]$/.test(line)

const toResponse = ({ status, headers, body }: ErrorAnswer): Response =>
  new Response(body, { status, headers: { ...COMMON_HEADERS, ...headers } })

/** Writes an answer by hand, where there is no response object, and closes. */
function endWith(socket: Socket, { status, headers, body }: ErrorAnswer): void {
  const all = {
    ...COMMON_HEADERS,
    ...headers,
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n'))
}
