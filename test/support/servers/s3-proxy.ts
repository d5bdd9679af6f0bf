// A service on a bad day: a proxy in front of the real one that does to requests what networks and machines do.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenForTest } from '../http/listen-for-test.ts'
import { s3Server } from '../stores/s3-stores.ts'
import { damage } from '../stores/store-doubles.ts'
import type { ServerAccess } from './s3-server.ts'

/** What happens to a request. */
export type Fault =
  /** The service does its work, and the connection ends before its answer. */
  | 'answer lost'
  /** The service answers 500 and does nothing. */
  | 'error 500'
  /** Nobody answers. */
  | 'silence'
  /** The connection ends in the middle of the body. */
  | 'body cut'
  /** The second half of the body never comes, and the connection stays. */
  | 'body stalled'
  /** A whole answer, of half the bytes. */
  | 'body truncated'
  /** A whole answer with one bit turned over. */
  | 'body altered'

/** A request as a rule sees it: the path begins with the bucket. */
export type Asked = { readonly method: string; readonly path: string }

/** What happens to a request; null where nothing does. */
export type Rule = (asked: Asked) => Fault | null

export type S3Proxy = {
  /** The service through the proxy. */
  readonly access: ServerAccess
  /** From now on. */
  readonly meddle: (rule: Rule) => void
  /** The requests since the last `meddle`, in the order in which they came. */
  readonly asked: () => readonly Asked[]
  /** Resolves when the service has answered everything that came, also what no client waits for. */
  readonly settled: () => Promise<void>
}

/** Starts a proxy that meddles with nothing yet, and ends with the test. */
export async function startS3Proxy(): Promise<S3Proxy> {
  let rule: Rule = () => null
  let asked: Asked[] = []
  const passing = new Set<Promise<void>>()
  const take = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url = '' } = incoming
    const each = { method, path: new URL(url, 'http://proxy').pathname }
    const sent = await buffer(incoming) // a request has come when the last of it has
    asked.push(each)
    await pass(rule(each), incoming, sent, outgoing)
  }
  const server = createServer((incoming, outgoing) => {
    // A client that gave up has ended its connection: there is no one to answer.
    const passed = take(incoming, outgoing).catch(() => void outgoing.destroy())
    passing.add(passed)
    passed.finally(() => passing.delete(passed))
  })
  const access = await s3Server()
  const endpoint = await listenForTest(server)
  return {
    access: { ...access, endpoint },
    meddle: next => {
      rule = next
      asked = []
    },
    asked: () => asked,
    settled: async () => {
      while (passing.size > 0) await Promise.all(passing)
    },
  }
}

/** The first `count` requests that a rule concerns, and none after them. */
export function atFirst(count: number, rule: Rule): Rule {
  let left = count
  return asked => {
    const fault = left > 0 ? rule(asked) : null
    if (fault !== null) left--
    return fault
  }
}

async function pass(fault: Fault | null, incoming: IncomingMessage, sent: Buffer, outgoing: ServerResponse) {
  if (fault === 'silence') return
  if (fault === 'error 500') {
    outgoing.writeHead(500, { 'content-type': 'application/xml' })
    outgoing.end('<Error><Code>InternalError</Code><Message>a bad day</Message></Error>')
    return
  }
  const { answer, body } = await forward(incoming, sent)
  if (fault === 'answer lost') {
    outgoing.destroy()
    return
  }
  deliver(fault, answer, body, outgoing)
}

/** The headers go as they came, because they are signed, the host among them. */
async function forward(
  incoming: IncomingMessage,
  sent: Buffer,
): Promise<{ answer: IncomingMessage; body: Buffer }> {
  const { method, url: path, rawHeaders: headers } = incoming
  const { hostname, port } = new URL((await s3Server()).endpoint)
  return new Promise((resolve, reject) => {
    const outward = request({ hostname, port, method, path, headers, setHost: false }, answer => {
      buffer(answer).then(body => resolve({ answer, body }), reject)
    })
    outward.once('error', reject)
    outward.end(sent)
  })
}

function deliver(fault: Fault | null, answer: IncomingMessage, body: Buffer, outgoing: ServerResponse): void {
  const half = body.subarray(0, body.length >> 1)
  const { 'transfer-encoding': _chunked, ...headers } = answer.headers
  const withLength = (length: number) => ({ ...headers, 'content-length': length })
  const status = answer.statusCode ?? 502
  switch (fault) {
    case 'body cut':
      outgoing.writeHead(status, withLength(body.length))
      outgoing.write(half, () => outgoing.destroy())
      break
    case 'body stalled':
      outgoing.writeHead(status, withLength(body.length))
      outgoing.write(half)
      break
    case 'body truncated':
      outgoing.writeHead(status, withLength(half.length)).end(half)
      break
    case 'body altered':
      outgoing.writeHead(status, withLength(body.length)).end(damage(body))
      break
    default:
      // An answer without a body (to HEAD, 204, 304) has the length of another, or none.
      outgoing.writeHead(status, body.length > 0 ? withLength(body.length) : headers).end(body)
  }
}
