// A server of a test, and connections to it on which anything may be written.
import { connect, type Socket } from 'node:net'
import {
  type Fetch,
  HTTP_LIMITS,
  type HttpLimits,
  type RunningServer,
  startServer,
} from '#api/service/http-server.ts'
import { ERROR_ENVELOPE } from '../../api/history/specification.ts'
import { atEnd } from '../ends.ts'

/** A server for these answers, closed when the test ends. */
export async function start(fetch: Fetch, changes: Partial<HttpLimits> = {}): Promise<RunningServer> {
  const server = await startServer(() => fetch, '127.0.0.1', 0, { ...HTTP_LIMITS, ...changes })
  atEnd(() => server.close())
  return server
}

/** A connection to it, on which these bytes are sent. */
export function open({ url }: RunningServer, bytes = ''): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  atEnd(() => {
    socket.destroy()
  })
  socket.write(bytes)
  return socket
}

export const GET = 'GET / HTTP/1.1\r\nHost: a\r\n'
export const REQUEST = `${GET}\r\n`
export const CLOSING = `${GET}Connection: close\r\n\r\n`

/** Answers its path, after a turn of the event loop or two. */
export const tellPath: Fetch = async ({ url }) => {
  await new Promise(resolve => setTimeout(resolve, 5))
  return new Response(new URL(url).pathname.padEnd(40_000))
}

/** The statuses of a row of answers. */
export const statusesIn = (answers: string): string[] =>
  answers.match(/HTTP\/1\.1 \d+/g)?.map(line => line.slice(9)) ?? []

/** The error in the last of a row of answers. */
export const errorIn = (answers: string) =>
  ERROR_ENVELOPE.parse(JSON.parse(answers.slice(answers.lastIndexOf('\r\n\r\n') + 4))).error
