// One request on the wire and what comes back. Below `request()` of undici, whose streams and signals cost more than all
// the rest of a delivery.
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { MOST_ANSWER_BYTES } from './policy.ts'

/** How an answer began. */
export type Head = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** When it came, epoch milliseconds. */
  readonly atMs: number
}

export type Received = {
  /** Null where no answer began. */
  readonly head: Head | null
  /** The body, as much of it as is read. */
  readonly bytes: Uint8Array
  /** What ended the answer before its end and before the limit; null where nothing did. */
  readonly error: Error | null
}

export type Exchange = {
  readonly ended: Promise<Received>
  /** Ends it at once with this error, wherever it is. */
  breakOff(error: Error): void
}

/** Starts a request. Past the limit of an answer the connection is cut, and the answer counts as whole. */
export function startExchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  now: () => number,
): Exchange {
  const { promise, resolve } = Promise.withResolvers<Received>()
  const chunks: Uint8Array[] = []
  let size = 0
  let head: Head | null = null
  let controller: Dispatcher.DispatchController | null = null
  let broken: Error | null = null
  const end = (error: Error | null): void =>
    resolve({ head, bytes: Buffer.concat(chunks).subarray(0, MOST_ANSWER_BYTES), error })

  dispatcher.dispatch(request, {
    onRequestStart(given) {
      controller = given
      if (broken !== null) given.abort(broken) // while it waited for its connection
    },
    onResponseStart(_, status, headers) {
      if (status >= 200) head = { status, headers, atMs: now() } // before that come words about the answer
    },
    onResponseData(given, chunk) {
      chunks.push(chunk)
      size += chunk.length
      if (size < MOST_ANSWER_BYTES) return
      end(null)
      given.abort(new Error('the answer is long enough'))
    },
    onResponseEnd: () => end(null),
    onResponseError: (_, error) => end(error),
  })
  return {
    ended: promise,
    breakOff(error) {
      broken = error
      end(error)
      controller?.abort(error)
    },
  }
}
