import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'

type Connection = {
  readonly answers: Set<ServerResponse>
  /** How many bytes had come when the last answer was out: more of them are the beginning of another request. */
  settledBytes: number
}

/** The connections of a server, and the way to end them all without cutting an answer. */
export type Connections = {
  /**
   * Stops listening. Connections that rest end at once; the others end with the answer that they are in, which says
   * `Connection: close` where its headers are not out yet. What is left after `cutOffMs` is cut off.
   */
  readonly close: (cutOffMs: number) => Promise<void>
}

/**
 * Follows what each connection of a server is doing. Node's own `close` takes an answer for done when its last byte was
 * handed over, and cuts it off on its way to a slow reader; and it takes a connection that never sent a byte, such as a
 * browser opens in advance, for busy.
 */
export function trackConnections(server: Server): Connections {
  const connections = new Map<Socket, Connection>()
  let isClosing = false
  server.on('connection', socket => {
    connections.set(socket, { answers: new Set(), settledBytes: 0 })
    socket.once('close', () => connections.delete(socket))
  })
  const begin = (_request: unknown, response: ServerResponse): void => {
    const { socket } = response
    const connection = socket === null ? undefined : connections.get(socket)
    if (socket === null || connection === undefined) return
    connection.answers.add(response)
    if (isClosing) response.shouldKeepAlive = false
    response.once('close', () => {
      connection.answers.delete(response)
      if (connection.answers.size === 0) connection.settledBytes = socket.bytesRead
      if (isClosing) endResting(socket, connection)
    })
  }
  server.on('request', begin)
  server.on('checkExpectation', begin)
  return {
    close: cutOffMs =>
      new Promise(resolve => {
        isClosing = true
        const cutOff = setTimeout(() => server.closeAllConnections(), cutOffMs)
        NetServer.prototype.close.call(server, () => {
          clearTimeout(cutOff)
          resolve()
        })
        for (const [socket, connection] of connections) {
          for (const answer of connection.answers) answer.shouldKeepAlive = false
          endResting(socket, connection)
        }
      }),
  }
}

/** Ends a connection that is neither answering nor in the middle of a request. */
function endResting(socket: Socket, { answers, settledBytes }: Connection): void {
  if (answers.size === 0 && socket.bytesRead === settledBytes) socket.destroySoon()
}
