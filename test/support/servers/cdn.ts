// nginx and Varnish for a test, in front of a tier or of a stand-in for it; and requests whose headers are one's own. What is
// started ends with the running test, or with the file if no test runs.

import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Address, EXAMPLE_SITE, type Site } from '#cli/services/edge/site.ts'
import { type Layer, startNginx, startVarnish } from '../../../deploy/layers.ts'
import { atEnd, atEndOfProcess } from '../ends.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { ownPort } from './own-port.ts'

const LOOPBACK = '127.0.0.1'

export const ALLOWED_ORIGIN = 'https://www.example.org'

/** The address in `http://127.0.0.1:8080`. */
export const addressOf = (url: string): Address => ({ host: LOOPBACK, port: Number(new URL(url).port) })

const listen = (server: ReturnType<typeof createServer>, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, LOOPBACK, () => resolve((server.address() as AddressInfo).port)) // a string only for pipes
  })

/** An HTTP server of the test's own that stands in for the tier; it can go away, and come back at the same address. */
export type Origin = Address & { readonly leave: () => Promise<void>; readonly comeBack: () => Promise<void> }

/** Starts a stand-in for the tier. */
export async function startOrigin(answer: RequestListener): Promise<Origin> {
  let server = createServer(answer)
  const port = await listen(server, await ownPort()) // one that is still free when it comes back
  const leave = async (): Promise<void> => {
    if (!server.listening) return
    const closed = new Promise(resolve => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  const comeBack = async (): Promise<void> => {
    server = createServer(answer)
    await listen(server, port)
  }
  atEnd(leave)
  return { host: LOOPBACK, port, leave, comeBack }
}

export type WatchedTier = Origin & {
  /** What was answered to each request but the probes of Varnish, oldest first: `304 /v1/strategies`. */
  readonly answered: string[]
  /** From now on everything is answered with this status, or, with null, by the tier. */
  readonly failWith: (status: number | null) => void
}

/** A proxy in front of a tier that records every answer, and fails on request. */
export async function watchTier(tier: Address): Promise<WatchedTier> {
  const answered: string[] = []
  let failure: number | null = null
  const origin = await startOrigin((incoming, outgoing) => {
    if (failure !== null) {
      outgoing.writeHead(failure, { 'content-type': 'text/plain' }).end('failed on purpose')
      return
    }
    passOn(tier, incoming, outgoing, status => {
      if (incoming.url !== '/healthz') answered.push(`${status} ${incoming.url}`)
    })
  })
  return {
    ...origin,
    answered,
    failWith: status => {
      failure = status
    },
  }
}

function passOn(
  { host, port }: Address,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  report: (status: number) => void,
): void {
  const { url: path, method, headers } = incoming
  const sent = request({ host, port, path, method, headers, agent: false }, answer => {
    report(answer.statusCode ?? 0)
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
    answer.pipe(outgoing)
  })
  sent.once('error', () => outgoing.destroy())
  incoming.pipe(sent)
}

/** A site for a test: a tier, a store, and a free port for nginx. */
export const siteOf = async (tier: Address, changes: Partial<Site> = {}): Promise<Site> => ({
  ...EXAMPLE_SITE,
  allowedOrigins: [ALLOWED_ORIGIN, ...EXAMPLE_SITE.allowedOrigins], // one of them twice: that must not matter
  tier,
  nginx: { host: LOOPBACK, port: await ownPort() },
  ...changes,
})

/** nginx for a site. */
export const startFiles = async (site: Site): Promise<Layer> =>
  endsLater(await startNginx(await temporaryFolder(), site))

/** Varnish for a site. */
export const startEdge = async (site: Site): Promise<Layer> =>
  endsLater(await startVarnish(await temporaryFolder(), site, await ownPort()))

function endsLater(layer: Layer): Layer {
  atEndOfProcess(layer.stop)
  return layer
}

/** Both layers in front of a tier that serves a store. */
export async function startCdn(tier: Address, storeUrl: string): Promise<{ files: Layer; edge: Layer }> {
  const site = await siteOf(tier, { store: fileURLToPath(storeUrl) })
  return { files: await startFiles(site), edge: await startEdge(site) }
}

/** An answer as it came: nothing decoded. */
export type Got = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** Asks with exactly these headers beside `Host`. */
export async function ask(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method: string = 'GET',
): Promise<Got> {
  const { hostname, port } = new URL(url)
  const path = url.slice(url.indexOf('/', 'http://'.length)) // as it is spelled
  const sent = request({ hostname, port, path, method, headers }).on('error', () => {}) // awaited below
  try {
    sent.end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: answer.statusCode ?? 0, headers: answer.headers, bytes: await buffer(answer) }
  } catch (error) {
    // A server may close a connection that waits for a request, as nginx does when it is reloaded: clients try again.
    if (!sent.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    return ask(url, headers, method)
  }
}

/** Which object of Varnish's cache an answer came out of: the number of the request that brought it in. */
export function objectOf({ headers }: Got): number {
  const [own, object] = String(headers['x-varnish']).split(' ')
  return object === undefined ? Number(own) + 1 : Number(object)
}

/** Takes everything with a tag out of Varnish's cache, or with `soft` makes it stale. */
export const purge = (edge: Layer, tag: string, soft = false): Promise<Got> =>
  ask(`${edge.url}/`, { xkey: tag, ...(soft ? { soft: '1' } : {}) }, 'PURGE')

/** Of the connection or of the moment. */
const ITS_OWN = new Set(['date', 'server', 'connection', 'keep-alive', 'transfer-encoding', 'server-timing'])

/** What two servers answer alike to the same request. */
export const seen = ({ status, headers, bytes }: Got) => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !ITS_OWN.has(name))),
  body: bytes.toString('base64'),
})
