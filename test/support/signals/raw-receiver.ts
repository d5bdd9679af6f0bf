// A receiver of webhooks on loopback that answers with whatever bytes a test wants, or with none.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { atEnd } from '../ends.ts'

const TLS_FOLDER = join(import.meta.dirname, '../../fixtures/tls')

/** A certificate for `receiver.test`, valid for a hundred years, trusted only by clients that are given it. */
export const RECEIVER_CERTIFICATE = readFileSync(join(TLS_FOLDER, 'receiver.crt'), 'utf8')

/** What arrived: the head as text, the body as bytes. */
type RawRequest = { readonly head: string; readonly body: Buffer }

export type RawReceiver = {
  readonly port: number
  /** `http://127.0.0.1:<port>`, or `https://receiver.test:<port>`. */
  readonly origin: string
  /** All whole requests, in their order. */
  readonly requests: readonly RawRequest[]
  /** Connections so far, and those that are open. */
  readonly connections: () => number
  readonly open: () => number
  /** Before the end of the test, which closes it in any case. */
  close(): Promise<void>
}

export type RawAnswer = (socket: Socket, request: RawRequest) => void

export type RawOptions = {
  readonly host?: string
  readonly port?: number
  readonly tls?: boolean
  /** Called when a connection is made, before anything has come over it. */
  readonly onConnection?: (socket: Socket) => void
}

/** Starts one that calls `answer` for every whole request. */
export async function startRawReceiver(answer: RawAnswer, options: RawOptions = {}): Promise<RawReceiver> {
  const { host = '127.0.0.1', port: wanted = 0, tls = false, onConnection = () => {} } = options
  const requests: RawRequest[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const serve = (socket: Socket): void => {
    readRequests(socket, request => {
      requests.push(request)
      answer(socket, request)
    })
  }
  const server = tls ? createTlsServer(tlsOptions(), serve) : createServer(serve)
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {}) // a sender that hangs up is what many tests want
    socket.once('close', () => sockets.delete(socket))
    onConnection(socket)
  })
  await once(server.listen(wanted, host), 'listening')
  const { port } = server.address() as AddressInfo // a server that listens on a port has one
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  }
  atEnd(close)
  return {
    port,
    origin: tls ? `https://receiver.test:${port}` : `http://${host}:${port}`,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    close,
  }
}

/** The bytes of an answer with its length. */
export function rawAnswer(status: number, body = '', headers: readonly string[] = []): string {
  const length = `content-length: ${Buffer.byteLength(body)}`
  return [`HTTP/1.1 ${status} Whatever`, length, ...headers, '', body].join('\r\n')
}

const tlsOptions = () => ({
  cert: RECEIVER_CERTIFICATE,
  key: readFileSync(join(TLS_FOLDER, 'receiver.key'), 'utf8'),
})

function readRequests(socket: Socket, onRequest: (request: RawRequest) => void): void {
  let bytes = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', chunk => {
    bytes = Buffer.concat([bytes, chunk])
    const end = bytes.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = bytes.subarray(0, end).toString('latin1')
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
    if (bytes.length < end + 4 + length) return
    const body = bytes.subarray(end + 4, end + 4 + length)
    bytes = bytes.subarray(end + 4 + length)
    onRequest({ head, body })
  })
}
