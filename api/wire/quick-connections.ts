// Connections of clients that ask for what is in memory or soon made. Node's own HTTP costs several times as much as what it
// carries: here a request that came whole and is a plain one is answered with one write, and at anything else the
// connection is handed over to Node, with every byte that was not answered, for the rest of its life.
import type { Socket } from 'node:net'
import type { HttpLimits } from '../http-limits.ts'
import type { AtOnce, AtOnceAnswer } from './at-once.ts'
import { createPlainReader } from './plain-request.ts'
import { createWholeAnswers } from './whole-answers.ts'

export type QuickConnections = {
  /** Takes a new connection. */
  readonly take: (socket: Socket) => void
  /** Ends every connection that was not handed over, each when its answer has gone out. */
  readonly end: () => void
}

/** Gets a connection as if it were new, with the bytes that wait on it. */
export type HandOver = (socket: Socket, waiting: Buffer) => void

/** A connection that is on this way. */
type Followed = {
  /** Stops hearing it. */
  readonly leave: () => void
  /** Whether an answer is being made. */
  isAnswering: boolean
}

export function createQuickConnections(
  { answer, now }: AtOnce,
  limits: HttpLimits,
  handOver: HandOver,
): QuickConnections {
  const all = new Map<Socket, Followed>()
  const read = createPlainReader()
  const wholeOf = createWholeAnswers(now, limits.keepAliveMs)
  let isEnding = false

  const take = (socket: Socket): void => {
    const send = (found: AtOnceAnswer | null, chunk: Buffer): boolean => {
      if (found !== null) return writeAll(socket, wholeOf(found), found.release)
      followed.leave()
      all.delete(socket)
      handOver(socket, chunk)
      return true
    }
    const onData = (chunk: Buffer): boolean | Promise<boolean> => {
      const request = read(chunk)
      const found = request === null ? null : answer(request)
      if (!(found instanceof Promise)) return send(found, chunk)
      followed.isAnswering = true
      return found
        .catch(() => null)
        .then(made => {
          followed.isAnswering = false
          if (socket.destroyed) return false
          const takesMore = send(made, chunk)
          if (isEnding && all.has(socket)) endOne(socket, followed)
          return takesMore && all.has(socket)
        })
    }
    const followed: Followed = { leave: follow(socket, limits, onData), isAnswering: false }
    all.set(socket, followed)
    socket.once('close', () => all.delete(socket))
  }

  const endOne = (socket: Socket, { leave }: Followed): void => {
    leave()
    all.delete(socket)
    socket.on('error', () => socket.destroy())
    socket.resume() // what it still sends came too late, and an end that is not read is never seen
    socket.destroySoon()
  }
  const end = (): void => {
    isEnding = true
    for (const [socket, followed] of all) if (!followed.isAnswering) endOne(socket, followed)
  }
  return { take, end }
}

/** Hears a connection until it is left. `onData` says, at once or later, whether the connection takes more. */
function follow(
  socket: Socket,
  limits: HttpLimits,
  onData: (chunk: Buffer) => boolean | Promise<boolean>,
): () => void {
  const goOn = (): void => {
    socket.resume()
    socket.setTimeout(limits.keepAliveMs)
  }
  const hear = (chunk: Buffer): void => {
    const takesMore = onData(chunk)
    if (takesMore === true) return
    socket.pause() // who does not read is not listened to, nor who still waits for an answer
    socket.setTimeout(limits.stalledMs)
    if (takesMore instanceof Promise) void takesMore.then(isTrue => isTrue && goOn())
  }
  const end = (): void => void socket.end()
  const destroy = (): void => void socket.destroy() // nothing is owed to who is silent, and nothing reaches who is gone
  socket.setTimeout(limits.headersMs)
  socket.once('data', () => socket.setTimeout(limits.keepAliveMs)) // from then on it rests between two requests
  socket.on('data', hear).on('drain', goOn).on('end', end).on('timeout', destroy).on('error', destroy)
  return () => {
    socket.setTimeout(0)
    socket.off('data', hear).off('drain', goOn).off('end', end).off('timeout', destroy).off('error', destroy)
  }
}

/** Whether the connection takes more. `release` is called when everything is on its way, and never where that fails. */
function writeAll(socket: Socket, pieces: readonly Uint8Array[], release?: () => void): boolean {
  const written = release && ((error?: Error | null): void => void (error || release()))
  if (pieces.length === 1) return socket.write(pieces[0]!, written)
  socket.cork()
  for (const [i, piece] of pieces.entries())
    socket.write(piece, i === pieces.length - 1 ? written : undefined)
  socket.uncork()
  return !socket.writableNeedDrain
}
