// Connections of clients that ask for what is in memory. Node's own HTTP costs several times as much as what it carries:
// here a request that came whole and is a plain one is answered with one write, and at anything else the connection is
// handed over to Node, with every byte that was not answered, for the rest of its life.
import type { Socket } from 'node:net'
import type { HttpLimits } from '../http-limits.ts'
import type { AtOnce } from './at-once.ts'
import { createPlainReader } from './plain-request.ts'
import { createWholeAnswers } from './whole-answers.ts'

export type QuickConnections = {
  /** Takes a new connection. */
  readonly take: (socket: Socket) => void
  /** Ends every connection that was not handed over, each when what was written has gone out. */
  readonly end: () => void
}

/** Gets a connection as if it were new, with the bytes that wait on it. */
export type HandOver = (socket: Socket, waiting: Buffer) => void

/** What one connection does; `leave` takes it all back. */
type Followed = { readonly leave: () => void }

export function createQuickConnections(
  { answer, now }: AtOnce,
  limits: HttpLimits,
  handOver: HandOver,
): QuickConnections {
  const all = new Map<Socket, Followed>()
  const read = createPlainReader()
  const wholeOf = createWholeAnswers(now, limits.keepAliveMs)
  /** The pieces of the answer to what came, where it is one that can be given at once. */
  const answerTo = (chunk: Buffer): readonly Uint8Array[] | null => {
    const request = read(chunk)
    const found = request === null ? null : answer(request)
    return found === null ? null : wholeOf(found)
  }
  const take = (socket: Socket): void => {
    const leave = follow(socket, limits, chunk => {
      const pieces = answerTo(chunk)
      if (pieces !== null) return writeAll(socket, pieces)
      forget()
      handOver(socket, chunk)
      return true
    })
    const forget = (): void => {
      leave()
      all.delete(socket)
    }
    all.set(socket, { leave })
    socket.once('close', () => all.delete(socket))
  }
  const end = (): void => {
    for (const [socket, { leave }] of all) {
      leave()
      socket.on('error', () => socket.destroy())
      socket.resume() // what it still sends came too late, and an end that is not read is never seen
      socket.destroySoon()
    }
  }
  return { take, end }
}

/** Hears a connection until it is left. `onData` says whether the connection takes more. */
function follow(socket: Socket, limits: HttpLimits, onData: (chunk: Buffer) => boolean): () => void {
  const hear = (chunk: Buffer): void => {
    if (onData(chunk)) return
    socket.pause() // who does not read is not listened to
    socket.setTimeout(limits.stalledMs)
  }
  const goOn = (): void => {
    socket.resume()
    socket.setTimeout(limits.keepAliveMs)
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

/** Whether the connection takes more. */
function writeAll(socket: Socket, pieces: readonly Uint8Array[]): boolean {
  if (pieces.length === 1) return socket.write(pieces[0]!)
  socket.cork()
  for (const piece of pieces) socket.write(piece)
  socket.uncork()
  return !socket.writableNeedDrain
}
