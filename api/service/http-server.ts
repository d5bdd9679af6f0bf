import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { BAD_HOST } from './app.ts'

/** Answers a request; `fetch` of a Hono app. Requests that Node's parser refuses never reach it. */
export type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>

export type RunningServer = {
  /** `http://127.0.0.1:8080`. */
  readonly url: string
  /** Stops listening, waits for answers under way, closes what is left after `drainMs`. */
  readonly close: () => Promise<void>
}

/** Starts a server for an app, which is made once its address is known. Rejects with a sentence if that cannot be bound. */
export async function startServer(
  createFetch: (url: string) => Fetch,
  host: string,
  port: number,
  limits: HttpLimits = HTTP_LIMITS,
): Promise<RunningServer> {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    requireHostHeader: false, // Node would refuse without a body
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    keepAliveTimeout: limits.keepAliveMs,
  })
  server.timeout = limits.stalledMs
  server.maxConnections = limits.connections
  const close = closeGracefully(server, limits)
  await listen(server, host, port)
  const url = addressOf(server)
  const fetch = createFetch(url) // before the first connection: none is accepted in this turn of the event loop
  const listener = getRequestListener((request, env) => fetch(request, env as HttpBindings))
  server.on('request', (request, response) => {
    settleAddress(request)
    return listener(request, response)
  })
  // What a client expects but 100-continue may be ignored (RFC 9110, 10.1.1); Node would refuse it without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('checkContinue', (request, response) => {
    // An answer that waits for its turn has no socket yet, and Node would put the line after its headers.
    if (response.socket !== null) response.writeContinue()
    server.emit('request', request, response)
  })
  return { url, close }
}

/**
 * Gives a request the host and the path that an address is made of. Without them, which the listener would refuse without a
 * body, it gets BAD_HOST: with two Hosts, none in HTTP/1.1, one such as `256.1.1.1`, or a backslash in the path.
 */
function settleAddress(request: IncomingMessage): void {
  const { method, url = '', httpVersion, headersDistinct } = request
  const [, authority, path = url] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? []
  const hosts = headersDistinct.host ?? (httpVersion === '1.0' ? ['localhost'] : [])
  const name = authority ?? hosts[0] ?? ''
  const host =
    hosts.length === 1 && /^[^\s/\\?#@]+$/.test(name) ? URL.parse(`http://${name}`)?.host : undefined
  const isOfServer = method === 'OPTIONS' && url === '*'
  const isSound = host !== undefined && (isOfServer || /^(?:\/[^\\?]*)?(?:\?|$)/.test(path))
  request.headers.host = isSound ? host : BAD_HOST
  request.url = isSound && !isOfServer ? path.replace(/^(?!\/)/, '/') : '/'
}

/** Ends a server without cutting an answer: Node's own `close` destroys connections whose answer is written but not sent yet. */
function closeGracefully(server: Server, { drainMs, lingerMs }: HttpLimits): () => Promise<void> {
  const underWay = new Set<ServerResponse>()
  let isClosing = false
  const closeIdle = (): void => {
    if (isClosing && underWay.size === 0) server.closeIdleConnections()
  }
  server.on('request', (_request, response) => {
    underWay.add(response)
    if (isClosing) response.shouldKeepAlive = false
    response.once('close', () => {
      underWay.delete(response)
      closeIdle()
    })
  })
  return () =>
    new Promise(resolve => {
      isClosing = true
      const closeAll = (): void => server.closeAllConnections()
      const drain = setTimeout(closeAll, drainMs)
      // Node does not count a connection as idle before its first request, such as browsers open in advance.
      const linger = setInterval(() => underWay.size === 0 && closeAll(), lingerMs)
      NetServer.prototype.close.call(server, () => {
        clearTimeout(drain)
        clearInterval(linger)
        resolve()
      })
      const newest = new Map([...underWay].map(response => [response.req.socket, response]))
      for (const response of newest.values()) response.shouldKeepAlive = false // the others are pipelined before it
      closeIdle()
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

/** Who listens on every address of the machine has none by which to be called; `localhost` is one. */
export const toReachable = (boundUrl: string): string =>
  boundUrl.replace(/^http:\/\/(0\.0\.0\.0|\[::\])(?=:)/, 'http://localhost')

/** What one connection, and all of them together, may take of a process; docs/limits.md lists it for callers. */
export type HttpLimits = { readonly [Name in keyof typeof HTTP_LIMITS]: number }

export const HTTP_LIMITS = {
  /** Request line and headers together; longer ones answer 431. */
  headerBytes: 16 << 10,

  /** Headers must be complete after this: a slow sender must not hold a connection for nothing. */
  headersMs: 10_000,

  /** The whole request must be complete after this. No route accepts a body that needs longer. */
  requestMs: 30_000,

  /** How often those two are checked. Node's default of 30 s would turn 10 s into 40 s. */
  checkMs: 1_000,

  /** An idle connection is kept this long: longer than the minute for which balancers keep theirs. */
  keepAliveMs: 65_000,

  /** A connection on which no byte moves for this long during a request or its answer is closed. No answer takes as long. */
  stalledMs: 60_000,

  /**
   * Connections at a time; further ones are closed at once. Proxies in front need a hundred. One with an answer that
   * nobody reads holds 80 kB beside the cached bytes, or 160 kB for an uncompressed series of 4 000 days: 330 MB in all.
   */
  connections: 2_048,

  /** At shutdown, a request that has begun to arrive has this long to arrive whole. */
  lingerMs: 1_000,

  /** Answers still under way this long after the start of a shutdown are cut. */
  drainMs: 10_000,
} as const
