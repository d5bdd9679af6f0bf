import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { ApiError } from '#core/contract/errors.ts'
import { type AtOnce, type AtOnceAnswer, answerOrLeave, respond } from '../wire/at-once.ts'
import { toPlainRequest } from '../wire/plain-request.ts'
import { createQuickConnections } from '../wire/quick-connections.ts'
import { type Connections, trackConnections } from './connections.ts'
import type { ErrorAnswer } from './error-answer.ts'
import { HTTP_LIMITS, type HttpLimits } from './http-limits.ts'
import { endWith, methodNotAllowed, type ParserError, toRefusal } from './raw-refusal.ts'
import { COMMON_HEADERS } from './shared-headers.ts'

export type HttpApp = {
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** The answers that need no app. */
  readonly atOnce?: AtOnce
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
  limits: HttpLimits = HTTP_LIMITS,
): Promise<RunningServer> {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.lookMs,
    keepAliveTimeout: limits.keepAliveMs,
    requireHostHeader: false, // by itself Node refuses without a word; below it is refused in the envelope
  })
  server.timeout = limits.stalledMs
  server.maxConnections = limits.connections + limits.refusedConnections
  const connections = trackConnections(server, limits.connections)
  await listen(server, host, port)
  const url = addressOf(server)
  const app = createApp(url) // in time: no connection is taken before this turn of the event loop ends
  answer(server, connections, app)
  const endQuick =
    app.atOnce === undefined ? () => {} : answerQuickly(server, connections, app.atOnce, limits)
  const close = (): Promise<void> => {
    const closed = connections.close(limits.drainMs)
    endQuick()
    return closed
  }
  return { url, close }
}

/** Puts the quick way before Node's own, which gets every connection that is not for it. Returns how to end the others. */
function answerQuickly(
  server: Server,
  connections: Connections,
  atOnce: AtOnce,
  limits: HttpLimits,
): () => void {
  const [toNode] = server.listeners('connection') as [(socket: Socket) => void] // its constructor's, the first of all
  server.removeListener('connection', toNode)
  const quick = createQuickConnections(atOnce, limits, (socket, waiting) => {
    connections.settle(socket, waiting.length)
    socket.pause()
    socket.unshift(waiting)
    toNode.call(server, socket)
    process.nextTick(() => socket.resume()) // before anything new is read from it
  })
  server.on('connection', socket => {
    if (connections.isSurplus(socket)) toNode.call(server, socket)
    else quick.take(socket)
  })
  return quick.end
}

function answer(server: Server, connections: Connections, app: HttpApp): void {
  const listener = getRequestListener(app.fetch, {
    hostname: 'localhost', // for requests of HTTP/1.0 without a Host header
    errorHandler: () =>
      toResponse(app.answerError(new ApiError('bad_request', 'the request cannot be understood'))),
  })
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const refusal = connections.isSurplus(request.socket) ? overloaded() : refusalOf(request)
    if (refusal !== null) return refuse(response, app.answerError(refusal))
    const ready = app.atOnce === undefined ? null : answerOrLeave(app.atOnce, toPlainRequest(request))
    const send = (found: AtOnceAnswer | null) =>
      found === null ? listener(request, response) : respond(response, found)
    return ready instanceof Promise ? ready.then(send) : send(ready)
  }
  server.on('request', handle)
  // By itself Node refuses without a word; what is expected may as well be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handle)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueInTurn(response)
    return handle(request, response)
  })
  server.on('clientError', (error, socket) => refuseRaw(app, connections, error, socket as Socket))
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy()) // Node has taken its own listener away: a reset would end the process
    const refusal = app.answerError(methodNotAllowed('this server is no proxy'))
    connections.finish(socket, () => endWith(socket, refusal))
  })
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

/** By itself Node puts the 100 of an answer that waits for its turn between its head and its body. */
function continueInTurn(response: ServerResponse): void {
  if (response.socket !== null) response.writeContinue()
  else response.once('socket', () => response.headersSent || response.writeContinue())
}

const overloaded = (): ApiError =>
  new ApiError('overloaded', 'too many connections at a time; come again in a moment')

/** Why a request that Node's parser took is no proper one; null for all others. */
function refusalOf({ httpVersion, rawHeaders }: IncomingMessage): ApiError | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new ApiError('bad_request', 'this server speaks HTTP/1.1')
  }
  const hosts = countHosts(rawHeaders)
  // HTTP/1.1 demands the header (RFC 9112, section 3.2); HTTP/1.0 does not know it.
  if (hosts === 0 && httpVersion === '1.1') {
    return new ApiError('bad_request', 'a request of HTTP/1.1 must have a Host header')
  }
  // A proxy in front may have gone by the one, and we by the other (RFC 9112, section 3.2).
  return hosts > 1 ? new ApiError('bad_request', 'a request must have no more than one Host header') : null
}

/** Node keeps the first of several and says nothing; here names and values follow one another. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts
}

function refuse(response: ServerResponse, { status, headers, body }: ErrorAnswer): void {
  response.writeHead(status, { ...COMMON_HEADERS, ...headers, connection: 'close' }).end(body)
}

/** What Node's parser refuses by itself is answered in the same envelope as everything else, after what came before it. */
function refuseRaw(app: HttpApp, connections: Connections, error: ParserError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const isSilent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0
  const refusal = isSilent ? null : app.answerError(toRefusal(error)) // who asked nothing is told nothing
  connections.finish(socket, isAnswered => endWith(socket, isAnswered ? null : refusal))
}

const toResponse = ({ status, headers, body }: ErrorAnswer): Response =>
  new Response(body, { status, headers: { ...COMMON_HEADERS, ...headers } })
