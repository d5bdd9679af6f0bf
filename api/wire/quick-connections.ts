// Connections of clients that ask for what is in memory or soon made. Node's own HTTP costs several times as much as what it
// carries: here a request that came whole and is a plain one is answered with one write, and at anything else the
// connection is handed over to Node, with every byte that was not answered, for the rest of its life.
import type { Socket } from 'node:net'
import type { HttpLimits } from '../http/http-limits.ts'
import { type AtOnce, type AtOnceAnswer, answerOrLeave } from './at-once.ts'
import { createPlainReader, type ReadPlain } from './plain-request.ts'
import { createWholeAnswers, type WholeAnswers } from './whole-answers.ts'

export type QuickConnections = {
  /** Takes a new connection. */
  readonly take: (socket: Socket) => void
  /** Ends every connection that was not handed over, each when its answer has gone out. */
  readonly end: () => void
}

/** Gets a connection as if it were new, with the bytes that wait on it. */
export type HandOver = (socket: Socket, waiting: Buffer) => void

/** What all connections share. */
type Way = {
  readonly atOnce: AtOnce
  readonly limits: HttpLimits
  readonly handOver: HandOver
  readonly read: ReadPlain
  readonly wholeOf: WholeAnswers
  readonly all: Set<Connection>
  isEnding: boolean
}

type Connection = {
  readonly socket: Socket
  /** While an answer is made nothing is read; who has said all is then answered before the connection ends. */
  state: 'resting' | 'answering' | 'answering its last' | 'left'
  /** Stops hearing it. */
  leave: () => void
}

export function createQuickConnections(
  atOnce: AtOnce,
  limits: HttpLimits,
  handOver: HandOver,
): QuickConnections {
  const way: Way = {
    ...{ atOnce, limits, handOver, all: new Set(), isEnding: false },
    ...{ read: createPlainReader(), wholeOf: createWholeAnswers(atOnce.now, limits.keepAliveMs) },
  }
  return {
    take: socket => hear(way, socket),
    end: () => {
      way.isEnding = true
      for (const connection of way.all) if (connection.state === 'resting') finish(connection)
    },
  }
}

/** Hears a connection until it is left. */
function hear(way: Way, socket: Socket): void {
  const { limits, all } = way
  const connection: Connection = { socket, state: 'resting', leave: () => {} }
  const onData = (chunk: Buffer): void => answerTo(way, connection, chunk)
  const onDrain = (): void => {
    if (connection.state === 'resting') goOn(way, connection)
  }
  const onEnd = (): void => {
    if (connection.state === 'resting') socket.end()
    else connection.state = 'answering its last'
  }
  const destroy = (): void => void socket.destroy() // nothing is owed to who is silent, and nothing reaches who is gone
  const forget = (): void => connection.leave()
  connection.leave = () => {
    connection.state = 'left'
    all.delete(connection)
    socket.setTimeout(0)
    socket.off('data', onData).off('drain', onDrain).off('end', onEnd)
    socket.off('timeout', destroy).off('error', destroy).off('close', forget)
  }
  all.add(connection)
  socket.setTimeout(limits.headersMs)
  socket.once('data', () => socket.setTimeout(limits.keepAliveMs)) // from then on it rests between two requests
  socket.on('data', onData).on('drain', onDrain).on('end', onEnd)
  socket.on('timeout', destroy).on('error', destroy).on('close', forget)
}

function answerTo(way: Way, connection: Connection, chunk: Buffer): void {
  const found = answerOrLeave(way.atOnce, way.read(chunk))
  if (!(found instanceof Promise)) return void send(way, connection, found, chunk)
  connection.state = 'answering'
  stop(way, connection)
  found.then(made => send(way, connection, made, chunk)).catch(() => connection.socket.destroy())
}

/** Sends what was found; what was not is Node's. */
function send(way: Way, connection: Connection, found: AtOnceAnswer | null, chunk: Buffer): void {
  const { socket, state } = connection
  if (state === 'left') return // it closed meanwhile
  const isLast = state === 'answering its last'
  if (found === null) {
    connection.leave()
    if (isLast)
      socket.end() // as Node does where a request needs time and its sender has gone silent
    else way.handOver(socket, chunk)
    return
  }
  connection.state = 'resting'
  const takesMore = writeAll(socket, way.wholeOf(found, way.isEnding || isLast), found.release)
  if (way.isEnding || isLast) finish(connection)
  else if (!takesMore) stop(way, connection)
  else if (state === 'answering') goOn(way, connection)
}

/** Who does not read is not listened to, nor who still waits for an answer. */
function stop({ limits }: Way, { socket }: Connection): void {
  socket.pause()
  socket.setTimeout(limits.stalledMs)
}

function goOn({ limits }: Way, { socket }: Connection): void {
  socket.resume()
  socket.setTimeout(limits.keepAliveMs)
}

/** Ends a connection when everything has gone out. */
function finish({ socket, leave }: Connection): void {
  leave()
  socket.on('error', () => socket.destroy())
  socket.resume() // what it still sends came too late, and an end that is not read is never seen
  socket.destroySoon()
}

/** Whether the connection takes more. `release` is called when everything is on its way, and never where that fails. */
function writeAll(socket: Socket, pieces: readonly Uint8Array[], release?: () => void): boolean {
  const onWritten = (error?: Error | null): void => {
    if (!error) release?.()
  }
  const written = release === undefined ? undefined : onWritten
  if (pieces.length === 1) return socket.write(pieces[0]!, written)
  const [head, body] = pieces
  socket.cork()
  socket.write(head!)
  socket.write(body!, written)
  socket.uncork()
  return !socket.writableNeedDrain
}
