// HTTP by hand: bytes that no well-behaved client sends, and requests that stand still half-way.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

export type RawAnswer = {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** All of it, as it came. */
  readonly text: string
}

export type OpenExchange = {
  readonly send: (text: string) => void
  /** Closes the sending side. */
  readonly end: () => void
  /** The answer, once the server has closed the connection. */
  readonly answer: Promise<RawAnswer>
}

export const HOST = 'Host: localhost'

/** A request with a line and headers, after which the connection ends. */
export const requestOf = (line: string, ...headers: readonly string[]): string =>
  [line, ...headers, 'Connection: close', '', ''].join('\r\n')

/** A server that neither answers nor closes has hung. */
const SILENT_MS = 60_000

/** Connects to `url` and resolves when the first bytes are on their way. */
export async function openExchange(url: string, firstBytes: string): Promise<OpenExchange> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setEncoding('latin1')
  socket.setTimeout(SILENT_MS, () => socket.destroy(new Error('the server is silent')))
  await once(socket, 'connect')
  const answer = text(socket).then(parseAnswer)
  answer.catch(() => {}) // it may fail before anybody waits for it
  await new Promise(resolve => socket.write(firstBytes, 'latin1', resolve)) // a packet of their own
  return {
    send: more => void socket.write(more, 'latin1'),
    end: () => void socket.end(),
    answer,
  }
}

function parseAnswer(received: string): RawAnswer {
  const end = received.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n')
  const headers = new Map(
    lines.map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  return { status: Number(statusLine.split(' ')[1]), headers, body: received.slice(end + 4), text: received }
}
