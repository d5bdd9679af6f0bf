// Status line, headers and body of an answer as one run of bytes: a connection takes one far quicker than two.
import { STATUS_CODES } from 'node:http'
import { type AtOnceAnswer, timing } from './at-once.ts'

/**
 * The pieces of an answer in their order: one, or head and body where joining them costs more than it saves. The last one on
 * its connection says so.
 */
export type WholeAnswers = (answer: AtOnceAnswer, isLast: boolean) => readonly Uint8Array[]

/** Larger bodies are not copied behind their head. */
const LONGEST_JOINED = 64 << 10

/** Memory for answers with their heads. They live for a second, because they name it. */
const KEPT_BYTES = 4 << 20

const SECOND_MS = 1000

/**
 * Makes answers as Node writes them. One that is asked for again within the second is made of the same bytes, its
 * `Server-Timing` included: only the first of them was timed for what it says.
 */
export function createWholeAnswers(now: () => number, keepAliveMs: number): WholeAnswers {
  const kept = new Map<readonly string[], readonly Uint8Array[]>()
  const stays = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / SECOND_MS}\r\n\r\n`
  let keptBytes = 0
  let second = Number.NaN
  let date = ''
  const turnTo = (newSecond: number): void => {
    second = newSecond
    kept.clear()
    keptBytes = 0
    date = `Date: ${new Date(second * SECOND_MS).toUTCString()}\r\n`
  }
  return (answer, isLast) => {
    const current = Math.floor(now() / SECOND_MS)
    if (current !== second) turnTo(current)
    if (isLast) return toPieces(answer, `${date}Connection: close\r\n\r\n`)
    const known = kept.get(answer.fields)
    if (known !== undefined) return known
    const pieces = toPieces(answer, date + stays)
    const size = pieces.length === 1 ? pieces[0]!.length : 0
    const isAskedAgain = answer.release === undefined // what is freed once it is sent is another one each time
    if (isAskedAgain && size > 0 && keptBytes + size <= KEPT_BYTES) {
      kept.set(answer.fields, pieces)
      keptBytes += size
    }
    return pieces
  }
}

function toPieces({ status, fields, body, ms }: AtOnceAnswer, ending: string): readonly Uint8Array[] {
  const all = [...timing(ms), ...fields]
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let i = 0; i < all.length; i += 2) head += `${all[i]}: ${all[i + 1]}\r\n`
  const bytes = Buffer.from(head + ending, 'latin1')
  if (body === null) return [bytes]
  return body.length > LONGEST_JOINED ? [bytes, body] : [Buffer.concat([bytes, body])]
}
