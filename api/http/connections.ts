import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'

type Connection = {
  readonly answers: Set<ServerResponse>
  /** How many bytes had come when the last answer was out: more of them are the beginning of another request. */
  settledBytes: number
  /** Came when as many as may be were there. */
  readonly isSurplus: boolean
  /** The request that came last. */
  last: IncomingMessage | null
  /** Ends the connection; set where it can bring no further request. */
  farewell: Farewell | null
}

/** `isAnswered`: what broke off is the body of a request that has its answer. */
type Farewell = (isAnswered: boolean) => void

/** The connections of a server, and the way to end them all without cutting an answer. */
export type Connections = {
  /**
   * Stops listening. Connections that rest end at once; the others end with the answer that they are in, which says
   * `Connection: close` where its headers are not out yet. What is left after `cutOffMs` is cut off.
   */
  readonly close: (cutOffMs: number) => Promise<void>
  /** Says farewell once, when the answers to all that came before are out: none may overtake another. */
  readonly finish: (socket: Socket, farewell: Farewell) => void
  /** Says that all but the last `waiting` bytes that came on a connection have been answered, by whomever. */
  readonly settle: (socket: Socket, waiting: number) => void
  /** Whether more connections than `most` were there when this one came. */
  readonly isSurplus: (socket: Socket) => boolean
}

/**
 * Follows what each connection of a server is doing. Node's own `close` takes an answer for done when its last byte was
 * handed over, and cuts it off on its way to a slow reader; and it takes a connection that never sent a byte, such as a
 * browser opens in advance, for busy.
 */
export function trackConnections(server: Server, most: number): Connections {
  const connections = new Map<Socket, Connection>()
  let isClosing = false
  server.on('connection', socket => {
    const isSurplus = connections.size >= most
    connections.set(socket, { answers: new Set(), settledBytes: 0, isSurplus, last: null, farewell: null })
    socket.once('close', () => connections.delete(socket))
  })
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request // an answer that waits for its turn has none yet
    const connection = connections.get(socket)
    if (connection === undefined) return
    connection.answers.add(response)
    connection.last = request
    if (isClosing) response.shouldKeepAlive = false
    response.once('close', () => {
      connection.answers.delete(response)
      if (connection.answers.size === 0) connection.settledBytes = socket.bytesRead
      if (connection.farewell !== null) sayFarewell(connection)
      else if (isClosing) endResting(socket, connection)
    })
  }
  for (const event of ['request', 'checkExpectation', 'checkContinue']) server.on(event, begin)
  return {
    close: cutOffMs =>
      new Promise(resolve => {
        isClosing = true
        const cutOff = setTimeout(() => {
          for (const socket of connections.keys()) socket.destroy()
        }, cutOffMs)
        NetServer.prototype.close.call(server, () => {
          clearTimeout(cutOff)
          resolve()
        })
        for (const [socket, connection] of connections) {
          const newest = [...connection.answers].at(-1) // whoever says it earlier takes the place of the rest
          if (newest !== undefined) newest.shouldKeepAlive = false
          endResting(socket, connection)
        }
      }),
    finish: (socket, farewell) => {
      const connection = connections.get(socket)
      if (connection === undefined || connection.farewell !== null) return // whatever else it sends is no news
      connection.farewell = farewell
      sayFarewell(connection)
    },
    settle: (socket, waiting) => {
      const connection = connections.get(socket)
      if (connection !== undefined) connection.settledBytes = socket.bytesRead - waiting
    },
    isSurplus: socket => connections.get(socket)?.isSurplus ?? false,
  }
}

/** An answer whose request broke off, and which has not begun, is never made: the farewell stands in its place. */
function sayFarewell(connection: Connection): void {
  const { answers, last, farewell } = connection
  for (const answer of answers) if (answer.req.complete || answer.headersSent) return
  connection.farewell = () => {} // once
  farewell?.(answers.size === 0 && last !== null && !last.complete)
}

/** Ends a connection that is neither answering nor in the middle of a request. */
function endResting(socket: Socket, { answers, settledBytes }: Connection): void {
  if (answers.size === 0 && socket.bytesRead === settledBytes) socket.destroySoon()
}
