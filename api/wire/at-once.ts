// What a service can answer without its app, on whichever way the request came.
import type { ServerResponse } from 'node:http'
import type { PlainRequest } from './plain-request.ts'

/** An answer whose bytes are there. */
export type AtOnceAnswer = {
  readonly status: 200 | 304
  /** Names and values in turns. The same list, and not a copy, for the same answer: what is made of it is kept. */
  readonly fields: readonly string[]
  /** Absent in a 304. */
  readonly body: Uint8Array<ArrayBuffer> | null
  /** How long it took until it was there. */
  readonly ms: number
  /** To be called when the body is sent, where nobody else has it. */
  readonly release?: (() => void) | undefined
}

export type AtOnce = {
  /** Null where the app must be asked; a rejection, too, leaves the request to the app. */
  readonly answer: (request: PlainRequest) => AtOnceAnswer | Promise<AtOnceAnswer | null> | null
  /** The time of day, epoch milliseconds: for the header `Date`. */
  readonly now: () => number
}

/** An answer, now or soon; null where the app must be asked, and where this failed: then the app fails, and tells of it. */
export function answerOrLeave(
  { answer }: AtOnce,
  request: PlainRequest | null,
): AtOnceAnswer | Promise<AtOnceAnswer | null> | null {
  if (request === null) return null
  try {
    const found = answer(request)
    return found instanceof Promise ? found.catch(() => null) : found
  } catch {
    return null
  }
}

/** The measured time, as every answer of the app has it. */
export const timing = (ms: number): readonly [string, string] => ['server-timing', `app;dur=${ms}`]

/** Sends an answer on a connection that Node's parser has. */
export function respond(response: ServerResponse, { status, fields, body, ms }: AtOnceAnswer): void {
  response.writeHead(status, [...timing(ms), ...fields])
  if (body === null) response.end()
  else response.end(body)
}
