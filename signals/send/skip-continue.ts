// Leaves `100 Continue` out of what a socket reads. Some servers send it unasked before the answer; a client must
// ignore it (RFC 9110, 15.2), but undici takes it for an error and ends the connection.
import type { Socket } from 'node:net'
import { MOST_HEADER_BYTES } from './policy.ts'

const START = 'HTTP/1.1 100 '

/** Where the status is, and the first digit of `100 Continue`: most answers are decided by it. */
const STATUS_AT = START.indexOf('100')
const CLASS_1 = '1'.charCodeAt(0)

/** The reason may be missing, with the blank before it. */
const CONTINUE = /^HTTP\/1\.1 100[ \r]/

/** Returns the socket. An answer begins with the first byte after a request, because requests are not pipelined. */
export function skipContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket)
  let held: Buffer = Buffer.alloc(0)
  /** How much was written when the answer that is being read began. */
  let begunAt = -1
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk: Buffer | null = read(size)
      if (chunk === null || socket.bytesWritten === begunAt) return chunk
      if (held.length === 0 && chunk.length > START.length && chunk[STATUS_AT] !== CLASS_1) {
        begunAt = socket.bytesWritten
        return chunk
      }
      held = afterContinue(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
      if (isUndecided(held)) continue
      begunAt = socket.bytesWritten
      const begin = held
      held = Buffer.alloc(0)
      return begin
    }
  }
  return socket
}

function afterContinue(bytes: Buffer): Buffer {
  let rest = bytes
  while (isContinue(rest)) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return rest
    rest = rest.subarray(end + 4)
  }
  return rest
}

/** Whether more bytes are needed. A head that is too long is passed on, and refused as such. */
const isUndecided = (bytes: Buffer): boolean =>
  START.startsWith(startOf(bytes)) || (isContinue(bytes) && bytes.length < MOST_HEADER_BYTES)

const isContinue = (bytes: Buffer): boolean => CONTINUE.test(startOf(bytes))

const startOf = (bytes: Buffer): string => bytes.toString('latin1', 0, START.length)
